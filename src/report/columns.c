/* columns.c - which columns a table of figures has, and how wide they are. */
#include "report/columns.h"

#include <stdio.h>

/* Cells that the source must have, or a column gives way; in the order in
 * which they go. */
enum {
	STAYS = 0,
	RATE_LEAVES = 60,
	BAR_LEAVES = 48,
	TIME_LEAVES = 45,
	OBJECTS_LEAVES = 44,
	TIMELINE_LEAVES = 42,
	AVERAGE_LEAVES = 40,
	COPY_LEAVES = 34,
	INCLUSIVE_LEAVES = 32,
	PARTS_LEAVE = 31,
	ALLOC_LEAVES = 30,
	WAIT_LEAVES = 28,
	PEAK_LEAVES = 26,
	SPLIT_LEAVES = 24,
	GPU_LEAVES = 20,
};

static const uint8_t limits[] = {
	RATE_LEAVES,     BAR_LEAVES,     TIME_LEAVES, OBJECTS_LEAVES,
	TIMELINE_LEAVES, AVERAGE_LEAVES, COPY_LEAVES, INCLUSIVE_LEAVES,
	PARTS_LEAVE,     ALLOC_LEAVES,   WAIT_LEAVES, PEAK_LEAVES,
	SPLIT_LEAVES,    GPU_LEAVES,
};

static const struct {
	const char *name;
	enum paint paint;
	uint8_t width;
	uint8_t leaves_below;
} specs[COLUMN_COUNT] = {
	[COLUMN_LINE] = {"line", PAINT_DIM, 5, STAYS},
	[COLUMN_TIME] = {"time", PAINT_NONE, 8, TIME_LEAVES},
	[COLUMN_TOTAL] = {"time", PAINT_NONE, 8, STAYS},
	[COLUMN_PYTHON] = {"Python", PAINT_PYTHON, 8, SPLIT_LEAVES},
	[COLUMN_NATIVE] = {"native", PAINT_NATIVE, 7, SPLIT_LEAVES},
	[COLUMN_SYSTEM] = {"system", PAINT_SYSTEM, 7, SPLIT_LEAVES},
	[COLUMN_WAIT] = {"waiting", PAINT_WAIT, 8, WAIT_LEAVES},
	[COLUMN_AWAIT] = {"await", PAINT_WAIT, 7, PARTS_LEAVE},
	[COLUMN_GPU] = {"GPU", PAINT_STRONG, 7, GPU_LEAVES},
	[COLUMN_GIL] = {"GIL", PAINT_WAIT, 7, PARTS_LEAVE},
	[COLUMN_GC] = {"GC", PAINT_NATIVE, 7, PARTS_LEAVE},
	[COLUMN_INCLUSIVE] = {"incl.", PAINT_NONE, 7, INCLUSIVE_LEAVES},
	[COLUMN_BAR] = {"", PAINT_NONE, COLUMN_BAR_CELLS + 2, BAR_LEAVES},
	[COLUMN_PEAK] = {"peak", PAINT_MEMORY, 8, PEAK_LEAVES},
	[COLUMN_AVERAGE] = {"average", PAINT_MEMORY, 8, AVERAGE_LEAVES},
	[COLUMN_TIMELINE] = {"timeline", PAINT_MEMORY, COLUMN_TIMELINE_CELLS + 2, TIMELINE_LEAVES},
	[COLUMN_OBJECTS] = {"Python", PAINT_MEMORY, 7, OBJECTS_LEAVES},
	[COLUMN_ALLOC] = {"alloc.", PAINT_MEMORY, 7, ALLOC_LEAVES},
	[COLUMN_COPY] = {"copied", PAINT_COPY, 7, COPY_LEAVES},
	[COLUMN_COPY_RATE] = {"MB/s", PAINT_COPY, 6, RATE_LEAVES},
};

const char *column_name(enum column column)
{
	return specs[column].name;
}

enum paint column_paint(enum column column)
{
	return specs[column].paint;
}

static void set_width(struct columns *columns, enum column column, uint32_t width)
{
	columns->sum += width - columns->width[column];
	columns->width[column] = width;
}

/* Takes out the columns that give way at this limit. */
static void drop_columns(struct columns *columns, uint8_t limit)
{
	for (enum column column = 0; column < COLUMN_COUNT; column++) {
		if (specs[column].leaves_below == limit)
			set_width(columns, column, 0);
	}
	if (limit == SPLIT_LEAVES)
		set_width(columns, COLUMN_TOTAL, specs[COLUMN_TOTAL].width);
}

/* Whether the column has anything to show, the room given. */
static bool is_needed(const struct column_needs *needs, enum column column)
{
	switch (column) {
	case COLUMN_TOTAL:
		return false; /* only in place of the split */
	case COLUMN_WAIT:
		return needs->has_wait;
	case COLUMN_AWAIT:
		return needs->has_await;
	case COLUMN_GPU:
		return needs->has_gpu;
	case COLUMN_GIL:
		return needs->has_gil;
	case COLUMN_GC:
		return needs->has_gc;
	case COLUMN_INCLUSIVE:
		return needs->has_inclusive;
	case COLUMN_TIMELINE:
		return needs->has_timeline;
	case COLUMN_COPY:
	case COLUMN_COPY_RATE:
		return needs->has_copy;
	default:
		return column < COLUMN_PEAK || needs->has_memory;
	}
}

static uint32_t full_width(const struct column_needs *needs, enum column column)
{
	uint32_t width = specs[column].width;

	if (column < COLUMN_PEAK && needs->in_seconds)
		width++;
	if (column == COLUMN_LINE) {
		uint32_t digits = (uint32_t)snprintf(NULL, 0, "%u", needs->last_line);

		return digits + 1 > width ? digits + 1 : width;
	}
	return width;
}

void columns_choose(struct columns *columns, const struct column_needs *needs, uint32_t room)
{
	*columns = (struct columns){.sum = 0};
	for (enum column column = 0; column < COLUMN_COUNT; column++) {
		if (is_needed(needs, column))
			set_width(columns, column, full_width(needs, column));
	}
	for (size_t i = 0; i < sizeof limits && columns->sum + limits[i] > room; i++)
		drop_columns(columns, limits[i]);
}
