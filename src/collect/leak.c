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

/* A line that has allocated in so many pieces of work is one of a server: it leaks while somebody
 * asks, however long nobody does afterwards or in between. */
#define LEAK_MIN_WORKS 8u

/* The time in which a line may grow: the clock's, or what the program has allocated. */
struct span {
	double from_s, until_s;
	const struct series *volume; /* NULL: by the clock */
	double from_mb, until_mb;
};

/* When this part (0 to 1) of it was over. */
static double time_at(const struct span *span, double part)
{
	if (span->volume == NULL)
		return span->from_s + (span->until_s - span->from_s) * part;
	double wanted_mb = span->from_mb + (span->until_mb - span->from_mb) * part;
	for (uint32_t i = 0; i < span->volume->count; i++) {
		const struct series_point *point = &span->volume->points[i];
		if ((double)point->value >= wanted_mb)
			return fmin(fmax((double)point->time_s, span->from_s), span->until_s);
	}
	return span->until_s;
}

/* What was allocated until then, in MB. */
static double volume_until(const struct series *volume, double until_s)
{
	double mb = 0;
	for (uint32_t i = 0; i < volume->count && (double)volume->points[i].time_s <= until_s; i++)
		mb = (double)volume->points[i].value;
	return mb;
}

/* The same time by what was allocated in it. */
static struct span by_work(const struct span *clock, const struct series *volume)
{
	struct span span = *clock;
	span.volume = volume;
	span.from_mb = volume_until(volume, clock->from_s);
	span.until_mb = volume_until(volume, clock->until_s);
	span.until_s = time_at(&span, 1);
	return span;
}

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
static bool has_grown_lately(const struct site *site, double kept_bytes, const struct span *span)
{
	const struct series *series = &site->series;
	double enough = kept_bytes / MB * (1 - LEAK_LATELY);
	double share = fmax(1.0 / 8, LEAK_LATELY_SAMPLES / (double)(lasting_samples(site) + 1));
	double lately_s = time_at(span, 1 - share), before = 0;
	for (uint32_t i = 0; i < series->count; i++) {
		const struct series_point *point = &series->points[i];
		if ((double)point->time_s > span->until_s - (double)series->stretch_s)
			break;
		if ((double)point->time_s >= lately_s &&
		    fmin(before, (double)point->least) < enough)
			return true;
		before = (double)point->last;
	}
	return before < enough;
}

static bool is_long_enough(const struct series *series, const struct span *span)
{
	return (span->until_s - span->from_s) / 4 >= LEAK_QUARTER_POINTS * (double)series->stretch_s;
}

/* What is built once and kept is no leak, nor what is filled and emptied again
 * and again: a leak goes on growing, and ends at its most; or less, as far as that is chance.  A
 * line that leaks can make many temporaries as well, so what it keeps is the least that is live
 * for a while. */
static bool is_growing(const struct site *site, double kept_bytes, const struct span *span)
{
	double before = 0;
	for (int quarter = 1; quarter <= 4; quarter++) {
		double now = quarter == 4 ? kept_bytes / MB
					  : least_in(&site->series, time_at(span, quarter / 4.0),
						     time_at(span, quarter / 4.0 + 1.0 / 8));
		if (quarter > 1 && (now < before * LEAK_STEP || now <= 0))
			return false;
		before = now;
	}
	return kept_bytes >= (most_ever(&site->series) * MB - peak_chance(&site->peak)) * LEAK_HELD;
}

static bool grows_until_the_end(const struct site *site, double kept_bytes, const struct span *span)
{
	return span->until_s > span->from_s && is_long_enough(&site->series, span) &&
	       is_growing(site, kept_bytes, span) && has_grown_lately(site, kept_bytes, span);
}

double leak_likelihood(const struct heap *heap, const struct site *site, double end_s,
		       double *bytes_per_s)
{
	double kept = site->live_bytes + site->ended_bytes;
	struct span span = {.from_s = site->first_s, .until_s = end_s};
	*bytes_per_s = 0;
	if (site->first_s < 0 || kept < LEAK_MIN_BYTES || site->returns < LEAK_MIN_RETURNS)
		return 0;
	bool is_leak = grows_until_the_end(site, kept, &span);
	if (!is_leak && site->works >= LEAK_MIN_WORKS) {
		span = by_work(&span, &heap->volume);
		is_leak = grows_until_the_end(site, kept, &span);
	}
	if (!is_leak)
		return 0;
	*bytes_per_s = kept / (span.until_s - span.from_s);
	return 1 - (double)(site->freed + 1) / (double)(lasting_samples(site) + 2);
}
