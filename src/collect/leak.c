/* leak.c - see leak.h. */
#include "collect/leak.h"

#include <math.h>
#include <stdbool.h>

#include "base/units.h"

/* A leak grows by this factor from each quarter of its time to the next, and
 * holds this part of its most at the end. */
#define LEAK_STEP 1.08
#define LEAK_HELD 0.9
#define LEAK_MIN_BYTES (512.0 * 1024)

/* One statement that builds something big is no leak, however long it takes: a
 * leak comes back to its line. */
#define LEAK_MIN_RETURNS 8u

/* A quarter of its time has at least so many points, or it is too short to be judged by. */
#define LEAK_QUARTER_POINTS 8.0

/* It has grown by this part of what is kept in the last eighth of its time, or, where
 * samples are few, in the time that so many of them take. */
#define LEAK_LATELY 0.03
#define LEAK_LATELY_SAMPLES 3.0

/* The least that was live in that time, or where nothing changed in it before, in MB. */
static double least_in(const struct series *series, double from_s, double until_s)
{
	double least = -1, before = 0;
	for (uint32_t i = 0; i < series->count && (double)series->points[i].time_s <= until_s; i++) {
		const struct series_point *point = &series->points[i];
		before = (double)point->last;
		if ((double)point->time_s >= from_s)
			least = least < 0 ? (double)point->least : fmin(least, (double)point->least);
	}
	return least < 0 ? before : least;
}

static double most_ever(const struct series *series)
{
	double most = 0;
	for (uint32_t i = 0; i < series->count; i++)
		most = fmax(most, (double)series->points[i].value);
	return most;
}

static uint64_t lasting_samples(const struct site *site)
{
	return site->samples - site->brief - site->moved;
}

/* Whether it held less a while ago.  Left out is what a point has that reaches beyond the
 * end, where all is given back. */
static bool has_grown_lately(const struct site *site, double kept_bytes, double span_s)
{
	const struct series *series = &site->series;
	double end_s = site->first_s + span_s, enough = kept_bytes / MB * (1 - LEAK_LATELY);
	double share = fmax(1.0 / 8, LEAK_LATELY_SAMPLES / (double)(lasting_samples(site) + 1));
	double before = 0;
	for (uint32_t i = 0; i < series->count; i++) {
		const struct series_point *point = &series->points[i];
		if ((double)point->time_s > end_s - (double)series->stretch_s)
			break;
		if ((double)point->time_s >= end_s - span_s * share &&
		    fmin(before, (double)point->least) < enough)
			return true;
		before = (double)point->last;
	}
	return before < enough;
}

static bool is_long_enough(const struct series *series, double span_s)
{
	return span_s / 4 >= LEAK_QUARTER_POINTS * (double)series->stretch_s;
}

/* What is built once and kept is no leak, nor what is filled and emptied again
 * and again: a leak goes on growing, and ends at its most; or less, as far as that is chance.  A
 * line that leaks can make many temporaries as well, so what it keeps is the least that is live
 * for a while. */
static bool is_growing(const struct site *site, double kept_bytes, double span_s)
{
	double before = 0;
	for (int quarter = 1; quarter <= 4; quarter++) {
		double from_s = site->first_s + span_s * quarter / 4;
		double now = quarter == 4 ? kept_bytes / MB
					  : least_in(&site->series, from_s, from_s + span_s / 8);
		if (quarter > 1 && (now < before * LEAK_STEP || now <= 0))
			return false;
		before = now;
	}
	return kept_bytes >= (most_ever(&site->series) * MB - peak_chance(&site->peak)) * LEAK_HELD;
}

double leak_likelihood(const struct site *site, double end_s, double *bytes_per_s)
{
	double kept = site->live_bytes + site->ended_bytes;
	double span_s = end_s - site->first_s;
	*bytes_per_s = 0;
	if (site->first_s < 0 || span_s <= 0 || kept < LEAK_MIN_BYTES ||
	    site->returns < LEAK_MIN_RETURNS || !is_long_enough(&site->series, span_s) ||
	    !is_growing(site, kept, span_s) || !has_grown_lately(site, kept, span_s))
		return 0;
	*bytes_per_s = kept / span_s;
	return 1 - (double)(site->freed + 1) / (double)(lasting_samples(site) + 2);
}
