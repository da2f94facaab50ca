/* highlight.h - the colours of Python source, a line at a time.
 *
 * A highlighter reads the lines of a file from first to last, because a
 * triple-quoted string may have begun above.  It looks at characters only,
 * never at a grammar, so source that does not parse, is of another version or
 * no Python at all gets some colours and nothing worse: it writes one paint
 * for each byte, in time linear in the bytes. */
#ifndef HEATLINE_REPORT_HIGHLIGHT_H
#define HEATLINE_REPORT_HIGHLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HIGHLIGHT_DEPTH 8 /* strings in fields of strings; deeper ones stay plain */

/* What encloses the place where the reading stands, besides plain code. */
struct highlight_level {
	enum {
		HIGHLIGHT_STRING,
		HIGHLIGHT_FIELD,  /* the code in f"{code}" */
		HIGHLIGHT_FORMAT, /* what follows its colon */
	} kind;
	char quote;        /* of a string */
	bool is_triple;
	bool is_formatted; /* has fields: f"", t"" */
	bool is_raw;
	uint32_t brackets; /* open in a field */
};

/* The caller's storage; plain values, needs no release. */
struct highlight {
	struct highlight_level levels[HIGHLIGHT_DEPTH];
	uint32_t depth; /* at most HIGHLIGHT_DEPTH */
};

void highlight_begin(struct highlight *state);

/* Writes an enum paint for each byte of the line (without its end) to
 * `paints`, which has room for `size`. */
void highlight_line(struct highlight *state, const char *line, size_t size, uint8_t *paints);

#endif
