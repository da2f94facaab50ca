/* table.c - the table of a text report: figures at the left, source at the right. */
#include "report/table.h"

#include <string.h>

#include "report/figure.h"
#include "report/glyph.h"
#include "report/quality.h"

#define SHOWN_SHARE 0.01
#define BAR_CELLS 10
#define MAX_SOURCE_CELLS 10000 /* where lines are not cut: no one line floods a pipe */

/* Cells that the source must have, or a column gives way; in the order in
 * which they go. */
enum {
	BAR_LEAVES = 48,
	TIME_LEAVES = 45,
	INCLUSIVE_LEAVES = 32,
	WAIT_LEAVES = 28,
	SPLIT_LEAVES = 24,
};

static const struct {
	const char *name;
	enum paint paint;
	uint8_t width;
	uint8_t leaves_below; /* 0: never */
} specs[COLUMN_COUNT] = {
	[COLUMN_LINE] = {"line", PAINT_DIM, 5, 0},
	[COLUMN_TIME] = {"time", PAINT_NONE, 8, TIME_LEAVES},
	[COLUMN_TOTAL] = {"time", PAINT_NONE, 8, 0},
	[COLUMN_PYTHON] = {"Python", PAINT_PYTHON, 8, SPLIT_LEAVES},
	[COLUMN_NATIVE] = {"native", PAINT_NATIVE, 7, SPLIT_LEAVES},
	[COLUMN_SYSTEM] = {"system", PAINT_SYSTEM, 7, SPLIT_LEAVES},
	[COLUMN_WAIT] = {"waiting", PAINT_WAIT, 8, WAIT_LEAVES},
	[COLUMN_INCLUSIVE] = {"incl.", PAINT_NONE, 7, INCLUSIVE_LEAVES},
	[COLUMN_BAR] = {"", PAINT_NONE, BAR_CELLS + 2, BAR_LEAVES},
};

static uint32_t figures_width(const struct table *table)
{
	uint32_t sum = 0;

	for (enum column column = 0; column < COLUMN_COUNT; column++)
		sum += table->width[column];
	return sum + 3; /* the line before the source, and a space on both sides */
}

/* Takes out the columns that give way at this limit. */
static void drop_columns(struct table *table, uint8_t limit)
{
	for (enum column column = 0; column < COLUMN_COUNT; column++) {
		if (specs[column].leaves_below == limit)
			table->width[column] = 0;
	}
	if (limit == SPLIT_LEAVES)
		table->width[COLUMN_TOTAL] = specs[COLUMN_TOTAL].width;
}

static uint32_t digits(uint32_t number)
{
	return (uint32_t)snprintf(NULL, 0, "%u", number);
}

void table_init(struct table *table, const struct style *style, const struct table_needs *needs)
{
	static const uint8_t limits[] = {48, 45, 32, 28, SPLIT_LEAVES};
	uint32_t columns = style->columns;

	*table = (struct table){.style = style, .needs = *needs};
	for (enum column column = 0; column < COLUMN_COUNT; column++)
		table->width[column] = specs[column].width + (needs->in_seconds ? 1 : 0);
	table->width[COLUMN_TOTAL] = 0;
	if (digits(needs->last_line) + 1 > table->width[COLUMN_LINE])
		table->width[COLUMN_LINE] = digits(needs->last_line) + 1;
	if (!needs->has_wait)
		table->width[COLUMN_WAIT] = 0;
	if (!needs->has_inclusive)
		table->width[COLUMN_INCLUSIVE] = 0;
	for (size_t i = 0; i < sizeof limits && figures_width(table) + limits[i] > columns; i++)
		drop_columns(table, limits[i]);
	if (!style->is_cut)
		table->source_cells = MAX_SOURCE_CELLS;
	else if (figures_width(table) < columns)
		table->source_cells = columns - figures_width(table);
}

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
	uint32_t left = figures_width(table) - 2;
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
	uint32_t width = table->width[column];
	bool is_painted = size && paint != PAINT_NONE;

	fprintf(out, "%*s", width > size ? (int)(width - size) : 0, "");
	if (is_painted)
		style_put(out, table->style, paint);
	fprintf(out, "%s%s", mark, text);
	if (is_painted)
		style_put(out, table->style, PAINT_NONE);
}

void table_put_head(FILE *out, const struct table *table)
{
	for (enum column column = 0; column < COLUMN_COUNT; column++) {
		if (table->width[column])
			put_cell(out, table, column, specs[column].paint, "", specs[column].name);
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

bool table_is_shown(const struct table *table, double seconds)
{
	return seconds > 0 && seconds >= SHOWN_SHARE * table->needs.total_s;
}

/* A time in the unit of the table, or nothing where it is too small. */
static struct figure share_of(const struct table *table, double seconds)
{
	struct figure nothing = {""};

	if (!table_is_shown(table, seconds))
		return nothing;
	return table->needs.in_seconds ? figure_seconds(seconds) :
					 figure_percent(seconds, table->needs.total_s);
}

static struct figure total_figure(const struct table *table, double seconds)
{
	struct figure nothing = {""};

	if (seconds <= 0)
		return nothing;
	return table->needs.in_seconds ? figure_percent(seconds, table->needs.total_s) :
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
		       (table->width[COLUMN_WAIT] ? 0 : figure_kind(self, KIND_WAIT));
	case COLUMN_WAIT:
		return figure_kind(self, KIND_WAIT);
	default:
		return figure_total(self);
	}
}

static void put_figure(FILE *out, const struct table *table, enum column column,
		       const struct table_row *row, enum paint heat, bool is_rough)
{
	double self_s = column_seconds(table, column, row->self);
	enum paint paint = heat;
	struct figure figure;

	if (column == COLUMN_BAR) {
		fprintf(out, "%*s", (int)(table->width[COLUMN_BAR] - BAR_CELLS), "");
		figure_bar(out, table->style, row->self, table->needs.hottest_s, BAR_CELLS);
		return;
	}
	if (column == COLUMN_INCLUSIVE) {
		figure = share_of(table, row->inclusive_s);
		/* Inclusive time that is all the line's own says nothing new. */
		paint = row->inclusive_s > 1.001 * self_s ? PAINT_NONE : PAINT_DIM;
		is_rough = false;
	} else if (column == COLUMN_TIME) {
		figure = total_figure(table, self_s);
		if (!table_is_shown(table, self_s))
			paint = PAINT_DIM;
	} else {
		figure = share_of(table, self_s);
		if (paint == PAINT_NONE)
			paint = specs[column].paint;
	}
	put_cell(out, table, column, paint, is_rough && figure.text[0] ? "~" : "", figure.text);
}

void table_put_figures(FILE *out, struct table *table, const struct table_row *row)
{
	static const struct metrics nothing;
	struct table_row filled = *row;
	struct figure number = {""};
	double self_s;
	enum paint heat;
	bool is_rough;

	filled.self = row->self ? row->self : &nothing;
	self_s = figure_total(filled.self);
	heat = figure_heat(table->needs.total_s > 0 ? self_s / table->needs.total_s : 0);
	is_rough = quality_is_rough(filled.self->samples) && table_is_shown(table, self_s);
	table->has_rough |= is_rough;
	if (row->line)
		snprintf(number.text, sizeof number.text, "%u", row->line);
	put_cell(out, table, COLUMN_LINE, heat == PAINT_NONE ? PAINT_DIM : heat, "", number.text);
	for (enum column column = COLUMN_LINE + 1; column < COLUMN_COUNT; column++) {
		if (table->width[column])
			put_figure(out, table, column, &filled, heat, is_rough);
	}
	put_separator(out, table);
}

void table_put_gap(FILE *out, const struct table *table)
{
	uint32_t line_cells = table->width[COLUMN_LINE];

	style_put(out, table->style, PAINT_DIM);
	fprintf(out, "%*s%s", (int)(line_cells - 1), "", glyph_ellipsis(table->style));
	fprintf(out, "%*s%s\n", (int)(figures_width(table) - line_cells - 2), "",
		bar_sign(table, "┊", ":"));
	style_put(out, table->style, PAINT_NONE);
}
