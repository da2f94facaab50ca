/* top_table.h - the rows of `heatline top`: what is hot so far, as lines,
 * functions or threads. */
#ifndef HEATLINE_CLI_TOP_TABLE_H
#define HEATLINE_CLI_TOP_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "collect/attach.h"
#include "profile/model.h"
#include "report/style.h"

enum top_view { TOP_LINES, TOP_FUNCTIONS, TOP_THREADS };
enum top_sort { TOP_BY_OWN, TOP_BY_TOTAL, TOP_BY_NAME, TOP_SORTS };

/* One row; pointers lead into the profile. */
struct top_row {
	const struct profile_file *file; /* NULL: a thread */
	const char *name;                /* of the function or thread; NULL: a line */
	uint32_t line;
	double own_s, total_s; /* of a thread: on a CPU, and in all */
	double gil_s;          /* waiting for the GIL */
};

struct top_table {
	struct top_row *rows; /* owned */
	uint32_t count, room;
	double whole_s;       /* what percentages are of */
};

/* Makes the rows anew; those whose text has no `filter` in it are left out
 * (NULL or "": none). */
void top_table_make(struct top_table *table, const struct profile *profile, enum top_view view,
		    enum top_sort sort, const char *filter);
void top_table_fini(struct top_table *table);

/* One row as text of at most style->columns cells, made safe, without a
 * newline. */
void top_row_put(FILE *out, const struct style *style, const struct top_table *table,
		 const struct top_row *row);

/* The two lines above the rows: the process, and its figures. */
void top_heading_put(FILE *out, const struct style *style, pid_t pid, const struct attach_figures *figures);
void top_figures_put(FILE *out, const struct attach_figures *figures);

/* The names of the columns. */
const char *top_columns(enum top_view view);

/* Everything as JSON, for scripts. */
void top_put_json(FILE *out, const struct profile *profile, pid_t pid, const struct attach_figures *figures);

#endif
