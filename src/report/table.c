/* table.c - the table of a text report: figures at the left, source at the right. */
#include "report/table.h"

#include <string.h>

#include "report/figure.h"
#include "report/glyph.h"
#include "report/quality.h"
#include "report/spark.h"

#define SHOWN_SHARE 0.01
#define SEPARATOR_CELLS 3 /* the line before the source, and a space on both sides */
#define MAX_SOURCE_CELLS 10000 /* where lines are not cut: no one line floods a pipe */

void table_init(struct table *table, const struct style *style, const struct table_needs *needs)
{
	uint32_t room = style->columns - SEPARATOR_CELLS;

	*table = (struct table){.style = style, .needs = *needs};
	columns_choose(&table->columns, &needs->columns, room);
	if (!style->is_cut)
		table->source_cells = MAX_SOURCE_CELLS;
	else if (table->columns.sum < room)
		table->source_cells = room - table->columns.sum;
}

/* ---- rules and headings ---- */

/* The line before the source, or where a rule crosses it. */
static const char *bar_sign(const struct table *table, const char *utf8, const char *ascii)
{
	return table->style->has_utf8 ? utf8 : ascii;
}

static void put_separator(FILE *out, const struct table *table)
{
	fputc(' ', out);
	style_print(out, table->style, PAINT_DIM, bar_sign(table, "│", "|"));
}

static void put_cells(FILE *out, const char *sign, uint32_t count)
{
	while (count--)
		fputs(sign, out);
}

static void put_cross_rule(FILE *out, const struct table *table, const char *cross)
{
	const char *dash = bar_sign(table, "─", "-");
	uint32_t left = table->columns.sum + 1;
	uint32_t columns = table->style->columns;

	style_put(out, table->style, PAINT_DIM);
	put_cells(out, dash, left);
	fputs(cross, out);
	put_cells(out, dash, columns > left + 1 ? columns - left - 1 : 0);
	style_put(out, table->style, PAINT_NONE);
	fputc('\n', out);
}

static void put_cell(FILE *out, const struct table *table, enum column column, enum paint paint,
		     const char *mark, const char *text)
{
	size_t size = strlen(mark) + strlen(text);
	uint32_t width = table->columns.width[column];
	bool is_painted = size && paint != PAINT_NONE;

	fprintf(out, "%*s", width > size ? (int)(width - size) : 0, "");
	if (is_painted)
		style_put(out, table->style, paint);
	fprintf(out, "%s%s", mark, text);
	if (is_painted)
		style_put(out, table->style, PAINT_NONE);
}

/* What the columns from first to last are about, between dashes above them. */
static void put_group(FILE *out, const struct table *table, enum column first, enum column last,
		      const char *name, enum paint paint)
{
	const char *dash = bar_sign(table, "─", "-");
	uint32_t width = 0, size = (uint32_t)strlen(name), dashes;

	for (enum column column = first; column <= last; column++)
		width += table->columns.width[column];
	if (width < size + 2) {
		fprintf(out, "%*s", (int)width, "");
		return;
	}
	dashes = width >= size + 6 ? width - size - 4 : 0;
	fprintf(out, "%*s", dashes ? 2 : (int)(width - size), "");
	style_put(out, table->style, paint);
	put_cells(out, dash, dashes / 2);
	fprintf(out, dashes ? " %s " : "%s", name);
	put_cells(out, dash, dashes - dashes / 2);
	style_put(out, table->style, PAINT_NONE);
}

static void put_groups(FILE *out, const struct table *table)
{
	fprintf(out, "%*s", (int)table->columns.width[COLUMN_LINE], "");
	put_group(out, table, COLUMN_TIME, COLUMN_BAR, "time", PAINT_DIM);
	put_group(out, table, COLUMN_PEAK, COLUMN_COPY_RATE, "memory", PAINT_MEMORY);
	put_separator(out, table);
	fputc('\n', out);
}

static bool has_memory_column(const struct table *table)
{
	for (enum column column = COLUMN_PEAK; column < COLUMN_COUNT; column++) {
		if (table->columns.width[column])
			return true;
	}
	return false;
}

void table_put_head(FILE *out, const struct table *table)
{
	if (has_memory_column(table))
		put_groups(out, table);
	for (enum column column = 0; column < COLUMN_COUNT; column++) {
		if (table->columns.width[column])
			put_cell(out, table, column, column_paint(column), "", column_name(column));
	}
	put_separator(out, table);
	fputc('\n', out);
	table_put_rule(out, table, false);
}

void table_put_rule(FILE *out, const struct table *table, bool is_last)
{
	put_cross_rule(out, table,
		       is_last ? bar_sign(table, "┴", "+") : bar_sign(table, "┼", "+"));
}

/* ---- time ---- */

bool table_is_shown(const struct table_needs *needs, double seconds)
{
	return seconds > 0 && 100 * seconds >= needs->shown_percent * needs->total_s;
}

/* A time in the unit of the table, or nothing where it is too small. */
static struct figure share_of(const struct table *table, double seconds)
{
	struct figure nothing = {""};

	if (!table_is_shown(&table->needs, seconds))
		return nothing;
	return table->needs.columns.in_seconds ? figure_seconds(seconds) :
						 figure_percent(seconds, table->needs.total_s);
}

static struct figure total_figure(const struct table *table, double seconds)
{
	struct figure nothing = {""};

	if (seconds <= 0)
		return nothing;
	return table->needs.columns.in_seconds ? figure_percent(seconds, table->needs.total_s) :
						 figure_seconds(seconds);
}

static double column_seconds(const struct table *table, enum column column,
			     const struct metrics *self)
{
	switch (column) {
	case COLUMN_PYTHON:
		return figure_kind(self, KIND_PYTHON);
	case COLUMN_NATIVE:
		return figure_kind(self, KIND_NATIVE);
	case COLUMN_SYSTEM:
		return figure_kind(self, KIND_SYSTEM) +
		       (table->columns.width[COLUMN_WAIT] ? 0 : figure_kind(self, KIND_WAIT));
	case COLUMN_WAIT:
		return figure_kind(self, KIND_WAIT);
	case COLUMN_GIL:
		return self->gil_s;
	case COLUMN_GC:
		return self->gc_s;
	default:
		return figure_total(self);
	}
}

/* Waiting of tasks and GPU time are no part of the time: their whole is their own. */
static struct figure figure_of_whole(const struct table *table, double seconds, double whole_s)
{
	struct figure nothing = {""};

	if (seconds < SHOWN_SHARE * whole_s || !(seconds > 0))
		return nothing;
	return table->needs.columns.in_seconds ? figure_seconds(seconds) :
						 figure_percent(seconds, whole_s);
}

static void put_time(FILE *out, const struct table *table, enum column column,
		     const struct table_row *row, enum paint heat, bool is_rough)
{
	double self_s = column_seconds(table, column, row->self);
	enum paint paint = heat;
	struct figure figure;

	if (column == COLUMN_BAR) {
		fprintf(out, "%*s", (int)(table->columns.width[column] - COLUMN_BAR_CELLS), "");
		figure_bar(out, table->style, row->self, table->needs.hottest_s, COLUMN_BAR_CELLS);
		return;
	}
	if (column == COLUMN_INCLUSIVE) {
		figure = share_of(table, row->inclusive_s);
		/* Inclusive time that is all the line's own says nothing new. */
		paint = row->inclusive_s > 1.001 * self_s ? PAINT_NONE : PAINT_DIM;
		is_rough = false;
	} else if (column == COLUMN_AWAIT) {
		figure = figure_of_whole(table, row->await_s, table->needs.await_s);
		paint = column_paint(column);
		is_rough = false;
	} else if (column == COLUMN_GPU) {
		figure = figure_of_whole(table, row->self->gpu_s, table->needs.gpu_s);
		paint = column_paint(column);
		is_rough = false;
	} else if (column == COLUMN_TIME) {
		figure = total_figure(table, self_s);
		if (!table_is_shown(&table->needs, self_s))
			paint = PAINT_DIM;
	} else {
		figure = share_of(table, self_s);
		if (paint == PAINT_NONE)
			paint = column_paint(column);
	}
	put_cell(out, table, column, paint, is_rough && figure.text[0] ? "~" : "", figure.text);
}

/* ---- memory ---- */

static struct figure memory_figure(const struct table *table, enum column column,
				   const struct table_row *row)
{
	const struct worth_scale *scale = &table->needs.memory;
	double volume = row->self->alloc_bytes;
	bool has_volume = worth_reading(volume, scale->alloc_bytes);
	struct figure figure = {""};

	if (column == COLUMN_PEAK && worth_showing(row->memory->peak_bytes))
		return figure_bytes(row->memory->peak_bytes);
	if (column == COLUMN_AVERAGE && worth_showing(row->memory->average_bytes))
		return figure_bytes(row->memory->average_bytes);
	if (column == COLUMN_OBJECTS && (has_volume || worth_showing(row->memory->peak_bytes)))
		return figure_share(row->memory->python_bytes, volume);
	if (column == COLUMN_ALLOC && has_volume)
		return table->needs.columns.in_seconds ? figure_bytes(volume) :
							 figure_percent(volume, scale->alloc_bytes);
	if (column == COLUMN_COPY && worth_showing(row->self->copy_bytes))
		return figure_bytes(row->self->copy_bytes);
	if (column == COLUMN_COPY_RATE && worth_showing(row->self->copy_bytes))
		return figure_megabytes(row->self->copy_bytes / scale->elapsed_s);
	return figure;
}

/* Red where it is much of what the whole program has, dim where it is little. */
static enum paint memory_paint(const struct table *table, enum column column,
			       const struct table_row *row)
{
	const struct worth_scale *scale = &table->needs.memory;
	double part = row->memory->peak_bytes, whole = scale->peak_bytes;
	enum paint heat;

	if (column == COLUMN_ALLOC) {
		part = row->self->alloc_bytes;
		whole = scale->alloc_bytes;
	} else if (column == COLUMN_COPY || column == COLUMN_COPY_RATE) {
		part = row->self->copy_bytes;
		whole = scale->copy_bytes;
	}
	if (!worth_reading(part, whole))
		return PAINT_DIM;
	heat = column == COLUMN_PEAK || column == COLUMN_ALLOC ? figure_heat(part / whole) :
								 PAINT_NONE;
	return heat == PAINT_NONE ? column_paint(column) : heat;
}

static void put_timeline(FILE *out, const struct table *table, const struct table_row *row)
{
	uint32_t count = worth_showing(row->memory->peak_bytes) ? row->point_count : 0;
	uint32_t gap = table->columns.width[COLUMN_TIMELINE] - COLUMN_TIMELINE_CELLS;

	fprintf(out, "%*s", (int)gap, "");
	style_put(out, table->style, memory_paint(table, COLUMN_TIMELINE, row));
	spark_put(out, table->style, row->points, count, table->needs.memory.elapsed_s,
		  row->memory->peak_bytes, COLUMN_TIMELINE_CELLS);
	style_put(out, table->style, PAINT_NONE);
}

static void put_memory(FILE *out, const struct table *table, enum column column,
		       const struct table_row *row)
{
	if (column == COLUMN_TIMELINE && row->points)
		put_timeline(out, table, row);
	else
		put_cell(out, table, column, memory_paint(table, column, row), "",
			 memory_figure(table, column, row).text);
}

/* ---- rows ---- */

void table_put_figures(FILE *out, struct table *table, const struct table_row *row)
{
	static const struct metrics nothing;
	static const struct memory no_memory;
	struct table_row filled = *row;
	struct figure number = {""};
	double self_s;
	enum paint heat;
	bool is_rough;

	filled.self = row->self ? row->self : &nothing;
	filled.memory = row->memory ? row->memory : &no_memory;
	self_s = figure_total(filled.self);
	heat = figure_heat(table->needs.total_s > 0 ? self_s / table->needs.total_s : 0);
	is_rough = quality_is_rough(filled.self->samples) && table_is_shown(&table->needs, self_s);
	table->has_rough |= is_rough;
	if (row->line)
		snprintf(number.text, sizeof number.text, "%u", row->line);
	put_cell(out, table, COLUMN_LINE, heat == PAINT_NONE ? PAINT_DIM : heat, "", number.text);
	for (enum column column = COLUMN_LINE + 1; column < COLUMN_COUNT; column++) {
		if (!table->columns.width[column])
			continue;
		if (column < COLUMN_PEAK)
			put_time(out, table, column, &filled, heat, is_rough);
		else
			put_memory(out, table, column, &filled);
	}
	put_separator(out, table);
}

void table_put_gap(FILE *out, const struct table *table)
{
	uint32_t line_cells = table->columns.width[COLUMN_LINE];

	style_put(out, table->style, PAINT_DIM);
	fprintf(out, "%*s%s", (int)(line_cells - 1), "", glyph_ellipsis(table->style));
	fprintf(out, "%*s%s\n", (int)(table->columns.sum + 1 - line_cells), "",
		bar_sign(table, "┊", ":"));
	style_put(out, table->style, PAINT_NONE);
}
