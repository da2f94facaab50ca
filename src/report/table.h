/* table.h - the table of a text report: figures at the left, source at the right.
 *
 * Which columns there are depends on the width: the source keeps enough room
 * to be read, and the less important figures give way first (the bar, the
 * seconds, inclusive time, waiting, at last the split by kind).  Time spent
 * waiting is counted as system where it has no column of its own.
 * Text to the right of the figures is the caller's. */
#ifndef HEATLINE_REPORT_TABLE_H
#define HEATLINE_REPORT_TABLE_H

#include "profile/model.h"
#include "report/style.h"

enum column {
	COLUMN_LINE,
	COLUMN_TIME,  /* self, all kinds: the unit that the other columns do not have */
	COLUMN_TOTAL, /* self, all kinds, as a share: stands for the split where it has no room */
	COLUMN_PYTHON,
	COLUMN_NATIVE,
	COLUMN_SYSTEM,
	COLUMN_WAIT,
	COLUMN_INCLUSIVE,
	COLUMN_BAR,
	COLUMN_COUNT
};

/* What the table will hold, as far as its layout depends on it. */
struct table_needs {
	uint32_t last_line; /* the greatest line number */
	bool has_wait, has_inclusive;
	bool in_seconds;    /* figures in seconds instead of percent */
	double total_s;     /* what a hundred percent are */
	double hottest_s;   /* what fills a bar */
};

struct table {
	const struct style *style; /* borrowed */
	struct table_needs needs;
	uint32_t width[COLUMN_COUNT]; /* cells with the gap before it; 0: not shown */
	uint32_t source_cells;        /* room for the text of a row */
	bool has_rough;               /* a row was marked for its few samples */
};

/* One line of source or one function. */
struct table_row {
	uint32_t line;              /* 0: none */
	const struct metrics *self; /* NULL: nothing was measured here */
	double inclusive_s;
};

void table_init(struct table *table, const struct style *style, const struct table_needs *needs);

/* The names of the columns, and a rule below. */
void table_put_head(FILE *out, const struct table *table);

/* A rule between parts of the table, or at its end. */
void table_put_rule(FILE *out, const struct table *table, bool is_last);

/* Line number, figures and the line before the source, where the caller goes on
 * with a space and at most source_cells of text. */
void table_put_figures(FILE *out, struct table *table, const struct table_row *row);

/* The row that stands for lines left out. */
void table_put_gap(FILE *out, const struct table *table);

/* Whether a time reaches the one percent from which it is shown. */
bool table_is_shown(const struct table *table, double seconds);

#endif
