/* series.h - a value over time in a bounded number of points.
 *
 * Points come in order of time.  When the room is used up every second point
 * is dropped and from then on points must lie twice as far apart; the newest
 * value is always there. */
#ifndef HEATLINE_COLLECT_SERIES_H
#define HEATLINE_COLLECT_SERIES_H

#include <stdint.h>

struct series_point {
	float time_s, value, second; /* seconds since the start; two values */
};

struct series {
	struct series_point *points; /* owned */
	uint32_t count, room;        /* room: most points ever kept; even */
	float gap_s;                 /* least distance of two points */
};

/* Before the first point: how many points there may be, how close together. */
void series_init(struct series *series, uint32_t room, float gap_s);
void series_fini(struct series *series);

/* A point closer to the last than the gap replaces it, unless it would hide a
 * peak: of the two the larger value stays. */
void series_add(struct series *series, float time_s, float value, float second);

#endif
