/* series.c - see series.h. */
#include "collect/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void series_init(struct series *series, uint32_t room, float stretch_s)
{
	memset(series, 0, sizeof(*series));
	series->room = room;
	series->stretch_s = stretch_s;
}

void series_fini(struct series *series)
{
	free(series->points);
}

static void join_pairs(struct series *series)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i + 1 < series->count; i += 2) {
		struct series_point *pair = &series->points[i];
		struct series_point joined = pair[0].value > pair[1].value ? pair[0] : pair[1];
		joined.least = fminf(pair[0].least, pair[1].least);
		joined.last = pair[1].last;
		series->points[kept++] = joined;
	}
	series->count = kept;
	series->stretch_s *= 2;
}

/* Most series stay short, and there is one for each line. */
static void grow(struct series *series)
{
	uint32_t wanted = series->allotted == 0 ? 4 : series->allotted * 2;
	series->allotted = wanted < series->room ? wanted : series->room;
	series->points = mem_resize(series->points, series->allotted, sizeof(*series->points));
}

void series_add(struct series *series, float time_s, float value, float second)
{
	/* What another process, or a look at a mapping, tells later may have been earlier. */
	time_s = fmaxf(time_s, series->latest.time_s);
	struct series_point point = {time_s, value, second, value, value};
	series->latest = point;
	if (series->count > 0 && time_s - series->begin_s < series->stretch_s) {
		struct series_point *last = &series->points[series->count - 1];
		point.least = fminf(value, last->least);
		if (value > last->value)
			*last = point;
		last->least = point.least;
		last->last = value;
		return;
	}
	if (series->count == series->room)
		join_pairs(series);
	if (series->count == series->allotted)
		grow(series);
	series->begin_s = time_s;
	series->points[series->count++] = point;
}
