/* tasks.h - tasks of event loops in the text report: where they waited, and what
 * kept them waiting. */
#ifndef HEATLINE_REPORT_TASKS_H
#define HEATLINE_REPORT_TASKS_H

#include "profile/model.h"
#include "report/style.h"

/* The lines at which tasks waited most and the steps that blocked their loop,
 * below an empty line; nothing where there were no tasks. */
void tasks_print(FILE *out, const struct style *style, const struct profile *profile);

#endif
