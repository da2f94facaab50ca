/* spark.h - memory over time in one row of cells: ▁▂▃▄▅▆▇█. */
#ifndef HEATLINE_REPORT_SPARK_H
#define HEATLINE_REPORT_SPARK_H

#include "profile/model.h"
#include "report/style.h"

/* Writes the live bytes of the points in `cells` cells, from the start of the
 * run to end_s.  A cell has the height of the most that was live in its time;
 * full_bytes is a full cell; nothing live is a space, however little is more
 * than that.  A point holds until the next one. */
void spark_put(FILE *out, const struct style *style, const struct memory_point *points,
	       uint32_t count, double end_s, double full_bytes, uint32_t cells);

#endif
