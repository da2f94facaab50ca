/* write_stacks.c - the stack tree, in our shape and in Scalene's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/units.h"
#include "base/vec.h"
#include "profile/book.h"
#include "profile/stack_tree.h"
#include "profile/write_parts.h"

#define MAX_SCALENE_STACKS 100u
#define MAX_SCALENE_FRAMES 1000u /* in all of them together; one takes some 130 bytes */
#define MAX_FRAME_BYTES 8192u

/* A node and what it is ranked by. */
struct ranked {
	uint32_t node;
	double weight;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;
	if (left->weight != right->weight)
		return left->weight > right->weight ? -1 : 1;
	return (left->node > right->node) - (left->node < right->node);
}

/* The path from the root to the node, outermost first; the caller frees. */
static uint32_t *path_to(const struct stack_node *nodes, uint32_t node, uint32_t *count)
{
	*count = 0;
	for (uint32_t at = node; at; at = nodes[at].parent)
		++*count;
	uint32_t *path = mem_alloc(*count * sizeof(*path));
	uint32_t i = *count;
	for (uint32_t at = node; at; at = nodes[at].parent)
		path[--i] = at;
	return path;
}

static bool is_scoped(const struct profile *profile, const struct stack_node *node)
{
	if (node->file == STACK_NO_FILE)
		return false;
	return profile_is_own(&profile->files[node->file], node->function, node->first_line);
}

/* A tree of only the frames in scope, in which what the libraries did counts
 * as time of the frame that called them. */
struct scoped_key {
	const char *function;
	uint32_t parent, file, line;
	uint32_t reserved;
};

static struct stack_node *make_scoped(const struct write_plan *plan, uint32_t *count)
{
	struct stack_node *scoped = mem_zalloc(plan->node_count, sizeof(*scoped));
	uint32_t *place = mem_zalloc(plan->node_count, sizeof(*place));
	struct map_bytes known = {0};
	*count = 1;
	for (uint32_t i = 1; i < plan->node_count; i++) {
		const struct stack_node *node = &plan->nodes[i];
		place[i] = place[node->parent];
		if (is_scoped(plan->profile, node)) {
			struct scoped_key key = {node->function, place[node->parent], node->file,
						 node->line, 0};
			bool is_new;
			uint32_t *at = map_bytes_put(&known, &key, sizeof(key), &is_new);
			if (is_new) {
				*at = (*count)++;
				scoped[*at] = *node;
				scoped[*at].parent = key.parent;
				scoped[*at].self = (struct metrics){0};
			}
			place[i] = *at;
		}
		metrics_add(&scoped[place[i]].self, &node->self);
	}
	map_bytes_fini(&known);
	free(place);
	return scoped;
}

/* The nodes with most of what weigh() says, at most MAX_SCALENE_STACKS and
 * not the root; the caller frees. */
static struct ranked *rank(const struct stack_node *nodes, uint32_t count,
			   double (*weigh)(const struct metrics *), uint32_t *ranked_count)
{
	struct ranked *ranked = mem_alloc(count * sizeof(*ranked));
	uint32_t used = 0;
	for (uint32_t i = 1; i < count; i++) {
		double weight = weigh(&nodes[i].self);
		if (weight > 0)
			ranked[used++] = (struct ranked){i, weight};
	}
	if (used)
		qsort(ranked, used, sizeof(*ranked), compare_ranked);
	*ranked_count = used < MAX_SCALENE_STACKS ? used : MAX_SCALENE_STACKS;
	return ranked;
}

static double fraction(const struct write_plan *plan, double seconds)
{
	return profile_percent(plan->profile, seconds) / 100;
}

/* [["file function:line;", ...], {"count": ...}] */
static void write_scoped_stack(struct json_out *out, const struct write_plan *plan,
			       const struct stack_node *nodes, uint32_t node)
{
	uint32_t count;
	uint32_t *path = path_to(nodes, node, &count);
	const struct metrics *self = &nodes[node].self;
	struct buf frame;
	buf_init(&frame, MAX_FRAME_BYTES);
	json_put_newline(out);
	json_begin_array(out, NULL);
	json_begin_array(out, NULL);
	for (uint32_t i = 0; i < count; i++) {
		const struct stack_node *at = &nodes[path[i]];
		buf_clear(&frame);
		buf_printf(&frame, "%s %s:%u;", plan->profile->files[at->file].path, at->function,
			   at->line);
		json_put_bytes(out, NULL, frame.data, frame.size);
	}
	json_end_array(out);
	json_begin_object(out, NULL);
	json_put_unsigned(out, "count", self->samples);
	json_put_number(out, "python_time", fraction(plan, self->python_s), DECIMALS_FRACTION);
	json_put_number(out, "c_time", fraction(plan, self->native_s), DECIMALS_FRACTION);
	json_put_number(out, "cpu_samples", fraction(plan, self->python_s + self->native_s),
			DECIMALS_FRACTION);
	json_end_object(out);
	json_end_array(out);
	buf_fini(&frame);
	free(path);
}

static void write_scoped_stacks(struct json_out *out, const struct write_plan *plan)
{
	uint32_t count, ranked_count;
	struct stack_node *nodes = make_scoped(plan, &count);
	struct ranked *ranked = rank(nodes, count, metrics_seconds, &ranked_count);
	uint32_t frames = 0;
	for (uint32_t i = 0; i < ranked_count && frames < MAX_SCALENE_FRAMES; i++) {
		write_scoped_stack(out, plan, nodes, ranked[i].node);
		for (uint32_t at = ranked[i].node; at; at = nodes[at].parent)
			frames++;
	}
	free(ranked);
	free(nodes);
}

/* [[frame, ...], samples or MB]; returns how many frames there are. */
static uint32_t write_combined_stack(struct json_out *out, const struct write_plan *plan,
				     uint32_t node, bool is_memory)
{
	const struct metrics *self = &plan->nodes[node].self;
	uint32_t count;
	uint32_t *path = path_to(plan->nodes, node, &count);
	json_put_newline(out);
	json_begin_array(out, NULL);
	json_begin_array(out, NULL);
	for (uint32_t i = 0; i < count; i++) {
		const struct stack_node *at = &plan->nodes[path[i]];
		bool is_python = at->file != STACK_NO_FILE;
		json_begin_object(out, NULL);
		json_put_text(out, "kind", is_python ? "py" : "native");
		json_put_text(out, "display_name", at->function ? at->function : "");
		json_put_text(out, "filename_or_module",
			      is_python ? plan->profile->files[at->file].path : "");
		if (is_python)
			json_put_unsigned(out, "line", at->line);
		else
			json_put_null(out, "line");
		json_put_null(out, "ip");
		json_put_null(out, "offset");
		json_end_object(out);
	}
	json_end_array(out);
	if (is_memory)
		json_put_number(out, NULL, self->alloc_bytes / MB, DECIMALS_FRACTION);
	else
		json_put_unsigned(out, NULL, self->samples);
	json_end_array(out);
	free(path);
	return count;
}

static double weigh_samples(const struct metrics *self)
{
	return (double)self->samples;
}

static double weigh_allocated(const struct metrics *self)
{
	return self->alloc_bytes;
}

static void write_combined_stacks(struct json_out *out, const struct write_plan *plan,
				  bool is_memory)
{
	uint32_t ranked_count, frames = 0;
	struct ranked *ranked = rank(plan->nodes, plan->node_count,
				     is_memory ? weigh_allocated : weigh_samples, &ranked_count);
	for (uint32_t i = 0; i < ranked_count && frames < MAX_SCALENE_FRAMES; i++)
		frames += write_combined_stack(out, plan, ranked[i].node, is_memory);
	free(ranked);
}

void write_scalene_stacks(struct json_out *out, const struct write_plan *plan)
{
	json_put_newline(out);
	json_begin_array(out, "stacks");
	if (plan->nodes)
		write_scoped_stacks(out, plan);
	json_end_array(out);
	json_put_newline(out);
	json_begin_array(out, "combined_stacks");
	if (plan->nodes)
		write_combined_stacks(out, plan, false);
	json_end_array(out);
	if (!plan->profile->has_memory)
		return;
	json_put_newline(out);
	json_begin_array(out, "memory_stacks");
	if (plan->nodes)
		write_combined_stacks(out, plan, true);
	json_end_array(out);
}

/* The tables of the tree, numbered in the order of first use. */
struct tables {
	struct map strings; /* address of an interned string to its number */
	VEC(const char *) string_list;
	struct map files; /* index in the profile to number */
	VEC(uint32_t) file_list;
	struct map_bytes functions;
	VEC(uint32_t) function_list; /* a node that has this function */
};

static uint32_t string_number(struct tables *tables, const char *text)
{
	bool is_new;
	uint64_t *at = map_put(&tables->strings, (uint64_t)(uintptr_t)text, &is_new);
	if (is_new) {
		*at = tables->string_list.count;
		vec_push(&tables->string_list, text);
	}
	return (uint32_t)*at;
}

static uint32_t file_number(struct tables *tables, uint32_t file)
{
	bool is_new;
	uint64_t *at = map_put(&tables->files, file, &is_new);
	if (is_new) {
		*at = tables->file_list.count;
		vec_push(&tables->file_list, file);
	}
	return (uint32_t)*at;
}

static uint32_t function_number(struct tables *tables, const struct stack_node *nodes, uint32_t i)
{
	struct scoped_key key = {nodes[i].function, 0, nodes[i].file, nodes[i].first_line, 0};
	bool is_new;
	uint32_t *at = map_bytes_put(&tables->functions, &key, sizeof(key), &is_new);
	if (is_new) {
		*at = tables->function_list.count;
		vec_push(&tables->function_list, i);
	}
	return *at;
}

static void write_function_table(struct json_out *out, struct tables *tables,
				 const struct write_plan *plan)
{
	json_put_newline(out);
	json_begin_array(out, "functions");
	for (uint32_t i = 0; i < tables->function_list.count; i++) {
		const struct stack_node *node = &plan->nodes[tables->function_list.items[i]];
		json_begin_array(out, NULL);
		const char *name = node->function ? node->function : "";
		json_put_unsigned(out, NULL, string_number(tables, name));
		bool has_file = node->file != STACK_NO_FILE;
		json_put_integer(out, NULL, has_file ? file_number(tables, node->file) : -1LL);
		json_put_unsigned(out, NULL, node->first_line);
		json_end_array(out);
	}
	json_end_array(out);
}

static void write_file_table(struct json_out *out, struct tables *tables,
			     const struct write_plan *plan)
{
	json_put_newline(out);
	json_begin_array(out, "files");
	for (uint32_t i = 0; i < tables->file_list.count; i++) {
		const struct profile_file *file = &plan->profile->files[tables->file_list.items[i]];
		json_begin_array(out, NULL);
		json_put_unsigned(out, NULL, string_number(tables, file->path));
		json_put_unsigned(out, NULL, file->in_scope);
		json_end_array(out);
	}
	json_end_array(out);
}

static uint64_t microseconds(double seconds)
{
	return seconds > 0 ? (uint64_t)llrint(fmin(seconds, 1e12) * 1e6) : 0;
}

static uint64_t bytes(double count)
{
	return count > 0 ? (uint64_t)llrint(fmin(count, 1e18)) : 0;
}

/* [parent, function, line, samples, python, native, system, wait, cpu, idle,
 * allocated, kept, copied, at peak, gil, gc, gpu]; zeros at the end are left out. */
static void write_node(struct json_out *out, struct tables *tables, const struct write_plan *plan,
		       uint32_t i)
{
	const struct stack_node *node = &plan->nodes[i];
	const struct metrics *self = &node->self;
	uint64_t figures[] = {self->samples,
			      microseconds(self->python_s),
			      microseconds(self->native_s),
			      microseconds(self->system_s),
			      microseconds(self->wait_s),
			      microseconds(self->cpu_s),
			      microseconds(self->idle_s),
			      bytes(self->alloc_bytes),
			      bytes(self->kept_bytes),
			      bytes(self->copy_bytes),
			      bytes(self->at_peak_bytes),
			      microseconds(self->gil_s),
			      microseconds(self->gc_s),
			      microseconds(self->gpu_s)};
	size_t count = sizeof(figures) / sizeof(figures[0]);
	while (count && figures[count - 1] == 0)
		count--;
	if (i % 16 == 0)
		json_put_newline(out);
	json_begin_array(out, NULL);
	json_put_unsigned(out, NULL, node->parent);
	json_put_integer(out, NULL, i ? (int64_t)function_number(tables, plan->nodes, i) : -1);
	json_put_unsigned(out, NULL, node->line);
	for (size_t j = 0; j < count; j++)
		json_put_unsigned(out, NULL, figures[j]);
	json_end_array(out);
}

void write_stack_tree(struct json_out *out, const struct write_plan *plan)
{
	struct tables tables = {0};
	json_begin_object(out, "stacks");
	json_begin_array(out, "nodes");
	for (uint32_t i = 0; i < plan->node_count; i++)
		write_node(out, &tables, plan, i);
	json_end_array(out);
	write_function_table(out, &tables, plan);
	write_file_table(out, &tables, plan);
	json_put_newline(out);
	json_begin_array(out, "strings");
	for (uint32_t i = 0; i < tables.string_list.count; i++)
		json_put_text(out, NULL, tables.string_list.items[i]);
	json_end_array(out);
	json_put_newline(out);
	write_stack_parts(out, "threads", plan->thread_stacks, plan->thread_stack_count);
	if (plan->idle_stack_count > 0) {
		json_put_newline(out);
		write_stack_parts(out, "idle_threads", plan->idle_stacks, plan->idle_stack_count);
	}
	json_end_object(out);
	map_fini(&tables.strings);
	map_fini(&tables.files);
	map_bytes_fini(&tables.functions);
	vec_free(&tables.string_list);
	vec_free(&tables.file_list);
	vec_free(&tables.function_list);
}
