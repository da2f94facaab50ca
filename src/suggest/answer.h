/* answer.h - what a model answered, taken apart.
 *
 * Asked for (prompt.c) are five headings: DIAGNOSIS, DIFF (a fenced block), GAIN, RISKS,
 * TEST.  Models vary them: Markdown headings, bold words, other cases, a diff without
 * a fence or in one without a name, words before and after.  Whatever is recognised is
 * given; the rest is left empty.  A JSON object with those keys is understood too. */
#ifndef HEATLINE_SUGGEST_ANSWER_H
#define HEATLINE_SUGGEST_ANSWER_H

#include <stddef.h>
#include <stdio.h>

/* X(name): the parts, by their names in JSON. */
#define ANSWER_LIST(X) \
	X(diagnosis)   \
	X(diff)        \
	X(gain)        \
	X(risks)       \
	X(test)

/* All owned, terminated, and "" when missing. */
struct answer {
#define X(name) char *name;
	ANSWER_LIST(X)
#undef X
};

void answer_parse(struct answer *answer, const char *text, size_t size);
void answer_fini(struct answer *answer);

/* As JSON, with a note unless it is NULL: {"diagnosis", "diff", …, "note"}. */
void answer_write_json(const struct answer *answer, const char *note, FILE *stream);

#endif
