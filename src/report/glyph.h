/* glyph.h - text from outside, made safe and measured for the terminal.
 *
 * Source lines, file names and function names come from the profiled program
 * and may hold anything: bytes that are no UTF-8, escape sequences that would
 * repaint the screen or type commands, characters that turn the direction of
 * writing.  Whatever a report prints of them goes through here.  Rule: only
 * characters that the terminal shows, and nothing that it obeys, come out;
 * all others are written as Python would escape them (\x1b, \u202e).
 *
 * Widths are in terminal cells (wcwidth: 2 for wide characters, 0 for
 * combining ones) and need style_init's LC_CTYPE. */
#ifndef HEATLINE_REPORT_GLYPH_H
#define HEATLINE_REPORT_GLYPH_H

#include "report/style.h"

#include <stddef.h>

#define GLYPH_TAB 4 /* a tab goes to the next multiple of so many cells */

#define GLYPH_ANY_WIDTH (UINT32_MAX - 1) /* a limit that cuts nothing */

/* One character as it will be printed. */
struct glyph {
	char text[12];       /* UTF-8, not terminated */
	uint8_t text_size;   /* bytes of it */
	uint8_t width;       /* cells */
	uint8_t input_size;  /* bytes of input that it stands for; at least 1 */
	bool is_combining;   /* joins the character before it */
};

/* Reads the first character of `text`, size > 0.  `cell` is where it will
 * stand (for tabs).  Without has_utf8 all that is not ASCII is escaped. */
void glyph_read(const char *text, size_t size, uint32_t cell, bool has_utf8, struct glyph *out);

/* Cells that the whole text takes, counted up to `limit` + 1. */
uint32_t glyph_width(const char *text, size_t size, bool has_utf8, uint32_t limit);

/* Writes the text in at most `limit` cells, the end cut with an ellipsis
 * where it does not fit.  Returns the cells used. */
uint32_t glyph_put(FILE *out, const struct style *style, const char *text, size_t size,
		   uint32_t limit);

/* The same with a colour for each byte of the text (enum paint; NULL: none),
 * the bytes from underline_start to underline_end underlined. */
uint32_t glyph_put_painted(FILE *out, const struct style *style, const char *text, size_t size,
			   uint32_t limit, const uint8_t *paints, size_t underline_start,
			   size_t underline_end);

/* As glyph_put for a string, the beginning cut: of a path the end says most. */
uint32_t glyph_put_tail(FILE *out, const struct style *style, const char *text, uint32_t limit);

/* The path as it is shown: relative to style->folder when it lies below it.
 * Points into `path`. */
const char *glyph_short_path(const struct style *style, const char *path);

/* The text without the white space around it. */
void glyph_trim(const char **text, size_t *size);

/* Words from `text` in lines of style->columns, each after `indent` spaces; the
 * first begins where the caller stands, at that indent already.  Ends the
 * last line. */
void glyph_put_wrapped(FILE *out, const struct style *style, const char *text, uint32_t indent);

/* "…", or "." where the terminal has no UTF-8; always one cell. */
const char *glyph_ellipsis(const struct style *style);

#endif
