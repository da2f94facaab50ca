/* marks.h - what the program said of itself (heatline.mark), in the report. */
#ifndef HEATLINE_REPORT_MARKS_H
#define HEATLINE_REPORT_MARKS_H

#include <stdio.h>

#include "profile/model.h"
#include "report/style.h"

/* The first of them with when they were, below an empty line; nothing where there
 * are none. */
void marks_print(FILE *out, const struct style *style, const struct profile *profile);

#endif
