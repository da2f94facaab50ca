/* chrome.c - the trace event format of Chrome and Perfetto.
 *
 * The merged stacks are nested slices, heaviest first: their lengths are true,
 * their order is not that of the run.  What is known over time stands beside them as
 * counters: what each thread did, and the memory of the whole program. */
#include <string.h>

#include "base/json_out.h"
#include "report/export/formats.h"
#include "report/export/frames.h"

enum { STACKS_PID = 1, MEMORY_PID = 2, THREADS_PID = 3, ONLY_TID = 1 };

struct writer {
	struct json_out out;
	const struct export_tree *tree;
};

static void begin_event(struct json_out *out, const char *phase, const char *name, int pid)
{
	json_put_newline(out);
	json_begin_object(out, NULL);
	json_put_text(out, "ph", phase);
	json_put_text(out, "name", name);
	json_put_integer(out, "pid", pid);
	json_put_integer(out, "tid", ONLY_TID);
}

/* Names a process or thread of the trace. */
static void put_name(struct json_out *out, const char *what, int pid, const char *name)
{
	begin_event(out, "M", what, pid);
	json_begin_object(out, "args");
	json_put_text(out, "name", name);
	json_end_object(out);
	json_end_object(out);
}

static void enter(void *context, uint32_t node, uint32_t depth, uint64_t at)
{
	struct writer *writer = context;
	struct json_out *out = &writer->out;
	const struct stack_node *stack = &writer->tree->nodes[node];
	const char *path = export_file(writer->tree->profile, stack);
	(void)depth;
	begin_event(out, "X", export_function(stack), STACKS_PID);
	json_put_text(out, "cat", path ? "python" : "native");
	json_put_unsigned(out, "ts", at);
	json_put_unsigned(out, "dur", writer->tree->below[node]);
	json_begin_object(out, "args");
	if (path) {
		json_put_text(out, "file", path);
		json_put_unsigned(out, "line", stack->line);
	}
	json_put_unsigned(out, "self", writer->tree->values[node]);
	json_end_object(out);
	json_end_object(out);
}

static void put_memory(struct json_out *out, const struct profile *profile)
{
	if (profile->footprint_count == 0)
		return;
	put_name(out, "process_name", MEMORY_PID, "memory over time");
	for (uint32_t i = 0; i < profile->footprint_count; i++) {
		const struct memory_point *point = &profile->footprint[i];
		begin_event(out, "C", "memory", MEMORY_PID);
		json_put_number(out, "ts", point->time_s * 1e6, 0);
		json_begin_object(out, "args");
		json_put_number(out, "live bytes", point->live_bytes, 0);
		json_put_number(out, "resident bytes", point->resident_bytes, 0);
		json_end_object(out);
		json_end_object(out);
	}
}

/* "name (tid)", by which the counters of a thread are told apart.  A row that stands for many
 * threads has no thread's number; there is one in each process, which is named where there are
 * several. */
static void put_thread_name(char *name, size_t size, const struct profile *profile,
			    const struct profile_thread *thread)
{
	const char *text = thread->name ? thread->name : "thread";
	if (thread->joined == 0)
		snprintf(name, size, "%.100s (%d)", text, thread->tid);
	else if (profile->process_count > 1)
		snprintf(name, size, "%.100s of process %d", text,
			 profile->processes[thread->process].pid);
	else
		snprintf(name, size, "%.100s", text);
}

static void put_threads(struct json_out *out, const struct profile *profile)
{
	const struct profile_timeline *timeline = &profile->timeline;
	if (timeline->thread_count == 0)
		return;
	put_name(out, "process_name", THREADS_PID, "threads over time, CPUs in use");
	for (uint32_t i = 0; i < timeline->thread_count; i++) {
		const struct timeline_thread *busy = &timeline->threads[i];
		const struct profile_thread *thread = &profile->threads[busy->thread];
		char name[128];
		put_thread_name(name, sizeof(name), profile, thread);
		for (uint32_t bin = 0; bin < timeline->bins; bin++) {
			begin_event(out, "C", name, THREADS_PID);
			json_put_number(out, "ts", bin * timeline->bin_s * 1e6, 0);
			json_begin_object(out, "args");
			for (uint32_t kind = 0; kind <= TIMELINE_WAIT; kind++)
				json_put_number(out, timeline_kind_names[kind],
						busy->ms[kind * timeline->bins + bin] / 1e3 /
							timeline->bin_s, 4);
			json_end_object(out);
			json_end_object(out);
		}
	}
}

void export_chrome(FILE *out, const struct profile *profile, enum export_metric metric)
{
	struct export_tree tree;
	struct writer writer = {.tree = &tree};
	struct export_visitor visitor = {enter, NULL, &writer};
	bool is_time = export_is_time(metric);
	export_tree_init(&tree, profile, metric);
	json_out_init(&writer.out, out);
	json_begin_object(&writer.out, NULL);
	json_put_text(&writer.out, "displayTimeUnit", "ms");
	json_begin_object(&writer.out, "otherData");
	json_put_text(&writer.out, "exporter", "heatline " HEATLINE_VERSION);
	json_put_text(&writer.out, "program", profile->program ? profile->program : "");
	json_put_text(&writer.out, "metric", export_metric_name(metric));
	json_put_text(&writer.out, "unit", is_time ? "microseconds" : "bytes");
	json_end_object(&writer.out);
	json_begin_array(&writer.out, "traceEvents");
	put_name(&writer.out, "process_name", STACKS_PID, "all stacks, merged");
	put_name(&writer.out, "thread_name", STACKS_PID, export_metric_name(metric));
	export_tree_walk(&tree, &visitor);
	put_memory(&writer.out, profile);
	put_threads(&writer.out, profile);
	json_end_array(&writer.out);
	json_end_object(&writer.out);
	fputc('\n', out);
	export_tree_fini(&tree);
}
