/* gpu_sample.c - GPUs seen from outside, where the agent cannot tell of them.
 *
 * Some ten times a second NVML is asked how busy each device was lately (its
 * own window is a sixth of a second to a second) and how much memory is taken.
 * The busy time goes to the line at which the program's main thread was last
 * seen.  It is what other line profilers do, and no more than an estimate. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/nvml.h"
#include "remote/maps.h"

#define SAMPLE_NS 100000000u
#define LOOK_NS 1000000000u
#define GAP_MAX_NS 1000000000u /* a longer pause is not ours to tell of */

bool gpu_is_foreign(void)
{
	const char *path = getenv(CONTROL_GPU_ENV);
	/* Ours is there when whoever started us is profiled, too. */
	return path != NULL && strstr(path, "/libheatline-agent") == NULL;
}

/* A process that loads CUDA beside a profiler of its own. */
static void look_for_cuda(struct collector *collector, struct process *process, uint64_t now_ns)
{
	struct maps maps;
	if (process->gpu.is_off || now_ns - process->gpu.look_ns < LOOK_NS)
		return;
	process->gpu.look_ns = now_ns;
	if (maps_read(&maps, process->pid) != 0)
		return;
	for (uint32_t i = 0; i < maps.ranges.count && !process->gpu.is_off; i++) {
		const char *name = strrchr(maps.ranges.items[i].path, '/');
		process->gpu.is_off = name != NULL && text_starts_with(name, "/libcuda.so");
	}
	maps_fini(&maps);
	if (process->gpu.is_off)
		collector->gpu.note = intern_text(
			collector->strings,
			"another profiler is attached to it (CUDA_INJECTION64_PATH is set)");
}

/* The process whose line gets what the devices do; NULL: nobody needs them sampled. */
static struct process *find_user(struct collector *collector, uint64_t now_ns)
{
	struct process *user = NULL;
	for (uint32_t i = 0; i < collector->processes.count; i++) {
		struct process *process = collector->processes.items[i];
		if (process->ring == NULL || process->state != RING_ACTIVE)
			continue;
		if (collector->gpu.is_foreign)
			look_for_cuda(collector, process, now_ns);
		if (process->gpu.is_off)
			user = process;
	}
	return user;
}

static bool open_nvml(struct gpu *gpu)
{
	struct err err;
	if (gpu->nvml == NULL && !gpu->is_nvml_refused) {
		gpu->nvml = nvml_open(&err);
		gpu->is_nvml_refused = gpu->nvml == NULL;
	}
	return gpu->nvml != NULL;
}

/* What the run's processes have of a device's memory; where the driver knows
 * them by other numbers (containers), all that is in use. */
static double taken_of(const struct collector *collector, uint32_t device, double used_bytes)
{
	double sum = 0;
	bool is_listed = false;
	for (uint32_t i = 0; i < collector->processes.count; i++) {
		double bytes;
		const struct process *process = collector->processes.items[i];
		if (process->ring != NULL &&
		    nvml_process_memory(collector->gpu.nvml, device, process->pid, &bytes)) {
			is_listed = true;
			sum += bytes;
		}
	}
	return is_listed ? sum : used_bytes;
}

static uint32_t card_of(struct collector *collector, uint32_t device)
{
	struct gpu *gpu = &collector->gpu;
	char name[96], bus[16];
	double memory_bytes;
	nvml_describe(gpu->nvml, device, name, bus, &memory_bytes);
	uint32_t index = gpu_card_index(gpu, collector->strings, bus, name);
	gpu->cards.items[index].memory_bytes = memory_bytes;
	return index;
}

static void sample(struct collector *collector, struct process *user, uint64_t now_ns, uint64_t ns)
{
	struct gpu *gpu = &collector->gpu;
	uint64_t at_ns = now_ns - collector->start_ns;
	double most = 0, busy, used_bytes, taken_bytes = 0;
	for (uint32_t i = 0; i < nvml_count(gpu->nvml); i++) {
		if (!nvml_sample(gpu->nvml, i, &busy, &used_bytes))
			continue;
		uint32_t index = card_of(collector, i);
		struct gpu_card *card = &gpu->cards.items[index];
		double taken = taken_of(collector, i, used_bytes);
		gpu_busy_add(gpu, index, (struct gpu_span){at_ns - ns, at_ns, (uint64_t)(busy * (double)ns)});
		card->peak_bytes = taken > card->peak_bytes ? taken : card->peak_bytes;
		taken_bytes += taken;
		most = busy > most ? busy : most;
	}
	double busy_ns = most * (double)ns;
	struct gpu_node *node = gpu_node_of(gpu, user->main_node);
	node->sampled_s += busy_ns * 1e-9;
	node->figures.memory_byte_s += busy_ns * 1e-9 * taken_bytes;
	if (taken_bytes > node->figures.peak_bytes)
		node->figures.peak_bytes = taken_bytes;
	gpu->is_sampled = true;
	gpu->taken_bytes = taken_bytes;
	gpu_note_memory(gpu, at_ns);
}

void gpu_round(struct collector *collector)
{
	struct gpu *gpu = &collector->gpu;
	uint64_t now_ns = clock_monotonic_ns();
	if (!collector->options->has_gpu || collector->is_off || now_ns - gpu->sampled_ns < SAMPLE_NS)
		return;
	uint64_t ns = now_ns - gpu->sampled_ns;
	gpu->sampled_ns = now_ns;
	struct process *user = find_user(collector, now_ns);
	if (user != NULL && ns < GAP_MAX_NS && open_nvml(gpu))
		sample(collector, user, now_ns, ns);
}
