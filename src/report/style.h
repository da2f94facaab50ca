/* style.h - how a report may look where it goes: colours, width, alphabet.
 *
 * A report never asks the terminal anything itself: it gets a struct style,
 * made once for the stream it writes to, or by hand in a test.
 *
 * Colours are the sixteen of the terminal's own theme, so that a report reads
 * on dark and light ground alike.  Without colours nothing is written but
 * text: no escape sequence ever reaches a pipe unless asked for. */
#ifndef HEATLINE_REPORT_STYLE_H
#define HEATLINE_REPORT_STYLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum style_color {
	STYLE_COLOR_AUTO, /* on a terminal, unless NO_COLOR is set or TERM is dumb */
	STYLE_COLOR_ALWAYS,
	STYLE_COLOR_NEVER,
};

struct style {
	bool has_color;
	bool has_utf8;      /* else reports keep to ASCII */
	bool is_terminal;
	bool is_cut;        /* lines are cut to the width: on a terminal, or where COLUMNS is set */
	uint32_t columns;   /* width to lay out for; at least STYLE_MIN_COLUMNS */
	uint32_t rows;      /* height; 0 when not a terminal */
	const char *folder; /* paths below it are shown relative to it; borrowed; or NULL */
};

#define STYLE_MIN_COLUMNS 20
#define STYLE_PIPE_COLUMNS 120 /* layout where there is no terminal; lines are not cut */

/* What a piece of text is; each has its colour. */
enum paint {
	PAINT_NONE,
	PAINT_DIM,
	PAINT_STRONG,
	PAINT_WARNING,
	PAINT_HOT,
	PAINT_HOTTEST,
	/* where the time went, in the order of the bars */
	PAINT_PYTHON,
	PAINT_NATIVE,
	PAINT_SYSTEM,
	PAINT_WAIT,
	PAINT_MEMORY,
	PAINT_COPY,
	/* Python source */
	PAINT_KEYWORD,
	PAINT_STRING,
	PAINT_COMMENT,
	PAINT_NUMBER,
	PAINT_DECORATOR,
	PAINT_NAME, /* of what a def or class defines */
	PAINT_COUNT
};

/* Fills `style` for the file descriptor that the report goes to.  Sets the
 * process's LC_CTYPE from the environment (C.UTF-8 when that names none), as
 * the width of characters depends on it. */
void style_init(struct style *style, int fd, enum style_color color);

/* "auto", "always" or "never"; anything else returns -1 and leaves `color`. */
int style_parse_color(const char *text, enum style_color *color);

/* What follows is written in this paint; PAINT_NONE ends it. */
void style_put(FILE *out, const struct style *style, enum paint paint);

/* The same, underlined as well. */
void style_put_underlined(FILE *out, const struct style *style, enum paint paint);

/* `text` as given, in this paint; for the report's own words only. */
void style_print(FILE *out, const struct style *style, enum paint paint, const char *text);

#endif
