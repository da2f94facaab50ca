/* merge_memory.c - the memory of two runs, one after the other. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "profile/merge_parts.h"

/* Each point that stays is the highest of its stretch, so that peaks stay. */
static uint32_t thin_points(struct memory_point *points, uint32_t count, uint32_t most)
{
	if (count <= most)
		return count;
	for (uint32_t i = 0; i < most; i++) {
		uint32_t at = (uint32_t)((uint64_t)i * count / most);
		uint32_t end = (uint32_t)((uint64_t)(i + 1) * count / most);
		for (uint32_t j = at; j < end; j++)
			at = points[j].live_bytes > points[at].live_bytes ? j : at;
		points[i] = points[at];
	}
	return most;
}

struct memory_point *merge_points(struct memory_point *into, uint32_t *count,
				  const struct memory_point *from, uint32_t from_count,
				  double shift_s, uint32_t most)
{
	if (from_count == 0)
		return into;
	into = mem_resize(into, (size_t)*count + from_count, sizeof(*into));
	for (uint32_t i = 0; i < from_count; i++) {
		into[*count] = from[i];
		into[(*count)++].time_s += shift_s;
	}
	*count = thin_points(into, *count, most);
	return into;
}

/* Averages by the time that they are of. */
static double mean(double into, double into_s, double from, double from_s)
{
	double whole_s = into_s + from_s;
	return whole_s > 0 ? (into * into_s + from * from_s) / whole_s : fmax(into, from);
}

void merge_memory(const struct merge *merge, struct memory *into, const struct memory *from)
{
	into->python_bytes += from->python_bytes;
	into->alloc_count += from->alloc_count;
	into->peak_bytes = fmax(into->peak_bytes, from->peak_bytes);
	into->average_bytes = mean(into->average_bytes, merge->shift_s, from->average_bytes,
				   merge->from->elapsed_s);
	if (merge->takes_peak)
		into->at_peak_bytes = from->at_peak_bytes;
	if (from->leak_likelihood > into->leak_likelihood) {
		into->leak_likelihood = from->leak_likelihood;
		into->leak_bytes_per_s = from->leak_bytes_per_s;
	}
}

/* What was live at the lower peak is no part of the higher one. */
static void forget_peak(struct profile *profile)
{
	for (uint32_t i = 0; i < profile->file_count; i++) {
		struct profile_file *file = &profile->files[i];
		for (uint32_t j = 0; j < file->line_count; j++)
			file->lines[j].memory.at_peak_bytes = 0;
		for (uint32_t j = 0; j < file->function_count; j++)
			file->functions[j].memory.at_peak_bytes = 0;
	}
	for (uint32_t i = 0; i < profile->stack_count; i++)
		profile->stacks[i].self.at_peak_bytes = 0;
}

void merge_whole_memory(struct merge *merge)
{
	struct profile *into = merge->into;
	const struct profile *from = merge->from;
	merge->takes_peak = from->memory.peak_bytes > into->memory.peak_bytes;
	if (merge->takes_peak) {
		forget_peak(into);
		into->peak_s = from->peak_s + merge->shift_s;
		into->peak_python_bytes = from->peak_python_bytes;
	}
	merge_memory(merge, &into->memory, &from->memory);
	into->has_memory = into->has_memory || from->has_memory;
	into->peak_resident_bytes = fmax(into->peak_resident_bytes, from->peak_resident_bytes);
	into->threads_alloc_bytes += from->threads_alloc_bytes;
	into->alloc_samples += from->alloc_samples;
	into->footprint = merge_points(into->footprint, &into->footprint_count, from->footprint,
				       from->footprint_count, merge->shift_s,
				       FOOTPRINT_POINTS_MAX);
}
