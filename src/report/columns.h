/* columns.h - which columns a table of figures has, and how wide they are.
 *
 * That depends on the width: the source keeps enough room to be read, and the
 * less important figures give way first (the rate of copies, the bar, the
 * seconds, what memory is made of and how it went, inclusive time, tasks, the
 * GIL and garbage collection, waiting, the peak, the split by kind, at last GPU
 * time). */
#ifndef HEATLINE_REPORT_COLUMNS_H
#define HEATLINE_REPORT_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/style.h"

enum column {
	COLUMN_LINE,
	COLUMN_TIME,  /* self, all kinds: the unit that the other columns do not have */
	COLUMN_TOTAL, /* self, all kinds, as a share: stands for the split where it has no room */
	COLUMN_PYTHON,
	COLUMN_NATIVE,
	COLUMN_SYSTEM,
	COLUMN_WAIT,
	COLUMN_AWAIT, /* tasks that waited, of all waiting of tasks */
	COLUMN_GPU, /* of what was launched here, of all GPU time */
	COLUMN_GIL, /* part of waiting, of any thread */
	COLUMN_GC,  /* part of Python and native */
	COLUMN_INCLUSIVE,
	COLUMN_BAR,
	COLUMN_PEAK, /* from here on: memory */
	COLUMN_AVERAGE,
	COLUMN_TIMELINE,
	COLUMN_OBJECTS, /* how much of it is Python's own */
	COLUMN_ALLOC,
	COLUMN_COPY,
	COLUMN_COPY_RATE,
	COLUMN_COUNT
};

#define COLUMN_BAR_CELLS 10
#define COLUMN_TIMELINE_CELLS 8

/* What there is to show. */
struct column_needs {
	uint32_t last_line; /* the greatest line number */
	bool has_wait, has_await, has_gpu, has_gil, has_gc, has_inclusive;
	bool has_memory, has_timeline, has_copy;
	bool in_seconds; /* figures in seconds instead of percent */
};

struct columns {
	uint32_t width[COLUMN_COUNT]; /* cells with the gap before it; 0: not shown */
	uint32_t sum;                 /* of these */
};

/* The columns that leave room for the source beside them, where `room` cells
 * are there for both. */
void columns_choose(struct columns *columns, const struct column_needs *needs, uint32_t room);

const char *column_name(enum column column);
enum paint column_paint(enum column column);

#endif
