/* memory.h - what a program did to memory, in words.
 *
 * The parts of the reports that are about memory as a whole; the figures of
 * single lines stand in the tables.  All of them write nothing where memory was
 * not measured, and no sentence that there is nothing to say in. */
#ifndef HEATLINE_REPORT_MEMORY_H
#define HEATLINE_REPORT_MEMORY_H

#include "profile/model.h"
#include "report/style.h"

/* The footprint over time in a row of `cells` cells, after an empty line; below
 * it the peak, what was resident (RSS) then, what was allocated and copied in
 * all. */
void memory_print_overview(FILE *out, const struct style *style, const struct profile *profile,
			   uint32_t cells);

/* Below the files, after an empty line: what the peak was made of, leaks,
 * temporary churn, the lines that allocated and those that copied most. */
void memory_print_sections(FILE *out, const struct style *style, const struct profile *profile);

/* Two lines for the end of a run: the peak and what made most of it; the leak
 * that is worst, if one is likely. */
void memory_print_summary(FILE *out, const struct style *style, const struct profile *profile,
			  uint32_t indent);

#endif
