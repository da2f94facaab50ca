/* thread_view.c - see thread_view.h. */
#include "profile/thread_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "profile/book.h"
#include "profile/stack_tree.h"

#define MAX_NAMED_BYTES 300u /* of the names that a sentence offers */
#define MAX_DEPTH 100000u

/* Of each node, what threads of one name have: microseconds that count, and idle. */
struct node_weight {
	uint64_t us, idle_us;
};

static bool is_of(const struct profile *profile, const struct stack_part *part, const char *name)
{
	return text_equal(profile->threads[part->part].name, name);
}

/* The caller frees.  NULL when there are none. */
static struct node_weight *thread_weights(const struct profile *profile, const char *name)
{
	uint64_t sum_us = 0;
	struct node_weight *weights = mem_zalloc(profile->stack_count, sizeof(*weights));
	for (uint32_t i = 0; i < profile->thread_stack_count; i++) {
		const struct stack_part *part = &profile->thread_stacks[i];
		uint64_t us = is_of(profile, part, name) ? part->us : 0;
		weights[part->node].us += us;
		sum_us += us;
	}
	for (uint32_t i = 0; i < profile->idle_stack_count; i++) {
		const struct stack_part *part = &profile->idle_stacks[i];
		uint64_t us = is_of(profile, part, name) ? part->us : 0;
		weights[part->node].idle_us += us;
		sum_us += us;
	}
	if (sum_us)
		return weights;
	free(weights);
	return NULL;
}

static void fail(const struct profile *profile, const char *name, struct err *err)
{
	struct buf names;
	buf_init(&names, MAX_NAMED_BYTES);
	for (uint32_t i = 0; i < profile->thread_count; i++) {
		if (text_equal(profile->threads[i].name, name)) {
			err_set(err, ERR_NOT_FOUND,
				"nothing is known of the time of thread '%s' in this profile", name);
			buf_fini(&names);
			return;
		}
		if (profile->threads[i].name && names.size + 40 < MAX_NAMED_BYTES)
			buf_printf(&names, "%s'%s'", names.size ? ", " : "", profile->threads[i].name);
	}
	err_set(err, ERR_NOT_FOUND, "no thread of this profile is called '%s'%s%s", name,
		names.size ? "; there are " : "", names.size ? names.data : "");
	buf_fini(&names);
}

static void copy_processes(const struct profile *from, struct profile *to)
{
	to->processes = mem_zalloc(from->process_count, sizeof(*to->processes));
	for (; to->process_count < from->process_count; to->process_count++)
		to->processes[to->process_count] =
			profile_copy_process(to, &from->processes[to->process_count]);
}

static void copy_threads(const struct profile *from, struct profile *to, const char *name)
{
	to->threads = mem_zalloc(from->thread_count, sizeof(*to->threads));
	for (uint32_t i = 0; i < from->thread_count; i++) {
		if (!text_equal(from->threads[i].name, name))
			continue;
		struct profile_thread *thread = &to->threads[to->thread_count++];
		*thread = from->threads[i];
		thread->name = profile_intern(to, name);
		to->quality.samples += thread->self.samples;
	}
}

static void copy_run(const struct profile *from, struct profile *to, const char *name)
{
	to->program = profile_intern(to, from->program);
	to->entrypoint_dir = profile_intern(to, from->entrypoint_dir);
	to->python_version = profile_intern(to, from->python_version);
	to->machine = profile_intern(to, from->machine);
	to->args = mem_zalloc(from->arg_count, sizeof(*to->args));
	for (; to->arg_count < from->arg_count; to->arg_count++)
		to->args[to->arg_count] = profile_intern(to, from->args[to->arg_count]);
	to->start_time_epoch_s = from->start_time_epoch_s;
	to->start_time_perf_s = from->start_time_perf_s;
	to->elapsed_s = from->elapsed_s;
	to->is_partial = from->is_partial;
	copy_processes(from, to);
	copy_threads(from, to, name);
	to->quality.overhead_percent = from->quality.overhead_percent;
	to->quality.collector_percent = from->quality.collector_percent;
	to->quality.clock = profile_intern(to, from->quality.clock);
}

/* The thread's part of a node's time, by kind. */
static struct metrics part_of(const struct metrics *whole, const struct node_weight *weight)
{
	double whole_s = metrics_seconds(whole);
	double factor = whole_s > 0 ? fmin(1, (double)weight->us / 1e6 / whole_s) : 0;
	return (struct metrics){
		.python_s = factor * whole->python_s,
		.native_s = factor * whole->native_s,
		.system_s = factor * whole->system_s,
		.wait_s = factor * whole->wait_s,
		.idle_s = fmin((double)weight->idle_us / 1e6, whole->idle_s),
		.cpu_s = factor * whole->cpu_s,
		.gc_s = factor * whole->gc_s,
		.samples = (uint64_t)llrint(factor * (double)whole->samples),
	};
}

/* The frames of a node's stack, outermost first, in the new profile's terms;
 * the caller frees. */
static struct book_frame *frames_of(const struct profile *from, struct profile *to, uint32_t node,
				    uint32_t *count)
{
	*count = 0;
	for (uint32_t at = node; at && *count < MAX_DEPTH; at = from->stacks[at].parent)
		++*count;
	struct book_frame *frames = mem_zalloc(*count, sizeof(*frames));
	uint32_t place = *count;
	for (uint32_t at = node; at && place; at = from->stacks[at].parent) {
		const struct stack_node *stack = &from->stacks[at];
		bool has_file = stack->file != STACK_NO_FILE;
		const struct profile_file *file = has_file ? &from->files[stack->file] : NULL;
		frames[--place] = (struct book_frame){
			.file = profile_file_index(to, file ? file->path : "<native>",
						   file && file->in_scope),
			.function = profile_intern(to, stack->function ? stack->function : ""),
			.first_line = stack->first_line,
			.line = stack->line,
			.line_end = -1,
			.column = -1,
			.column_end = -1,
		};
	}
	return frames;
}

static void copy_sources(const struct profile *from, struct profile *to)
{
	for (uint32_t i = 0; i < to->file_count; i++) {
		const struct profile_file *file = profile_find_file(from, to->files[i].path);
		if (!file || !file->source)
			continue;
		to->files[i].source = mem_copy_bytes(file->source, file->source_size);
		to->files[i].source_size = file->source_size;
	}
}

/* Stacks do not say what was waited for: the lines of all threads do. */
static void copy_reasons(const struct profile *from, struct profile_file *file)
{
	const struct profile_file *known = profile_find_file(from, file->path);
	for (uint32_t i = 0; known && i < file->line_count; i++) {
		struct metrics *self = &file->lines[i].self;
		const struct profile_line *line = profile_find_line(known, file->lines[i].line);
		double waited_s = line ? line->self.wait_s + line->self.idle_s : 0;
		double part = waited_s > 0 ? (self->wait_s + self->idle_s) / waited_s : 0;
		for (uint32_t kind = 0; kind < WAIT_KINDS && part > 0; kind++)
			self->waits_s[kind] = (float)(part * (double)line->self.waits_s[kind]);
		self->gil_s = part > 0 ? part * line->self.gil_s : 0;
	}
}

struct profile *thread_view_new(const struct profile *profile, const char *name, struct err *err)
{
	struct node_weight *weights = thread_weights(profile, name);
	if (!weights) {
		fail(profile, name, err);
		return NULL;
	}
	struct profile *view = profile_new();
	copy_run(profile, view, name);
	for (uint32_t i = 0; i < profile->stack_count; i++) {
		if (!weights[i].us && !weights[i].idle_us)
			continue;
		uint32_t count;
		struct book_frame *frames = frames_of(profile, view, i, &count);
		struct metrics part = part_of(&profile->stacks[i].self, &weights[i]);
		profile_book(view, frames, count, &part, false);
		free(frames);
	}
	free(weights);
	copy_sources(profile, view);
	for (uint32_t i = 0; i < view->file_count; i++)
		copy_reasons(profile, &view->files[i]);
	profile_finish(view);
	return view;
}
