/* diff_noise.c - whether a difference is beyond noise. */
#include "profile/diff_noise.h"

#include <math.h>

#define QUANTILE 1.959964 /* 97.5 % of the normal distribution */
#define LEAST_SHARE 0.01 /* of memory: less is no difference */

/* The 95 % interval of seconds that are a share of a profile's total: the score interval
 * of a count of so many samples, in seconds. */
static void interval(const struct profile *profile, double seconds, double *low, double *high)
{
	double samples = (double)profile->sum.samples;
	if (!(samples > 0) || !(profile->total_s > 0)) {
		*low = 0;
		*high = INFINITY; /* nothing is known */
		return;
	}
	double per_sample_s = profile->total_s / samples;
	double count = seconds / per_sample_s;
	double middle = count + QUANTILE * QUANTILE / 2;
	double half = QUANTILE * sqrt(count + QUANTILE * QUANTILE / 4);
	*low = (middle - half) * per_sample_s;
	*high = (middle + half) * per_sample_s;
}

struct diff_value diff_share(const struct profile *const profile[DIFF_SIDES], double before_s,
			     double after_s)
{
	double low[DIFF_SIDES], high[DIFF_SIDES];
	interval(profile[DIFF_BEFORE], before_s, &low[DIFF_BEFORE], &high[DIFF_BEFORE]);
	interval(profile[DIFF_AFTER], after_s, &low[DIFF_AFTER], &high[DIFF_AFTER]);
	bool is_apart = low[DIFF_AFTER] > high[DIFF_BEFORE] || low[DIFF_BEFORE] > high[DIFF_AFTER];
	return (struct diff_value){before_s, after_s, is_apart};
}

static double relative_variance(const struct profile *profile)
{
	return profile->sum.samples ? 1 / (double)profile->sum.samples : INFINITY;
}

struct diff_value diff_whole(const struct profile *const profile[DIFF_SIDES], double before_s,
			     double after_s)
{
	double variance = before_s * before_s * relative_variance(profile[DIFF_BEFORE]) +
			  after_s * after_s * relative_variance(profile[DIFF_AFTER]);
	/* Not a number where one is 0 and has no samples: then nothing is known. */
	bool is_real = fabs(after_s - before_s) > QUANTILE * sqrt(variance);
	return (struct diff_value){before_s, after_s, is_real};
}

/* The distance of sampled bytes, as docs/MEMORY.md has it: so many samples a second,
 * but no closer than that. */
static double window(const struct profile *profile, double bytes, double samples_per_s,
		     double least)
{
	double rate = profile->elapsed_s > 0 ? bytes / profile->elapsed_s : 0;
	return fmax(least, rate / samples_per_s);
}

double diff_bytes_variance(const struct profile *profile, double bytes, double mean_block)
{
	double size = window(profile, profile->sum.alloc_bytes, 2500, 8192);
	return mean_block >= 1.5 * size ? 0 : bytes * size; /* large blocks are all counted */
}

double diff_copy_variance(const struct profile *profile, double bytes)
{
	return bytes * window(profile, profile->sum.copy_bytes, 400, 65536);
}

struct diff_value diff_bytes(double before, double after, double variance)
{
	double change = fabs(after - before);
	bool is_real = change > QUANTILE * sqrt(variance) &&
		       change > LEAST_SHARE * fmax(before, after);
	return (struct diff_value){before, after, is_real};
}
