/* processes.h - the processes of a run, where there was more than one. */
#ifndef HEATLINE_REPORT_PROCESSES_H
#define HEATLINE_REPORT_PROCESSES_H

#include <stdio.h>

#include "profile/model.h"
#include "report/style.h"

/* A table: those that took most CPU time first, as many as people read. */
void processes_print(FILE *out, const struct style *style, const struct profile *profile);

#endif
