/* build_memory.c - the memory figures of a profile, from the heap's sites.
 *
 * What was allocated, kept and copied is booked with the stacks (build.c); here
 * comes what only the sites know: the Python share, peaks, averages, timelines,
 * leaks, and the footprint of the whole program. */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/units.h"
#include "collect/build.h"
#include "collect/builder.h"
#include "collect/chosen.h"
#include "collect/collector.h"
#include "collect/leak.h"
#include "profile/book.h"
#include "profile/model.h"

/* As in Scalene: less likely ones are not worth an accusation. */
#define LEAK_LIKELIHOOD_MIN 0.95

/* Missing ends of allocations that are worth a word: they make what is kept,
 * and the peak, larger than it was. */
#define LOST_SHARE_WORTH_TELLING 0.001

static struct memory memory_of(const struct heap *heap, const struct site *site, double end_s)
{
	return (struct memory){
		.python_bytes = site->python_bytes,
		.alloc_count = site->alloc_count,
		.peak_bytes = peak_bytes(&site->peak),
		.average_bytes = heap_average(site, end_s),
		.at_peak_bytes = heap_site_at_peak(heap, site),
	};
}

/* The points, and the value now where it is newer than the last of them; the
 * caller frees.  What lies above the peak is chance. */
static struct memory_point *points_of(const struct series *series, double peak, uint32_t *count)
{
	const struct series_point *latest = &series->latest;
	bool has_latest = series->count > 0 &&
			  latest->time_s > series->points[series->count - 1].time_s;
	*count = series->count + (has_latest ? 1 : 0);
	struct memory_point *points = mem_zalloc(*count, sizeof(*points));
	for (uint32_t i = 0; i < *count; i++) {
		const struct series_point *point = i < series->count ? &series->points[i] : latest;
		points[i] = (struct memory_point){
			.time_s = (double)point->time_s,
			.live_bytes = fmin((double)point->value * MB, peak),
			.resident_bytes = (double)point->second * MB,
		};
	}
	return points;
}

static void find_leak(const struct heap *heap, const struct site *site, double end_s,
		      struct memory *memory)
{
	double bytes_per_s;
	double likelihood = leak_likelihood(heap, site, end_s, &bytes_per_s);
	if (likelihood < LEAK_LIKELIHOOD_MIN)
		return;
	memory->leak_likelihood = likelihood;
	memory->leak_bytes_per_s = bytes_per_s;
}

static void build_site(struct collector *collector, struct profile *profile,
		       const struct site *site, double program_end_s, double end_s)
{
	if (!chosen_has_line(collector, site->filename, site->line))
		return;
	uint32_t file = profile_file_index(profile, site->filename, true);
	struct memory memory = memory_of(&collector->heap, site, end_s);
	if (site->function != NULL) {
		profile_memory_function(profile, file, site->function, site->line)->memory = memory;
		return;
	}
	if (collector->options->has_leak_detector)
		find_leak(&collector->heap, site, program_end_s, &memory);
	struct profile_line *line = profile_memory_line(profile, file, site->line);
	line->memory = memory;
	line->memory_points =
		points_of(&site->series, memory.peak_bytes, &line->memory_point_count);
}

static void build_whole(const struct heap *heap, struct profile *profile, double end_s)
{
	double peak = heap_peak(heap);
	profile->has_memory = true;
	profile->memory = (struct memory){
		.python_bytes = heap->python_bytes,
		.alloc_count = heap->alloc_count,
		.peak_bytes = peak,
		.average_bytes = heap_average_all(heap, end_s),
		.at_peak_bytes = peak,
	};
	profile->peak_s = heap->peak_s;
	if (heap->most_bytes > 0)
		profile->peak_python_bytes = heap->most_python_bytes / heap->most_bytes * peak;
	profile->peak_resident_bytes = heap->peak_rss_bytes;
	profile->alloc_samples = heap->samples;
	profile->footprint = points_of(&heap->footprint, peak, &profile->footprint_count);
}

static uint64_t count_lost(const struct collector *collector, enum lost_reason reason)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < collector->processes.count; i++) {
		const struct process *process = collector->processes.items[i];
		count += process->lost[reason];
		if (process->ring != NULL)
			count += atomic_load(&process->ring->lost[reason]);
	}
	return count;
}

/* Allocated, but no sample stands for them. */
static double count_owed(const struct collector *collector)
{
	double bytes = 0;
	for (uint32_t i = 0; i < collector->processes.count; i++) {
		const struct process *process = collector->processes.items[i];
		bytes += (double)process->owed_bytes;
		if (process->ring != NULL)
			bytes += (double)atomic_load(&process->ring->owed_bytes);
	}
	return bytes;
}

static void warn_share(struct profile *profile, double part, double whole, const char *what)
{
	char text[256];
	double share = whole > 0 ? part / whole : 0;
	if (share < LOST_SHARE_WORTH_TELLING)
		return;
	snprintf(text, sizeof(text), "%.1f %% of %s", 100 * share, what);
	build_warn(profile, text);
}

static void warn_of_gaps(const struct collector *collector, struct profile *profile)
{
	const struct heap *heap = &collector->heap;
	double samples = (double)heap->samples, owed = count_owed(collector);
	warn_share(profile, (double)heap->untracked, samples,
		   "the sampled allocations are counted as allocated, but could not be followed to their "
		   "end: what lines keep, and the peak, are larger than shown");
	warn_share(profile, (double)count_lost(collector, LOST_FREES), samples,
		   "the sampled allocations ended without a note: what lines keep, and the peak, are "
		   "smaller than shown");
	warn_share(profile, owed, heap->alloc_bytes + owed,
		   "what was allocated could not be noted: lines allocated more, and may have held more, "
		   "than is shown");
}

void build_memory(struct collector *collector, struct profile *profile)
{
	struct heap *heap = &collector->heap;
	uint64_t end_ns = collector->end_ns != 0 ? collector->end_ns : clock_monotonic_ns();
	double end_s = (double)(end_ns - collector->start_ns) * 1e-9;
	/* The interpreter's own end is no part of a line's time. */
	double program_end_s = heap_program_end(heap, collector->processes.count, end_s);
	for (uint32_t i = 0; i < heap->sites.count; i++) {
		if (i != SITE_NONE)
			build_site(collector, profile, &heap->sites.items[i], program_end_s, end_s);
	}
	build_whole(heap, profile, end_s);
	const struct tree *tree = &collector->tree;
	if (tree->nodes[TREE_ROOT].memory != 0)
		profile->threads_alloc_bytes =
			(double)tree->memory.items[tree->nodes[TREE_ROOT].memory].alloc_bytes;
	warn_of_gaps(collector, profile);
}
