/* diff_noise.c - whether a difference is beyond noise. */
#include "profile/diff_noise.h"

#include <math.h>

#define GPU_NOISE 0.05
#define GPU_LEAST_S 1e-4

#define QUANTILE 1.959964 /* 97.5 % of the normal distribution */
#define LEAST_SHARE 0.01 /* of memory: less is no difference */

/* A whole time is read off clocks: however few samples a run has, its length is known.
 * What remains is what runs of one program differ by. */
#define WHOLE_NOISE 0.05     /* standard deviation, of the time */
#define START_NOISE_S 0.01   /* and of starting and ending */

struct diff_time diff_time_of(const struct metrics *metrics)
{
	return (struct diff_time){metrics_seconds(metrics), metrics->cpu_s + metrics->wait_s};
}

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

struct diff_time diff_time_on_cpu(const struct profile *profile, double seconds)
{
	const struct metrics *sum = &profile->sum;
	double own = ratio(sum->cpu_s, metrics_seconds(sum) - sum->wait_s);
	return (struct diff_time){seconds, seconds * own};
}

struct diff_time diff_time_any(const struct profile *profile, double seconds)
{
	struct diff_time sum = diff_time_of(&profile->sum);
	return (struct diff_time){seconds, seconds * ratio(sum.own_s, sum.seconds)};
}

/* Whether the program took no time that could be measured: it failed at once, say.  One that was
 * never looked at took nobody knows how long. */
static bool took_nothing(const struct profile *profile)
{
	return profile->sum.samples == 0 && !(profile->total_s > 0) && profile->elapsed_s > 0 &&
	       !(profile->suspended_s > 0);
}

/* The 95 % interval of a part of `whole_s`: the score interval of a count of so many of
 * the profile's samples, in seconds. */
static void interval(const struct profile *profile, double whole_s, double part_s, double *low,
		     double *high)
{
	double samples = (double)profile->sum.samples;
	if (took_nothing(profile)) {
		*low = 0;
		*high = QUANTILE * START_NOISE_S;
		return;
	}
	if (!(samples > 0) || !(whole_s > 0)) {
		*low = 0;
		*high = INFINITY; /* nothing is known */
		return;
	}
	double per_sample_s = whole_s / samples;
	double count = part_s / per_sample_s;
	double middle = count + QUANTILE * QUANTILE / 2;
	double half = QUANTILE * sqrt(count + QUANTILE * QUANTILE / 4);
	*low = (middle - half) * per_sample_s;
	*high = (middle + half) * per_sample_s;
}

/* 1: more after, beyond noise; -1: less; 0: the intervals overlap. */
static int compare_parts(const struct profile *const profile[DIFF_SIDES],
			 const double whole_s[DIFF_SIDES], double before_s, double after_s)
{
	double low[DIFF_SIDES], high[DIFF_SIDES];
	interval(profile[DIFF_BEFORE], whole_s[DIFF_BEFORE], before_s, &low[DIFF_BEFORE],
		 &high[DIFF_BEFORE]);
	interval(profile[DIFF_AFTER], whole_s[DIFF_AFTER], after_s, &low[DIFF_AFTER],
		 &high[DIFF_AFTER]);
	return (low[DIFF_AFTER] > high[DIFF_BEFORE]) - (low[DIFF_BEFORE] > high[DIFF_AFTER]);
}

/* Whether the profiles say how much of the time was the program's own. */
static bool knows_own(const struct profile *const profile[DIFF_SIDES])
{
	return profile[DIFF_BEFORE]->sum.cpu_s > 0 && profile[DIFF_AFTER]->sum.cpu_s > 0;
}

struct diff_value diff_share(const struct profile *const profile[DIFF_SIDES],
			     struct diff_time before, struct diff_time after)
{
	double total_s[DIFF_SIDES], own_s[DIFF_SIDES];
	for (int i = 0; i < DIFF_SIDES; i++) {
		total_s[i] = profile[i]->total_s;
		own_s[i] = diff_time_of(&profile[i]->sum).own_s;
	}
	int order = compare_parts(profile, total_s, before.seconds, after.seconds);
	if (order && knows_own(profile) &&
	    compare_parts(profile, own_s, before.own_s, after.own_s) != order)
		order = 0;
	return (struct diff_value){before.seconds, after.seconds, order != 0};
}

/* Of a whole time from run to run. */
static double whole_variance(const struct profile *profile, double whole_s)
{
	double samples = (double)profile->sum.samples;
	if (took_nothing(profile))
		return START_NOISE_S * START_NOISE_S;
	if (!(samples > 0))
		return INFINITY; /* nothing is known */
	double square = whole_s * whole_s;
	return fmin(square / samples, WHOLE_NOISE * WHOLE_NOISE * square + START_NOISE_S * START_NOISE_S);
}

static int compare_wholes(const struct profile *const profile[DIFF_SIDES], double before_s,
			  double after_s)
{
	double noise_s = QUANTILE * sqrt(whole_variance(profile[DIFF_BEFORE], before_s) +
					 whole_variance(profile[DIFF_AFTER], after_s));
	return (after_s - before_s > noise_s) - (before_s - after_s > noise_s);
}

struct diff_value diff_whole(const struct profile *const profile[DIFF_SIDES],
			     struct diff_time before, struct diff_time after)
{
	int order = compare_wholes(profile, before.seconds, after.seconds);
	if (order && knows_own(profile) &&
	    compare_wholes(profile, before.own_s, after.own_s) != order)
		order = 0;
	return (struct diff_value){before.seconds, after.seconds, order != 0};
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

struct diff_value diff_gpu(double before_s, double after_s)
{
	double change_s = fabs(after_s - before_s);
	return (struct diff_value){before_s, after_s,
				   change_s > GPU_LEAST_S &&
					   change_s > GPU_NOISE * fmax(before_s, after_s)};
}
