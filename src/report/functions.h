/* functions.h - the functions of a file, as rows of its table. */
#ifndef HEATLINE_REPORT_FUNCTIONS_H
#define HEATLINE_REPORT_FUNCTIONS_H

#include "report/table.h"

/* A rule, a heading and the functions that are worth a row, hottest first;
 * nothing when there are none. */
void functions_print(FILE *out, struct table *table, const struct profile_file *file);

#endif
