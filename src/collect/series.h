/* series.h - a value over time in a bounded number of points.
 *
 * Points are in order of time: a value that is told too late counts from the latest one on.
 * Each stands for a stretch of time and has the largest value of it, so that peaks stay, the
 * least and the last.  When the room is used up pairs are joined, and stretches are twice as
 * long from then on. */
#ifndef HEATLINE_COLLECT_SERIES_H
#define HEATLINE_COLLECT_SERIES_H

#include <stdint.h>

struct series_point {
	float time_s, value, second; /* seconds since the start; two values */
	float least, last;           /* of the first */
};

struct series {
	struct series_point *points; /* owned */
	uint32_t count, allotted;    /* in use, and room for, so far */
	uint32_t room;               /* most points ever kept; even */
	float stretch_s;             /* how long one point stands for */
	float begin_s;               /* of the last point's stretch */
	struct series_point latest;  /* the value now; perhaps not the last point */
};

/* Before the first point: how many points there may be, how long a stretch is
 * at first. */
void series_init(struct series *series, uint32_t room, float stretch_s);
void series_fini(struct series *series);

void series_add(struct series *series, float time_s, float value, float second);

#endif
