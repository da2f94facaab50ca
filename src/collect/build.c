/* build.c - make a profile of what has been collected so far. */
#include "collect/build.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/units.h"
#include "collect/builder.h"
#include "collect/chosen.h"
#include "collect/classify.h"
#include "collect/collector.h"
#include "collect/marks.h"
#include "collect/waited.h"
#include "profile/model.h"

/* Standing ready is worth a word from so many seconds and such a part of the
 * CPU time on. */
#define DELAY_WORTH_TELLING_S 0.3
#define DELAY_WORTH_TELLING 0.15

#define UNMET_WORTH_TELLING_S 0.1

static uint32_t file_of(struct builder *builder, uint32_t code_index)
{
	if (builder->files[code_index] == 0) {
		const struct code *code = &builder->collector->codes.items[code_index];
		bool in_scope = scope_file(&builder->collector->scope, code->filename);
		uint32_t file = profile_file_index(builder->profile, code->filename, in_scope);
		if (in_scope && !chosen_fill(builder->collector, code->filename,
					     &builder->profile->files[file]))
			builder->profile->files[file].in_scope = false;
		builder->files[code_index] = 1 + file;
	}
	return builder->files[code_index] - 1;
}

static struct book_frame resolve_frame(struct builder *builder, struct tree_frame frame)
{
	struct code *code = &builder->collector->codes.items[frame.code];
	struct py_location where = codes_locate(code, frame.offset);
	return (struct book_frame){
		.file = file_of(builder, frame.code),
		.function = profile_intern(builder->profile, code->qualname),
		.first_line = code->first_line,
		.last_line = codes_last_line(code),
		.line = where.line > 0 ? (uint32_t)where.line : code->first_line,
		.line_end = where.end_line,
		.column = where.column,
		.column_end = where.end_column,
		.is_nested = (code->flags & PY_CO_NESTED) != 0,
	};
}

/* Most places are on many stacks; each is resolved once. */
static const struct book_frame *frame_of(struct builder *builder, uint32_t place)
{
	struct book_frame *known = &builder->known[place];
	if (known->function == NULL)
		*known = resolve_frame(builder, builder->collector->tree.places.items[place]);
	return known;
}

static struct metrics metrics_of(const struct tree_weights *weights,
				 const struct tree_memory *memory, bool is_open_native)
{
	struct metrics metrics = {
		.python_s = NS * (double)(weights->python_ns + (is_open_native ? 0 : weights->open_ns)),
		.native_s = NS * (double)(weights->native_ns + (is_open_native ? weights->open_ns : 0)),
		.system_s = NS * (double)weights->system_ns,
		.wait_s = NS * (double)weights->wait_ns,
		.idle_s = NS * (double)weights->idle_ns,
		.cpu_s = NS * (double)weights->cpu_ns,
		.gil_s = NS * (double)weights->gil_ns,
		.gc_s = NS * (double)weights->gc_ns,
		.samples = weights->samples,
		.alloc_bytes = (double)memory->alloc_bytes,
		.kept_bytes = (double)memory->live_bytes,
		.copy_bytes = (double)memory->copy_bytes,
	};
	/* One instruction waits for one thing, as a rule. */
	metrics.waits_s[weights->wait_kind] = (float)(metrics.wait_s + metrics.idle_s - metrics.gil_s);
	return metrics;
}

static bool has_figures(const struct tree_weights *self, const struct tree_memory *memory,
			const struct gpu_node *gpu)
{
	return gpu != NULL || self->samples != 0 || self->wait_ns != 0 || self->idle_ns != 0 ||
	       memory->alloc_bytes != 0 || memory->copy_bytes != 0;
}

/* What the profile has of a node is found below what it has of its caller, and
 * kept: the stacks of a deep recursion are looked up by one frame each. */
uint32_t builder_find_node(struct builder *builder, uint32_t node)
{
	const struct tree_node *nodes = builder->collector->tree.nodes;
	struct built_node *built = builder->nodes;
	uint32_t at = node, depth = 0;
	built[TREE_ROOT].is_known = true;
	for (; !built[at].is_known; at = nodes[at].parent)
		builder->way[depth++] = at;
	while (depth > 0) {
		struct built_node above = built[at];
		at = builder->way[--depth];
		uint32_t child = above.is_folded ? 0
						 : profile_find_frame(builder->profile, above.stack,
								      frame_of(builder, nodes[at].place));
		built[at] = (struct built_node){.stack = child != 0 ? child : above.stack,
						.is_known = true,
						.is_folded = child == 0};
	}
	return built[node].stack;
}

/* frames: the node's stack, outermost first. */
static void book_node(struct builder *builder, uint32_t index, uint32_t depth, bool is_startup)
{
	static const struct tree_memory no_memory;
	struct collector *collector = builder->collector;
	const struct tree *tree = &collector->tree;
	const struct tree_node *node = &tree->nodes[index];
	const struct tree_weights *weights = &tree->weights.items[node->weights];
	const struct tree_memory *memory = node->memory == 0 ? &no_memory
							     : &tree->memory.items[node->memory];
	const struct gpu_node *gpu = build_gpu_node(collector, index);
	if (!has_figures(weights, memory, gpu))
		return;
	struct tree_frame frame = tree_frame(tree, index);
	bool is_native = weights->open_ns != 0 &&
			 classify_is_native(&collector->codes.items[frame.code], frame.offset);
	struct metrics metrics = metrics_of(weights, memory, is_native);
	if (node->memory != 0)
		metrics.at_peak_bytes = heap_node_at_peak(&collector->heap, node->memory);
	if (gpu != NULL)
		metrics.gpu_s = build_gpu_seconds(gpu);
	profile_book(builder->profile, builder->frames, depth, &metrics, is_startup);
	if (gpu != NULL)
		profile_book_gpu(builder->profile, builder->frames, depth, &gpu->figures);
}

/* The first child of each node, and the next one of the same parent, as they came. */
static void list_children(const struct tree *tree, uint32_t *first, uint32_t *next)
{
	for (uint32_t i = tree->count; i-- > 1;) {
		next[i] = first[tree->nodes[i].parent];
		first[tree->nodes[i].parent] = i;
	}
}

/* Goes down and up the tree, so that a stack differs from the one before it by as
 * few frames as can be. */
static void book_nodes(struct builder *builder)
{
	struct collector *collector = builder->collector;
	const struct tree *tree = &collector->tree;
	uint32_t *first = mem_zalloc(tree->count, sizeof(*first));
	uint32_t *next = mem_zalloc(tree->count, sizeof(*next));
	uint32_t node = TREE_ROOT, depth = 0;
	bool is_startup = collector->codes.items[tree_frame(tree, node).code].is_bootstrap;
	list_children(tree, first, next);
	for (;;) {
		book_node(builder, node, depth, is_startup);
		if (first[node] != 0) {
			node = first[node];
		} else {
			for (; node != TREE_ROOT && next[node] == 0; depth--)
				node = tree->nodes[node].parent;
			if (node == TREE_ROOT)
				break;
			node = next[node];
			depth--;
		}
		vec_reserve(builder->frames, builder->frame_room, depth);
		builder->frames[depth++] = *frame_of(builder, tree->nodes[node].place);
		if (depth == 1)
			is_startup = collector->codes.items[tree_frame(tree, node).code].is_bootstrap;
	}
	free(first);
	free(next);
}

static void book_moments(struct builder *builder)
{
	struct collector *collector = builder->collector;
	for (uint32_t i = 0; i < collector->moments.count; i++) {
		const struct moments *moments = &collector->moments.items[i];
		uint32_t place = tree_find_place(
			&collector->tree, (struct tree_frame){moments->code, moments->offset});
		assert(place != 0); /* samples.c has booked it */
		struct book_frame frame = *frame_of(builder, place);
		uint32_t kept = moments->seen < MOMENTS_PER_PLACE ? moments->seen : MOMENTS_PER_PLACE;
		if (!collector->codes.items[moments->code].in_scope)
			continue;
		for (uint32_t t = 0; t < kept; t++)
			profile_book_time(builder->profile, frame.file, frame.line,
					  (double)moments->times_s[t]);
	}
}

/* --- the rest of the profile --- */

static void describe_run(struct collector *collector, struct profile *profile)
{
	const struct run_options *options = collector->options;
	profile->program = profile_intern(profile, options->program);
	profile->entrypoint_dir = profile_intern(profile, options->entrypoint_dir);
	profile->shown_percent = fmin(options->cpu_percent_threshold, 1);
	while (options->args != NULL && options->args[profile->arg_count] != NULL)
		profile->arg_count++;
	profile->args = mem_zalloc(profile->arg_count, sizeof(*profile->args));
	for (uint32_t i = 0; i < profile->arg_count; i++)
		profile->args[i] = profile_intern(profile, options->args[i]);
	profile->start_time_epoch_s = collector->start_epoch_s;
	profile->start_time_perf_s = NS * (double)collector->start_ns;
	uint64_t end_ns = collector->end_ns != 0 ? collector->end_ns : clock_monotonic_ns();
	profile->elapsed_s = NS * (double)(end_ns - collector->start_ns);
	uint64_t off_since_ns = atomic_load(&collector->control->off_since_ns);
	profile->suspended_s = NS * (double)atomic_load(&collector->control->suspended_ns);
	if (collector->is_off && end_ns > off_since_ns)
		profile->suspended_s += NS * (double)(end_ns - off_since_ns);

	struct utsname system;
	char text[300];
	if (uname(&system) == 0) {
		snprintf(text, sizeof(text), "%s, %ld CPUs, %s %s", system.machine,
			 sysconf(_SC_NPROCESSORS_ONLN), system.sysname, system.release);
		profile->machine = profile_intern(profile, text);
	}
}

void build_warn(struct profile *profile, const char *text)
{
	struct profile_quality *quality = &profile->quality;
	quality->warnings = mem_resize(quality->warnings, quality->warning_count + 1,
				       sizeof(*quality->warnings));
	quality->warnings[quality->warning_count++] = profile_intern(profile, text);
}

static void describe_lost(struct collector *collector, struct profile *profile)
{
	uint64_t lost[LOST_REASON_COUNT] = {0};
	struct profile_quality *quality = &profile->quality;
	for (uint32_t i = 0; i < collector->processes.count; i++) {
		const struct process *process = collector->processes.items[i];
		for (uint32_t r = 0; r < LOST_REASON_COUNT; r++) {
			lost[r] += process->lost[r];
			if (process->ring != NULL)
				lost[r] += atomic_load(&process->ring->lost[r]);
		}
	}
	quality->lost = mem_zalloc(LOST_REASON_COUNT, sizeof(*quality->lost));
	for (uint32_t r = 0; r < LOST_REASON_COUNT; r++) {
		if (lost[r] != 0)
			quality->lost[quality->lost_count++] = (struct lost_count){
				profile_intern(profile, lost_reason_text(r)), lost[r]};
	}
}

/* What a program that had the CPUs for itself would not have spent. */
static void warn_of_busy_machine(const struct collector *collector, struct profile *profile)
{
	char text[200];
	double delay_s = NS * (double)collector->delay_ns;
	if (delay_s < DELAY_WORTH_TELLING_S ||
	    delay_s < DELAY_WORTH_TELLING * NS * (double)collector->sampled_cpu_ns)
		return;
	snprintf(text, sizeof(text),
		 "the machine was busy: the program stood ready to run for %.1f s without getting a "
		 "CPU, which counts for the lines that it was about to run",
		 delay_s);
	build_warn(profile, text);
}

/* Threads so short-lived that no look met any of them. */
static void warn_of_unmet(struct profile *profile, uint64_t left_ns, bool is_partial)
{
	char text[200];
	double left_s = NS * (double)left_ns;
	if (is_partial || left_s < UNMET_WORTH_TELLING_S)
		return;
	snprintf(text, sizeof(text),
		 "threads or processes that were gone before they could be looked at have waited for "
		 "%.2f s, nobody knows where: that is on no line",
		 left_s);
	build_warn(profile, text);
}

static void warn_of_unseen(const struct collector *collector, struct profile *profile)
{
	char text[200];
	double unseen_s = NS * (double)collector->unseen_wait_ns;
	if (unseen_s < UNMET_WORTH_TELLING_S)
		return;
	snprintf(text, sizeof(text),
		 "heatline was killed: what was waited until another one went on, %.2f s, is on no line",
		 unseen_s);
	build_warn(profile, text);
}

/* Those that could make no ring. */
static void warn_of_missing_processes(const struct collector *collector, struct profile *profile)
{
	char text[256];
	uint32_t count = atomic_load(&collector->control->rings_refused);
	int error = atomic_load(&collector->control->refused_error);
	const char *who = count == 1 ? "process is" : "processes are";
	if (count == 0)
		return;
	if (error == ENOSPC)
		snprintf(text, sizeof(text),
			 "%u %s missing: there is no room for more in shared memory (%s)", count, who,
			 collector->folder);
	else
		snprintf(text, sizeof(text),
			 "%u %s missing: once a program has changed its user, its root or its limits, "
			 "what it starts cannot report to heatline (%s)", count, who, strerror(error));
	build_warn(profile, text);
}

static void describe_quality(struct collector *collector, struct profile *profile)
{
	struct profile_quality *quality = &profile->quality;
	uint64_t agent_ns = 0;
	uint32_t clocks = 0;
	for (uint32_t i = 0; i < collector->processes.count; i++) {
		const struct process *process = collector->processes.items[i];
		bool is_open = process->ring != NULL;
		clocks |= is_open ? atomic_load(&process->ring->clocks) : process->clocks;
		agent_ns += is_open ? atomic_load(&process->ring->agent_ns) : process->agent_ns;
	}
	quality->samples = collector->cpu_samples;
	quality->wait_samples = collector->wait_samples;
	quality->idle_samples = collector->idle_samples;
	double cpu_s = NS * (double)collector->sampled_cpu_ns;
	if (cpu_s > 0) {
		quality->rate_hz = (double)collector->cpu_samples / cpu_s;
		quality->overhead_percent = 100 * NS * (double)agent_ns / cpu_s;
		quality->collector_percent = 100 * NS * (double)clock_process_cpu_ns() / cpu_s;
	}
	quality->clock = profile_intern(profile, (clocks & CLOCK_PERF) != 0 ? "perf and CPU timers"
									    : "CPU timers");
	describe_lost(collector, profile);
	warn_of_busy_machine(collector, profile);
	if (collector->before != NULL) {
		char text[512];
		snprintf(text, sizeof(text),
			 "the collector was killed in the middle of the run: a part of what it "
			 "measured is only in %s",
			 collector->before);
		build_warn(profile, text);
	}
	if (collector->has_chosen)
		build_warn(profile, "only functions marked with @profile are reported; --profile-all "
				     "reports everything");
	warn_of_missing_processes(collector, profile);
	if (collector->tree.cut != 0)
		build_warn(profile, "the program has more different stacks than are kept: lines are "
				     "complete, some stacks are cut");
	if (collector->cut_samples != 0)
		build_warn(profile, "some stacks are deeper than is followed: their outermost "
				     "callers are missing");
	for (uint32_t i = 0; i < collector->processes.count; i++) {
		const struct process *process = collector->processes.items[i];
		char text[512];
		if (process->note == NULL)
			continue;
		snprintf(text, sizeof(text), "process %d: %s", (int)process->pid, process->note);
		build_warn(profile, text);
	}
}

/* Whether all that was met of "<string>" can be one text. */
static bool has_one_text(const struct builder *builder)
{
	const struct codes *codes = &builder->collector->codes;
	uint32_t texts = 0;
	for (uint32_t i = 0; i < codes->count; i++) {
		const struct code *code = &codes->items[i];
		if (builder->files[i] != 0 && strcmp(code->filename, "<string>") == 0 &&
		    strcmp(code->qualname, "<module>") == 0)
			texts++;
	}
	return texts <= 1;
}

struct profile *build_profile(struct collector *collector, bool is_partial)
{
	bool is_python = false;
	for (uint32_t i = 0; i < collector->processes.count; i++)
		is_python = is_python || collector->processes.items[i]->state == RING_ACTIVE;
	if (!is_python)
		return NULL;

	struct builder builder = {.collector = collector, .profile = profile_new()};
	builder.files = mem_zalloc(collector->codes.count, sizeof(*builder.files));
	builder.known = mem_zalloc(collector->tree.places.count, sizeof(*builder.known));
	builder.profile->is_partial = is_partial;
	warn_of_unmet(builder.profile, waited_settle(collector), is_partial);
	warn_of_unseen(collector, builder.profile);
	describe_run(collector, builder.profile);
	build_processes(collector, builder.profile);
	heap_compose(&collector->heap);
	gpu_idle_settle(collector);
	book_nodes(&builder);
	struct metrics startup = metrics_of(&collector->startup, &collector->tree.memory.items[0],
					    true);
	profile_book(builder.profile, NULL, 0, &startup, true);
	book_moments(&builder);
	builder.nodes = mem_zalloc(collector->tree.count, sizeof(*builder.nodes));
	builder.way = mem_alloc(collector->tree.count * sizeof(*builder.way));
	build_timeline(&builder);
	tasks_build(collector, builder.profile);
	if (collector->options->has_memory)
		build_memory(collector, builder.profile);
	build_gpu(collector, builder.profile);
	describe_quality(collector, builder.profile);
	marks_build(collector, builder.profile);
	if (has_one_text(&builder))
		command_text_give(&collector->text, builder.profile);
	sources_give(&collector->sources, builder.profile);
	profile_finish(builder.profile);
	free(builder.files);
	free(builder.frames);
	free(builder.known);
	free(builder.nodes);
	free(builder.way);
	return builder.profile;
}
