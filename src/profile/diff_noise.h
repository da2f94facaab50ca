/* diff_noise.h - whether a difference is beyond noise; inner part of diff.c.  The rules
 * are in diff.h. */
#ifndef HEATLINE_PROFILE_DIFF_NOISE_H
#define HEATLINE_PROFILE_DIFF_NOISE_H

#include "profile/diff.h"

/* Seconds that are a share of each profile's total. */
struct diff_value diff_share(const struct profile *const profile[DIFF_SIDES], double before_s,
			     double after_s);

/* The whole time. */
struct diff_value diff_whole(const struct profile *const profile[DIFF_SIDES], double before_s,
			     double after_s);

/* The variance of a sampled number of bytes in blocks of this mean size (0: not
 * known), and of bytes copied. */
double diff_bytes_variance(const struct profile *profile, double bytes, double mean_block);
double diff_copy_variance(const struct profile *profile, double bytes);

/* Bytes, with the sum of both variances. */
struct diff_value diff_bytes(double before, double after, double variance);

#endif
