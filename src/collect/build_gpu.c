/* build_gpu.c - what GPUs did, into a profile. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/units.h"
#include "collect/build.h"
#include "collect/collector.h"

const struct gpu_node *build_gpu_node(const struct collector *collector, uint32_t node)
{
	const struct gpu *gpu = &collector->gpu;
	const uint64_t *index = map_get(&gpu->node_index, node);
	return index == NULL ? NULL : &gpu->nodes.items[*index];
}

double build_gpu_seconds(const struct gpu_node *node)
{
	return node->figures.kernel_s + node->figures.copy_s + node->sampled_s;
}

static void build_devices(const struct gpu *gpu, struct profile *profile)
{
	struct profile_gpu *out = &profile->gpu;
	out->devices = mem_zalloc(gpu->cards.count, sizeof(*out->devices));
	for (uint32_t i = 0; i < gpu->cards.count; i++) {
		const struct gpu_card *card = &gpu->cards.items[i];
		out->devices[out->device_count++] = (struct gpu_device){
			.name = profile_intern(profile, card->name),
			.memory_bytes = card->memory_bytes,
			.busy_s = gpu_busy_card_s(gpu, card),
			.peak_bytes = card->peak_bytes,
		};
	}
}

static void build_bins(const struct gpu *gpu, struct profile_gpu *out)
{
	struct gpu_busy whole;
	uint64_t slots = gpu->bin_ns / gpu->slot_ns;
	out->bin_s = NS * (double)gpu->bin_ns;
	out->bins = gpu->bins;
	out->utilisation = mem_zalloc(gpu->bins, sizeof(*out->utilisation));
	out->memory_bytes = mem_zalloc(gpu->bins, sizeof(*out->memory_bytes));
	gpu_busy_whole(gpu, &whole);
	for (uint32_t i = 0; i < whole.count; i++) {
		out->busy_s += NS * (double)whole.slots[i];
		if (i / slots < gpu->bins)
			out->utilisation[i / slots] +=
				100 * (double)whole.slots[i] / (double)gpu->bin_ns;
	}
	free(whole.slots);
	for (uint32_t i = 0; i < gpu->bins; i++)
		out->memory_bytes[i] = gpu->bin_bytes[i];
}

void build_gpu(struct collector *collector, struct profile *profile)
{
	const struct gpu *gpu = &collector->gpu;
	struct profile_gpu *out = &profile->gpu;
	if (gpu->note != NULL && gpu->cards.count == 0) {
		char text[400];
		snprintf(text, sizeof(text), "the program uses CUDA, but its GPU cannot be measured: %s",
			 gpu->note);
		build_warn(profile, text);
		return;
	}
	if (gpu->cards.count == 0)
		return;
	out->source = profile_intern(profile, gpu->is_sampled ? "nvml" : "cupti");
	out->note = profile_intern(profile, gpu->note);
	build_devices(gpu, profile);
	build_bins(gpu, out);
	double whole_s = NS * (double)(gpu->last_ns - gpu->first_ns);
	out->idle_s = whole_s > out->busy_s ? whole_s - out->busy_s : 0;
}
