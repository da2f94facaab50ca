/* spark.c - memory over time in one row of cells. */
#include "report/spark.h"

#include <math.h>

#define LEVELS 8

static const char *level_sign(const struct style *style, double share)
{
	static const char *const blocks[LEVELS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const ascii[LEVELS] = {".", ":", "-", "=", "+", "*", "#", "@"};
	int level = (int)ceil(share * LEVELS);

	if (level > LEVELS)
		level = LEVELS;
	if (level < 1)
		level = 1;
	return style->has_utf8 ? blocks[level - 1] : ascii[level - 1];
}

void spark_put(FILE *out, const struct style *style, const struct memory_point *points,
	       uint32_t count, double end_s, double full_bytes, uint32_t cells)
{
	double now = 0;
	uint32_t next = 0;

	if (!isfinite(end_s) || !isfinite(full_bytes) || end_s <= 0 || full_bytes <= 0)
		count = 0;
	for (uint32_t i = 0; i < cells; i++) {
		double cell_end_s = end_s * (i + 1) / cells;
		bool is_last = i + 1 == cells;
		double most = now;

		while (next < count && (points[next].time_s < cell_end_s || is_last)) {
			now = points[next++].live_bytes;
			most = now > most ? now : most;
		}
		fputs(most > 0 ? level_sign(style, fmin(most / full_bytes, 1)) : " ", out);
	}
}
