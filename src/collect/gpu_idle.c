/* gpu_idle.c - what Python did while no GPU worked.
 *
 * What GPUs did may be known only at the end (gpu_busy.c), so the main threads'
 * time is kept until then: a few bytes for each change of the line.  Only what
 * lies between the first work and the last can be idle. */
#include <stdlib.h>

#include "base/units.h"
#include "collect/collector.h"

#define HOST_MAX (1u << 20) /* stretches that are kept */
#define JOIN_NS 1000000u    /* stretches at one line so near to each other are one */

static double idle_in(const struct gpu *gpu, const struct gpu_busy *whole, uint64_t begin_ns,
		      uint64_t end_ns)
{
	double idle_ns = 0;
	begin_ns = begin_ns > gpu->first_ns ? begin_ns : gpu->first_ns;
	end_ns = end_ns < gpu->last_ns ? end_ns : gpu->last_ns;
	for (uint64_t at = begin_ns; at < end_ns;) {
		uint64_t slot = at / gpu->slot_ns, to = (slot + 1) * gpu->slot_ns;
		to = to < end_ns ? to : end_ns;
		float busy_ns = slot < whole->count ? whole->slots[slot] : 0;
		idle_ns += (double)(to - at) * (1 - (double)busy_ns / (double)gpu->slot_ns);
		at = to;
	}
	return idle_ns;
}

/* While a thread is blocked on a GPU, that GPU works.  How long it was blocked is
 * known exactly; when it was seen there only to some milliseconds. */
static void leave_out_waits(struct gpu *gpu)
{
	for (uint32_t i = 0; i < gpu->nodes.count; i++) {
		struct gpu_node *node = &gpu->nodes.items[i];
		double most_s = node->settled_s + node->host_s - node->figures.wait_s;
		most_s = most_s > node->settled_s ? most_s : node->settled_s;
		if (node->figures.wait_s > 0 && node->figures.idle_s > most_s)
			node->figures.idle_s = most_s;
	}
}

void gpu_idle_settle(struct collector *collector)
{
	struct gpu *gpu = &collector->gpu;
	struct gpu_busy whole;
	if (gpu->last_ns == 0)
		return;
	gpu_busy_whole(gpu, &whole);
	for (uint32_t i = 0; i < gpu->nodes.count; i++) {
		gpu->nodes.items[i].figures.idle_s = gpu->nodes.items[i].settled_s;
		gpu->nodes.items[i].host_s = 0;
	}
	for (uint32_t i = 0; i < gpu->host.count; i++) {
		const struct gpu_host_time *time = &gpu->host.items[i];
		double idle_ns = idle_in(gpu, &whole, time->begin_ns, time->end_ns);
		if (idle_ns <= 0)
			continue;
		struct gpu_node *node = gpu_node_of(gpu, time->node);
		node->figures.idle_s += NS * idle_ns;
		node->host_s += NS * (double)(time->end_ns - time->begin_ns);
	}
	free(whole.slots);
	leave_out_waits(gpu);
}

/* Makes room: what has been kept is compared with what is known by now. */
static void settle_for_good(struct collector *collector)
{
	struct gpu *gpu = &collector->gpu;
	gpu_idle_settle(collector);
	for (uint32_t i = 0; i < gpu->nodes.count; i++)
		gpu->nodes.items[i].settled_s = gpu->nodes.items[i].figures.idle_s;
	gpu->host.count = 0;
}

void gpu_idle_host(struct collector *collector, uint32_t node, uint64_t end_ns, uint64_t ns)
{
	struct gpu *gpu = &collector->gpu;
	uint64_t begin_ns = end_ns > ns ? end_ns - ns : 0;
	struct gpu_host_time *last = gpu->host.count == 0 ? NULL
							  : &gpu->host.items[gpu->host.count - 1];
	if (last != NULL && last->node == node && begin_ns >= last->end_ns &&
	    begin_ns - last->end_ns < JOIN_NS) {
		last->end_ns = end_ns;
		return;
	}
	if (gpu->host.count == HOST_MAX)
		settle_for_good(collector);
	vec_push(&gpu->host, ((struct gpu_host_time){begin_ns, end_ns, node}));
}
