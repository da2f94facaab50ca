/* functions.c - the functions of a file, below its lines. */
#include "report/functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/figure.h"
#include "report/glyph.h"

#define HEADING "function"
#define MIN_NAME_CELLS 12
#define MAX_NAME_CELLS 60
#define TIME_CELLS 8

static int by_self_time(const void *a, const void *b)
{
	const struct profile_function *const *left = a, *const *right = b;
	double left_s = figure_total(&(*left)->self), right_s = figure_total(&(*right)->self);

	if (left_s != right_s)
		return left_s < right_s ? 1 : -1;
	if ((*left)->inclusive_s != (*right)->inclusive_s)
		return (*left)->inclusive_s < (*right)->inclusive_s ? 1 : -1;
	return (*left)->first_line < (*right)->first_line ? -1 : 1;
}

/* The functions worth a row, hottest first, in `shown`; how many. */
static uint32_t choose_functions(const struct table *table, const struct profile_file *file,
				 const struct profile_function **shown)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < file->function_count; i++) {
		const struct profile_function *function = &file->functions[i];

		if (table_is_shown(&table->needs, figure_total(&function->self)) ||
		    table_is_shown(&table->needs, function->inclusive_s) ||
		    worth_listing(&table->needs.memory, &function->self, &function->memory))
			shown[count++] = function;
	}
	qsort(shown, count, sizeof *shown, by_self_time);
	return count;
}

/* Cells for the names: as many as the longest takes, but the times beside it
 * come first. */
static uint32_t name_width(const struct table *table, const struct profile_function **shown,
			   uint32_t count)
{
	uint32_t room = table->source_cells;
	uint32_t limit = room > 2 * TIME_CELLS + MIN_NAME_CELLS ? room - 2 * TIME_CELLS : room;
	uint32_t widest = (uint32_t)strlen(HEADING);

	limit = limit > MAX_NAME_CELLS ? MAX_NAME_CELLS : limit;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t width = glyph_width(shown[i]->name, strlen(shown[i]->name),
					     table->style->has_utf8, limit);

		widest = width > widest ? width : widest;
	}
	return widest > limit ? limit : widest;
}

/* The right part of a row: a name, and the times in seconds where they fit. */
static void put_text(FILE *out, const struct table *table, enum paint paint, const char *name,
		     uint32_t name_cells, const char *self, const char *inclusive)
{
	uint32_t used;

	fputc(' ', out);
	style_put(out, table->style, paint);
	used = glyph_put(out, table->style, name, strlen(name), name_cells);
	style_put(out, table->style, paint == PAINT_DIM ? PAINT_DIM : PAINT_NONE);
	if (table->source_cells >= name_cells + 2 * TIME_CELLS) {
		fprintf(out, "%*s", (int)(name_cells - used + TIME_CELLS), self);
		if (table->needs.columns.has_inclusive)
			fprintf(out, "%*s", TIME_CELLS, inclusive);
	}
	if (paint == PAINT_DIM)
		style_put(out, table->style, PAINT_NONE);
	fputc('\n', out);
}

void functions_print(FILE *out, struct table *table, const struct profile_file *file)
{
	const struct profile_function **shown = mem_alloc(file->function_count * sizeof *shown);
	uint32_t count = choose_functions(table, file, shown);
	uint32_t name_cells = name_width(table, shown, count);

	if (count) {
		table_put_rule(out, table, false);
		table_put_figures(out, table, &(struct table_row){0});
		put_text(out, table, PAINT_DIM, HEADING, name_cells, "self", "incl.");
	}
	for (uint32_t i = 0; i < count; i++) {
		struct table_row row = {
			.line = shown[i]->first_line,
			.self = &shown[i]->self,
			.inclusive_s = shown[i]->inclusive_s,
			.await_s = shown[i]->async.await_s,
			.memory = &shown[i]->memory,
		};

		table_put_figures(out, table, &row);
		put_text(out, table, PAINT_NAME, shown[i]->name, name_cells,
			 figure_seconds(figure_total(&shown[i]->self)).text,
			 figure_seconds(shown[i]->inclusive_s).text);
	}
	free(shown);
}
