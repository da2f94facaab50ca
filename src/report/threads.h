/* threads.h - threads in the text report: who worked, who waited, and for what. */
#ifndef HEATLINE_REPORT_THREADS_H
#define HEATLINE_REPORT_THREADS_H

#include "profile/model.h"
#include "report/style.h"

/* Whether so much of the time that there was work to do went by in waiting for
 * the GIL, or in collecting garbage, that a user should hear of it. */
bool threads_has_gil_worth(const struct profile *profile);
bool threads_has_gc_worth(const struct profile *profile);

/* A sentence for each of the two where it is so, with the line that has most. */
void threads_print_notes(FILE *out, const struct style *style, const struct profile *profile,
			 uint32_t indent);

/* What all threads together waited for, in one line; nothing where that is
 * little. */
void threads_print_waits(FILE *out, const struct style *style, const struct profile *profile);

/* Lines at which threads other than the main one waited, below an empty line; nothing where that is
 * less than a percent of the run. */
void threads_print_idle(FILE *out, const struct style *style, const struct profile *profile);

/* The table of threads, below an empty line; nothing where there is but one. */
void threads_print_table(FILE *out, const struct style *style, const struct profile *profile);

#endif
