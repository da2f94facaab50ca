/* worth.h - which memory figures are worth a reader's eye.
 *
 * Memory is estimated from one sample in about half a megabyte, so a figure
 * below a megabyte says nothing; and one below a percent of the program's is
 * not what to look at first.  All reports draw these lines here. */
#ifndef HEATLINE_REPORT_WORTH_H
#define HEATLINE_REPORT_WORTH_H

#include "profile/model.h"

/* What a hundred percent are; all 0 where memory was not measured. */
struct worth_scale {
	double peak_bytes;
	double alloc_bytes;
	double copy_bytes;
	double elapsed_s;
};

struct worth_scale worth_scale_of(const struct profile *profile);

/* Whether a number of bytes is large enough to be shown at all. */
bool worth_showing(double bytes);

/* The same, and a percent of the whole. */
bool worth_reading(double bytes, double whole_bytes);

/* Whether any memory figure of a line or function is worth reading. */
bool worth_listing(const struct worth_scale *scale, const struct metrics *self,
		   const struct memory *memory);

/* By what lines are ranked (rank.h); 0 for those not worth a place. */

/* Bytes that were live at the program's peak. */
double worth_at_peak(const struct profile *profile, const struct profile_line *line);

/* How fast the line grows, where that is likely to be a leak. */
double worth_as_leak(const struct profile *profile, const struct profile_line *line);

/* Bytes allocated as temporary churn: much, again and again, and nothing of it
 * stays.  Scalene's profiles do not say what stayed. */
double worth_as_churn(const struct profile *profile, const struct profile_line *line);

/* Bytes allocated otherwise, where they are more than what the line had at the
 * peak, which says it already. */
double worth_as_volume(const struct profile *profile, const struct profile_line *line);

/* Bytes copied. */
double worth_as_copies(const struct profile *profile, const struct profile_line *line);

#endif
