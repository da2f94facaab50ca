/* gpu.c - see gpu.h: the agent's records of GPU work. */
#include "collect/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "collect/collector.h"
#include "collect/nvml.h"
#include "collect/stacks.h"

#define SITES_MAX (1u << 20)
#define CARDS_MAX GPU_MAX_DEVICES
#define FIRST_BIN_NS 5000000u
#define FIRST_SLOT_NS (FIRST_BIN_NS / 4)

/* No single figure of a record is larger; a larger one is damage. */
#define NS_MAX (1ull << 56)
#define BYTES_MAX (1ull << 56)

void gpu_init(struct gpu *gpu)
{
	map_init(&gpu->node_index);
	gpu->bin_ns = FIRST_BIN_NS;
	gpu->slot_ns = FIRST_SLOT_NS;
}

void gpu_fini(struct gpu *gpu)
{
	for (uint32_t i = 0; i < gpu->cards.count; i++)
		vec_free(&gpu->cards.items[i].busy);
	vec_free(&gpu->cards);
	vec_free(&gpu->nodes);
	vec_free(&gpu->host);
	map_fini(&gpu->node_index);
	nvml_close(gpu->nvml);
}

/* --- state and devices --- */

bool gpu_on_state(struct collector *collector, struct process *process,
		  const struct record_gpu_state *record)
{
	struct gpu *gpu = &collector->gpu;
	struct gpu_user *user = &process->gpu;
	char text[sizeof(record->text)];
	memcpy(text, record->text, sizeof(text));
	text[sizeof(text) - 1] = '\0';
	user->is_on = record->state == GPU_STATE_ON;
	user->is_off = !user->is_on;
	if (user->is_on && process->threads.count > 0)
		process->threads.items[0]->uses_gpu = true;
	if (user->is_off && gpu->note == NULL)
		gpu->note = intern_text(collector->strings, text);
	return true;
}

uint32_t gpu_card_index(struct gpu *gpu, struct intern *strings, const char *bus,
			const char *name)
{
	const char *known_bus = intern_text(strings, bus);
	const char *known_name = intern_text(strings, *name != '\0' ? name : "GPU");
	for (uint32_t i = 0; i < gpu->cards.count; i++) {
		const struct gpu_card *card = &gpu->cards.items[i];
		if (card->bus == known_bus && (*bus != '\0' || card->name == known_name))
			return i;
	}
	if (gpu->cards.count == CARDS_MAX)
		return 0;
	vec_push(&gpu->cards, ((struct gpu_card){.name = known_name, .bus = known_bus}));
	return gpu->cards.count - 1;
}

bool gpu_on_device(struct collector *collector, struct process *process,
		   const struct record_gpu_device *record)
{
	struct gpu *gpu = &collector->gpu;
	char name[sizeof(record->name)], bus[sizeof(record->bus)];
	if (record->device >= GPU_MAX_DEVICES || record->memory_bytes > BYTES_MAX)
		return false;
	memcpy(name, record->name, sizeof(name));
	memcpy(bus, record->bus, sizeof(bus));
	name[sizeof(name) - 1] = '\0';
	bus[sizeof(bus) - 1] = '\0';
	uint32_t index = gpu_card_index(gpu, collector->strings, bus, name);
	gpu->cards.items[index].memory_bytes = (double)record->memory_bytes;
	process->gpu.cards[record->device] = index + 1;
	return true;
}

/* --- sites and work --- */

bool gpu_on_site(struct collector *collector, struct process *process,
		 const struct record_gpu_site *record)
{
	struct gpu_user *user = &process->gpu;
	uint64_t need = sizeof(*record) + (uint64_t)record->count * sizeof(record->frames[0]);
	if (record->count > WALK_MAX_FRAMES || need > record->head.size ||
	    !stacks_translate(collector, process, record->frames, record->count))
		return false;
	/* More than any program has; then its work has no line. */
	if (record->site >= SITES_MAX)
		return true;
	while (user->sites.count <= record->site)
		vec_push(&user->sites, 0);
	user->sites.items[record->site] = stacks_node(collector, record->count);
	return true;
}

static uint32_t node_of(const struct process *process, uint32_t site)
{
	return site < process->gpu.sites.count ? process->gpu.sites.items[site] : TREE_ROOT;
}

struct gpu_node *gpu_node_of(struct gpu *gpu, uint32_t node)
{
	bool is_new;
	uint64_t *index = map_put(&gpu->node_index, node, &is_new);
	if (is_new) {
		*index = gpu->nodes.count;
		vec_push(&gpu->nodes, ((struct gpu_node){.node = node}));
	}
	return &gpu->nodes.items[*index];
}

static bool is_sound(const struct record_gpu_work *record)
{
	return record->kernel_ns < NS_MAX && record->copy_ns < NS_MAX && record->wait_ns < NS_MAX &&
	       record->copied_bytes < BYTES_MAX && record->to_device_bytes < BYTES_MAX &&
	       record->from_device_bytes < BYTES_MAX && record->alloc_bytes < BYTES_MAX &&
	       record->memory_peak_bytes < BYTES_MAX && record->device < GPU_MAX_DEVICES;
}

bool gpu_on_work(struct collector *collector, struct process *process,
		 const struct record_gpu_work *record)
{
	if (!is_sound(record))
		return false;
	uint32_t node = node_of(process, record->site);
	struct gpu_figures part = {
		.kernel_s = NS * (double)record->kernel_ns,
		.copy_s = NS * (double)record->copy_ns,
		.wait_s = NS * (double)record->wait_ns,
		.launches = record->launches,
		.waits = record->waits,
		.copied_bytes = (double)record->copied_bytes,
		.to_device_bytes = (double)record->to_device_bytes,
		.from_device_bytes = (double)record->from_device_bytes,
		.alloc_bytes = (double)record->alloc_bytes,
		.memory_byte_s = NS * MB * (double)record->memory_mib_ns,
		.peak_bytes = (double)record->memory_peak_bytes,
	};
	gpu_figures_add(&gpu_node_of(&collector->gpu, node)->figures, &part);
	return true;
}

/* --- over time --- */

static void join_bins(struct gpu *gpu)
{
	for (uint32_t i = 0; i < GPU_MAX_BINS; i++) {
		uint32_t first = 2 * i, second = 2 * i + 1;
		bool is_there = second < GPU_MAX_BINS;
		gpu->bin_bytes[i] = !is_there ? 0
				    : gpu->bin_bytes[first] > gpu->bin_bytes[second]
					    ? gpu->bin_bytes[first]
					    : gpu->bin_bytes[second];
	}
	gpu->bins = (gpu->bins + 1) / 2;
	gpu->bin_ns *= 2;
}

static uint32_t bin_at(struct gpu *gpu, uint64_t at_ns)
{
	while (at_ns / gpu->bin_ns >= GPU_MAX_BINS)
		join_bins(gpu);
	uint32_t bin = (uint32_t)(at_ns / gpu->bin_ns);
	/* Memory stays taken until somebody says otherwise. */
	for (; gpu->bins <= bin; gpu->bins++)
		gpu->bin_bytes[gpu->bins] = gpu->taken_bytes;
	return bin;
}

void gpu_note_memory(struct gpu *gpu, uint64_t at_ns)
{
	uint32_t bin = bin_at(gpu, at_ns);
	if (gpu->taken_bytes > gpu->bin_bytes[bin])
		gpu->bin_bytes[bin] = gpu->taken_bytes;
}

static void note_taken(struct gpu *gpu, struct gpu_user *user, uint32_t device,
		       struct gpu_card *card, double bytes)
{
	double more = bytes - user->taken_bytes[device];
	user->taken_bytes[device] = bytes;
	gpu->taken_bytes += more;
	card->taken_bytes += more;
	if (card->taken_bytes > card->peak_bytes)
		card->peak_bytes = card->taken_bytes;
}

bool gpu_on_span(struct collector *collector, struct process *process,
		 const struct record_gpu_span *record)
{
	struct gpu *gpu = &collector->gpu;
	if (record->device >= GPU_MAX_DEVICES || record->memory_bytes > BYTES_MAX ||
	    record->memory_peak_bytes > BYTES_MAX || record->end_ns < record->time_ns ||
	    record->busy_ns > record->end_ns - record->time_ns ||
	    record->end_ns - collector->start_ns > NS_MAX)
		return false;
	if (process->gpu.cards[record->device] == 0)
		process->gpu.cards[record->device] =
			1 + gpu_card_index(gpu, collector->strings, "", "GPU");
	uint32_t index = process->gpu.cards[record->device] - 1;
	struct gpu_card *card = &gpu->cards.items[index];
	if (record->time_ns < collector->start_ns)
		return true;
	struct gpu_span span = {record->time_ns - collector->start_ns,
				record->end_ns - collector->start_ns, record->busy_ns};
	gpu_note_memory(gpu, span.begin_ns);
	note_taken(gpu, &process->gpu, record->device, card, (double)record->memory_peak_bytes);
	gpu_note_memory(gpu, span.end_ns);
	note_taken(gpu, &process->gpu, record->device, card, (double)record->memory_bytes);
	gpu_busy_add(gpu, index, span);
	return true;
}

void gpu_on_end(struct collector *collector, struct process *process)
{
	struct gpu_user *user = &process->gpu;
	for (uint32_t i = 0; i < GPU_MAX_DEVICES; i++) {
		if (user->cards[i] != 0)
			note_taken(&collector->gpu, user, i,
				   &collector->gpu.cards.items[user->cards[i] - 1], 0);
	}
}
