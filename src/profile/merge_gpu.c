/* merge_gpu.c - the GPUs of two runs, one after the other. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "profile/merge_parts.h"

/* Devices of one name and size are the same one. */
static void merge_device(struct merge *merge, const struct gpu_device *from)
{
	struct profile_gpu *into = &merge->into->gpu;
	for (uint32_t i = 0; i < into->device_count; i++) {
		struct gpu_device *device = &into->devices[i];
		if (!text_equal(device->name, from->name) ||
		    device->memory_bytes != from->memory_bytes)
			continue;
		device->busy_s += from->busy_s;
		device->peak_bytes = fmax(device->peak_bytes, from->peak_bytes);
		return;
	}
	if (into->device_count == GPU_MAX_DEVICES)
		return;
	into->devices = mem_resize(into->devices, into->device_count + 1, sizeof(*into->devices));
	into->devices[into->device_count] = *from;
	into->devices[into->device_count++].name = profile_intern(merge->into, from->name);
}

/* Adds one run's bins to wider ones; shift_s: when it begins. */
static void add_bins(struct profile_gpu *to, const struct profile_gpu *from, double shift_s)
{
	for (uint32_t i = 0; i < from->bins; i++) {
		double begin_s = shift_s + i * from->bin_s;
		uint32_t at = (uint32_t)(begin_s / to->bin_s);
		if (at >= to->bins)
			at = to->bins - 1;
		to->utilisation[at] = fmin(100, to->utilisation[at] +
							from->utilisation[i] * from->bin_s / to->bin_s);
		to->memory_bytes[at] = fmax(to->memory_bytes[at], from->memory_bytes[i]);
	}
}

static void merge_bins(struct merge *merge)
{
	struct profile_gpu *into = &merge->into->gpu;
	const struct profile_gpu *from = &merge->from->gpu;
	double whole_s = merge->shift_s + merge->from->elapsed_s;
	double bin_s = fmax(fmax(into->bin_s, from->bin_s), whole_s / GPU_MAX_BINS);
	if (!(bin_s > 0))
		return;
	struct profile_gpu wide = {.bin_s = bin_s};
	wide.bins = (uint32_t)fmin(ceil(whole_s / bin_s), GPU_MAX_BINS);
	if (wide.bins == 0)
		return;
	wide.utilisation = mem_zalloc(wide.bins, sizeof(*wide.utilisation));
	wide.memory_bytes = mem_zalloc(wide.bins, sizeof(*wide.memory_bytes));
	add_bins(&wide, into, 0);
	add_bins(&wide, from, merge->shift_s);
	free(into->utilisation);
	free(into->memory_bytes);
	into->bin_s = bin_s;
	into->bins = wide.bins;
	into->utilisation = wide.utilisation;
	into->memory_bytes = wide.memory_bytes;
}

void merge_whole_gpu(struct merge *merge)
{
	struct profile_gpu *into = &merge->into->gpu;
	const struct profile_gpu *from = &merge->from->gpu;
	if (!from->source)
		return;
	/* Sampled figures beside measured ones are still sampled. */
	if (!into->source || text_equal(from->source, "nvml"))
		into->source = profile_intern(merge->into, from->source);
	if (!into->note)
		into->note = profile_intern(merge->into, from->note);
	for (uint32_t i = 0; i < from->device_count; i++)
		merge_device(merge, &from->devices[i]);
	into->busy_s += from->busy_s;
	into->idle_s += from->idle_s;
	gpu_figures_add(&into->sum, &from->sum);
	merge_bins(merge);
}
