/* diff_noise.h - whether a difference is beyond noise; inner part of diff.c.  The rules
 * are in diff.h. */
#ifndef HEATLINE_PROFILE_DIFF_NOISE_H
#define HEATLINE_PROFILE_DIFF_NOISE_H

#include "profile/diff.h"

/* Time, and the part of it that was the program's own: on a CPU or waiting, but not ready
 * to run while the machine had no CPU for it. */
struct diff_time {
	double seconds, own_s;
};

/* Of figures as a profile has them; of seconds on the CPU, and of any seconds, of which
 * the own part is not known by itself: the whole profile's share. */
struct diff_time diff_time_of(const struct metrics *metrics);
struct diff_time diff_time_on_cpu(const struct profile *profile, double seconds);
struct diff_time diff_time_any(const struct profile *profile, double seconds);

/* Time that is a share of each profile's total. */
struct diff_value diff_share(const struct profile *const profile[DIFF_SIDES],
			     struct diff_time before, struct diff_time after);

/* The whole time. */
struct diff_value diff_whole(const struct profile *const profile[DIFF_SIDES],
			     struct diff_time before, struct diff_time after);

/* The variance of a sampled number of bytes in blocks of this mean size (0: not
 * known), and of bytes copied. */
double diff_bytes_variance(const struct profile *profile, double bytes, double mean_block);
double diff_copy_variance(const struct profile *profile, double bytes);

/* Bytes, with the sum of both variances. */
struct diff_value diff_bytes(double before, double after, double variance);

/* GPU time that was measured. */
struct diff_value diff_gpu(double before_s, double after_s);

#endif
