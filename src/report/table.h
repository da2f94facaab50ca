/* table.h - the table of a text report: figures at the left, source at the right.
 *
 * Which columns there are depends on the width (columns.h).  Time spent waiting
 * is counted as system where it has no column of its own.
 * Text to the right of the figures is the caller's. */
#ifndef HEATLINE_REPORT_TABLE_H
#define HEATLINE_REPORT_TABLE_H

#include "profile/model.h"
#include "report/columns.h"
#include "report/style.h"
#include "report/worth.h"

/* What the table will hold, as far as its looks depend on it. */
struct table_needs {
	struct column_needs columns;
	double total_s;   /* what a hundred percent are */
	double shown_percent; /* of it, from which on a time is shown */
	double hottest_s; /* what fills a bar */
	double await_s;   /* waiting of all tasks */
	double gpu_s;     /* all GPU time */
	struct worth_scale memory;
};

struct table {
	const struct style *style; /* borrowed */
	struct table_needs needs;
	struct columns columns;
	uint32_t source_cells; /* room for the text of a row */
	bool has_rough;        /* a row was marked for its few samples */
};

/* One line of source or one function. */
struct table_row {
	uint32_t line;              /* 0: none */
	const struct metrics *self; /* NULL: nothing was measured here */
	double inclusive_s;
	double await_s; /* of tasks */
	const struct memory *memory;       /* NULL as self */
	const struct memory_point *points; /* live bytes over time; NULL: not known */
	uint32_t point_count;
};

void table_init(struct table *table, const struct style *style, const struct table_needs *needs);

/* The names of the columns, and a rule below; above, where there is memory,
 * what they are about. */
void table_put_head(FILE *out, const struct table *table);

/* A rule between parts of the table, or at its end. */
void table_put_rule(FILE *out, const struct table *table, bool is_last);

/* Line number, figures and the line before the source, where the caller goes on
 * with a space and at most source_cells of text. */
void table_put_figures(FILE *out, struct table *table, const struct table_row *row);

/* The row that stands for lines left out. */
void table_put_gap(FILE *out, const struct table *table);

/* Whether a time reaches the percent from which it is shown. */
bool table_is_shown(const struct table_needs *needs, double seconds);

#endif
