/* gpu_idle.c - what Python did while no GPU worked.
 *
 * Two streams: spans of GPU work, and the time of main threads by node.  Both
 * come out of order by some tenths of a second, so they are kept until they are
 * a second old and then compared: of a stretch of a main thread's time, what no
 * span covers was idle.  What lies behind the last work is idle only if more work
 * follows, so it waits (a thread that loads data for a minute, then launches). */
#include "collect/gpu.h"

#include <stdlib.h>

#include "base/clock.h"
#include "collect/collector.h"

#define LATE_NS 1000000000u /* how late spans and samples may come */
#define NS 1e-9

void gpu_idle_host(struct collector *collector, uint32_t node, uint64_t end_ns, uint64_t ns)
{
	if (end_ns < ns)
		return;
	vec_push(&collector->gpu.host, ((struct gpu_host_time){end_ns - ns, end_ns, node}));
}

void gpu_idle_span(struct gpu *gpu, struct gpu_span span)
{
	if (span.end_ns > span.begin_ns)
		vec_push(&gpu->new_spans, span);
}

static int compare_spans(const void *a, const void *b)
{
	const struct gpu_span *left = a, *right = b;
	return (left->begin_ns > right->begin_ns) - (left->begin_ns < right->begin_ns);
}

static void commit_tentative(struct gpu *gpu)
{
	for (uint32_t i = 0; gpu->has_tentative && i < gpu->nodes.count; i++) {
		struct gpu_node *node = &gpu->nodes.items[i];
		node->figures.idle_s += NS * (double)node->tentative_ns;
		node->tentative_ns = 0;
	}
	gpu->has_tentative = false;
}

/* Appends a span behind all others; of one that overlaps them (another device,
 * another process) the part that does not. */
static void append_span(struct collector *collector, struct gpu_span span)
{
	struct gpu *gpu = &collector->gpu;
	uint64_t whole_ns = span.end_ns - span.begin_ns;
	if (gpu->first_ns == 0)
		gpu->first_ns = gpu->last_ns = span.begin_ns;
	if (span.end_ns <= gpu->last_ns)
		return;
	if (span.begin_ns < gpu->last_ns)
		span.begin_ns = gpu->last_ns;
	double rest = (double)(span.end_ns - span.begin_ns) / (double)whole_ns;
	span.busy_ns = (uint64_t)((double)span.busy_ns * rest);
	commit_tentative(gpu);
	gpu->busy_ns += span.busy_ns;
	gpu->last_ns = span.end_ns;
	gpu_note_busy(gpu, span.begin_ns - collector->start_ns, span.end_ns - collector->start_ns,
		      span.busy_ns);
	vec_push(&gpu->spans, span);
}

static void take_spans(struct collector *collector, uint64_t until_ns)
{
	struct gpu *gpu = &collector->gpu;
	if (gpu->new_spans.count == 0)
		return;
	uint32_t kept = 0;
	qsort(gpu->new_spans.items, gpu->new_spans.count, sizeof(gpu->new_spans.items[0]),
	      compare_spans);
	for (uint32_t i = 0; i < gpu->new_spans.count; i++) {
		struct gpu_span span = gpu->new_spans.items[i];
		if (span.begin_ns < until_ns)
			append_span(collector, span);
		else
			gpu->new_spans.items[kept++] = span;
	}
	gpu->new_spans.count = kept;
}

/* How long GPUs worked in a stretch of time. */
static double busy_in(const struct gpu *gpu, uint64_t begin_ns, uint64_t end_ns)
{
	double busy_ns = 0;
	for (uint32_t i = gpu->spans.count; i-- > 0 && gpu->spans.items[i].end_ns > begin_ns;) {
		const struct gpu_span *span = &gpu->spans.items[i];
		uint64_t from = span->begin_ns > begin_ns ? span->begin_ns : begin_ns;
		uint64_t to = span->end_ns < end_ns ? span->end_ns : end_ns;
		if (to > from)
			busy_ns += (double)span->busy_ns * (double)(to - from) /
				   (double)(span->end_ns - span->begin_ns);
	}
	return busy_ns;
}

static void settle(struct gpu *gpu, const struct gpu_host_time *time)
{
	uint64_t begin_ns = time->begin_ns > gpu->first_ns ? time->begin_ns : gpu->first_ns;
	if (time->end_ns > gpu->last_ns) {
		uint64_t from = begin_ns > gpu->last_ns ? begin_ns : gpu->last_ns;
		gpu_node_of(gpu, time->node)->tentative_ns += time->end_ns - from;
		gpu->has_tentative = true;
	}
	uint64_t end_ns = time->end_ns < gpu->last_ns ? time->end_ns : gpu->last_ns;
	if (end_ns <= begin_ns)
		return;
	double idle_ns = (double)(end_ns - begin_ns) - busy_in(gpu, begin_ns, end_ns);
	if (idle_ns > 0)
		gpu_node_of(gpu, time->node)->figures.idle_s += NS * idle_ns;
}

static void forget_old_spans(struct gpu *gpu, uint64_t before_ns)
{
	uint32_t gone = 0;
	while (gone < gpu->spans.count && gpu->spans.items[gone].end_ns < before_ns)
		gone++;
	for (uint32_t i = gone; i < gpu->spans.count; i++)
		gpu->spans.items[i - gone] = gpu->spans.items[i];
	gpu->spans.count -= gone;
}

void gpu_idle_settle(struct collector *collector, bool is_end)
{
	struct gpu *gpu = &collector->gpu;
	uint64_t now_ns = clock_monotonic_ns();
	uint64_t until_ns = is_end ? UINT64_MAX : now_ns - LATE_NS;
	uint32_t kept = 0;
	if (gpu->new_spans.count == 0 && gpu->host.count == 0)
		return;
	take_spans(collector, until_ns);
	for (uint32_t i = 0; i < gpu->host.count; i++) {
		struct gpu_host_time time = gpu->host.items[i];
		if (time.end_ns >= until_ns)
			gpu->host.items[kept++] = time;
		else if (gpu->first_ns != 0 && time.end_ns > gpu->first_ns)
			settle(gpu, &time);
	}
	gpu->host.count = kept;
	if (!is_end)
		forget_old_spans(gpu, until_ns - LATE_NS);
}
