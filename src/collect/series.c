/* series.c - see series.h. */
#include "collect/series.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void series_init(struct series *series, uint32_t room, float gap_s)
{
	memset(series, 0, sizeof(*series));
	series->room = room;
	series->gap_s = gap_s;
}

void series_fini(struct series *series)
{
	free(series->points);
}

static void thin_out(struct series *series)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i + 1 < series->count; i += 2) {
		/* Of each pair the larger value, so that peaks stay. */
		const struct series_point *pair = &series->points[i];
		series->points[kept++] = pair[0].value > pair[1].value ? pair[0] : pair[1];
	}
	series->count = kept;
	series->gap_s *= 2;
}

void series_add(struct series *series, float time_s, float value, float second)
{
	struct series_point point = {time_s, value, second};
	if (series->points == NULL)
		series->points = mem_zalloc(series->room, sizeof(*series->points));
	if (series->count > 1) {
		struct series_point *last = &series->points[series->count - 1];
		if (last->time_s - series->points[series->count - 2].time_s < series->gap_s) {
			if (value >= last->value || time_s - series->points[series->count - 2].time_s >=
							    series->gap_s)
				*last = point;
			return;
		}
	}
	if (series->count == series->room)
		thin_out(series);
	series->points[series->count++] = point;
}
