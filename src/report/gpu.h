/* gpu.h - what a program had GPUs do, in words.
 *
 * The parts of the reports that are about GPUs as a whole; GPU time by line
 * stands in the tables.  Nothing is written where no GPU was used. */
#ifndef HEATLINE_REPORT_GPU_H
#define HEATLINE_REPORT_GPU_H

#include "profile/model.h"
#include "report/style.h"

/* Below the files, after an empty line: the devices; the lines with most GPU
 * time; where Python was while GPUs idled; where it was blocked on them. */
void gpu_print_section(FILE *out, const struct style *style, const struct profile *profile);

/* One line for the end of a run: "GPU busy 62%, idle while Python ran 3.10 s:
 * most at train.py:40". */
void gpu_print_summary(FILE *out, const struct style *style, const struct profile *profile,
		       uint32_t indent);

#endif
