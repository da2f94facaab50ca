/* formats.h - the writers that export.c lists; inner header. */
#ifndef HEATLINE_REPORT_EXPORT_FORMATS_H
#define HEATLINE_REPORT_EXPORT_FORMATS_H

#include "report/export/export.h"

void export_speedscope(FILE *out, const struct profile *profile, enum export_metric metric);
void export_pprof(FILE *out, const struct profile *profile, enum export_metric metric);
void export_collapsed(FILE *out, const struct profile *profile, enum export_metric metric);
void export_svg(FILE *out, const struct profile *profile, enum export_metric metric);
void export_gecko(FILE *out, const struct profile *profile, enum export_metric metric);
void export_chrome(FILE *out, const struct profile *profile, enum export_metric metric);
void export_pstats(FILE *out, const struct profile *profile, enum export_metric metric);
void export_csv(FILE *out, const struct profile *profile, enum export_metric metric);
void export_markdown(FILE *out, const struct profile *profile, enum export_metric metric);

#endif
