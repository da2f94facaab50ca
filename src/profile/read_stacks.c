/* read_stacks.c - stacks out of a profile: our tree, or Scalene's list. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/mem.h"
#include "base/units.h"
#include "base/vec.h"
#include "profile/book.h"
#include "profile/read_parts.h"
#include "profile/stack_tree.h"

#define MAX_NODES 1000000u
#define NODE_FIGURES 3u /* where the figures of a node begin */

/* The tables of our tree, resolved. */
struct stack_tables {
	const char **strings; /* owned */
	uint32_t string_count;
	uint32_t *files; /* owned; indexes in the profile */
	uint32_t file_count;
	struct stack_node *functions; /* owned; only function, file and first_line are set */
	uint32_t function_count;
};

static const json_t *table_row(struct profile_reader *reader, const json_t *table, size_t index,
			       size_t size, const char *what)
{
	const json_t *row = json_array_get(table, index);
	if (json_array_size(row) != size)
		reader_fail(reader, "an item of \"%s\" is not a list of %zu numbers", what, size);
	return row;
}

static const char *row_string(struct profile_reader *reader, const struct stack_tables *tables,
			      const json_t *row, const char *what)
{
	int64_t last = (int64_t)tables->string_count - 1;
	int64_t at = reader_item_integer(reader, row, 0, 0, last, what);
	return reader->has_failed ? "" : tables->strings[at];
}

static void read_file_table(struct profile_reader *reader, const json_t *stacks,
			    struct stack_tables *tables)
{
	json_t *list = reader_array(reader, stacks, "files");
	tables->file_count = (uint32_t)json_array_size(list);
	tables->files = mem_zalloc(tables->file_count, sizeof(*tables->files));
	for (uint32_t i = 0; i < tables->file_count && !reader->has_failed; i++) {
		const json_t *row = table_row(reader, list, i, 2, "files");
		const char *path = row_string(reader, tables, row, "files");
		bool in_scope = reader_item_integer(reader, row, 1, 0, 1, "files");
		if (!reader->has_failed)
			tables->files[i] = profile_file_index(reader->profile, path, in_scope);
	}
}

static void read_function_table(struct profile_reader *reader, const json_t *stacks,
				struct stack_tables *tables)
{
	json_t *list = reader_array(reader, stacks, "functions");
	tables->function_count = (uint32_t)json_array_size(list);
	tables->functions = mem_zalloc(tables->function_count, sizeof(*tables->functions));
	for (uint32_t i = 0; i < tables->function_count && !reader->has_failed; i++) {
		const json_t *row = table_row(reader, list, i, 3, "functions");
		struct stack_node *function = &tables->functions[i];
		function->function = row_string(reader, tables, row, "functions");
		int64_t file = reader_item_integer(reader, row, 1, -1,
						   (int64_t)tables->file_count - 1, "functions");
		function->file = STACK_NO_FILE;
		if (file >= 0 && !reader->has_failed)
			function->file = tables->files[file];
		function->first_line =
			(uint32_t)reader_item_integer(reader, row, 2, 0, UINT32_MAX, "functions");
	}
}

static double node_bytes(struct profile_reader *reader, const json_t *row, size_t figure)
{
	return (double)reader_item_integer(reader, row, NODE_FIGURES + figure, 0, INT64_MAX,
					   "nodes");
}

/* They are kept as microseconds. */
static double node_seconds(struct profile_reader *reader, const json_t *row, size_t figure)
{
	return node_bytes(reader, row, figure) / 1e6;
}

static void read_node(struct profile_reader *reader, const json_t *row,
		      const struct stack_tables *tables, uint32_t index, struct stack_node *node)
{
	if (json_array_size(row) < NODE_FIGURES) {
		reader_fail(reader, "an item of \"nodes\" is not a list of numbers");
		return;
	}
	int64_t parent = reader_item_integer(reader, row, 0, 0, index ? index - 1 : 0, "nodes");
	int64_t function = reader_item_integer(reader, row, 1, index ? 0 : -1,
					       (int64_t)tables->function_count - 1, "nodes");
	*node = (struct stack_node){.file = STACK_NO_FILE};
	if (reader->has_failed)
		return;
	if (function >= 0)
		*node = tables->functions[function];
	node->parent = (uint32_t)parent;
	node->line = (uint32_t)reader_item_integer(reader, row, 2, 0, UINT32_MAX, "nodes");
	node->self.samples =
		(uint64_t)reader_item_integer(reader, row, NODE_FIGURES, 0, INT64_MAX, "nodes");
	node->self.python_s = node_seconds(reader, row, 1);
	node->self.native_s = node_seconds(reader, row, 2);
	node->self.system_s = node_seconds(reader, row, 3);
	node->self.wait_s = node_seconds(reader, row, 4);
	node->self.cpu_s = node_seconds(reader, row, 5);
	node->self.idle_s = node_seconds(reader, row, 6);
	node->self.alloc_bytes = node_bytes(reader, row, 7);
	node->self.kept_bytes = node_bytes(reader, row, 8);
	node->self.copy_bytes = node_bytes(reader, row, 9);
	node->self.at_peak_bytes = node_bytes(reader, row, 10);
	node->self.gil_s = node_seconds(reader, row, 11);
	node->self.gc_s = node_seconds(reader, row, 12);
	node->self.gpu_s = node_seconds(reader, row, 13);
}

static void read_nodes(struct profile_reader *reader, const json_t *stacks,
		       const struct stack_tables *tables)
{
	json_t *list = reader_array(reader, stacks, "nodes");
	size_t count = json_array_size(list);
	if (count > MAX_NODES)
		reader_fail(reader, "it has more than %u stack nodes", MAX_NODES);
	if (count == 0 || reader->has_failed)
		return;
	struct profile *profile = reader->profile;
	profile->stacks = mem_alloc(count * sizeof(*profile->stacks));
	profile->stack_count = profile->stack_room = (uint32_t)count;
	for (uint32_t i = 0; i < count; i++)
		read_node(reader, json_array_get(list, i), tables, i, &profile->stacks[i]);
}

void read_stack_tree(struct profile_reader *reader, const json_t *stacks)
{
	struct stack_tables tables = {0};
	tables.strings = reader_texts(reader, stacks, "strings", &tables.string_count);
	read_file_table(reader, stacks, &tables);
	read_function_table(reader, stacks, &tables);
	if (!reader->has_failed)
		read_nodes(reader, stacks, &tables);
	if (!reader->has_failed)
		read_thread_stacks(reader, stacks);
	free(tables.strings);
	free(tables.files);
	free(tables.functions);
}

static uint32_t scalene_node(struct profile *profile, uint32_t parent, const char *path,
			     const char *function, uint64_t line)
{
	uint32_t file = profile_file_index(profile, path, true);
	return stack_tree_child(profile, parent, file, function, 0,
				line < READ_MAX_LINE ? (uint32_t)line : 0);
}

/* 2.x: "path function:line;" - paths may hold spaces, function names do not. */
static uint32_t scalene_frame(struct profile_reader *reader, uint32_t parent, const char *frame)
{
	struct intern *strings = reader->profile->strings;
	const char *colon = strrchr(frame, ':');
	const char *space = colon ? memrchr(frame, ' ', (size_t)(colon - frame)) : NULL;
	if (!space || space == frame) {
		reader_fail(reader, "a frame of \"stacks\" is not \"file function:line;\"");
		return 0;
	}
	const char *path = intern_bytes(strings, frame, (size_t)(space - frame));
	const char *function = intern_bytes(strings, space + 1, (size_t)(colon - space - 1));
	return scalene_node(reader->profile, parent, path, function, strtoul(colon + 1, NULL, 10));
}

/* 1.x: [path, function, line or null]. */
static uint32_t old_scalene_frame(struct profile_reader *reader, uint32_t parent,
				  const json_t *frame)
{
	const char *path = json_string_value(json_array_get(frame, 0));
	const char *function = json_string_value(json_array_get(frame, 1));
	json_int_t line = json_integer_value(json_array_get(frame, 2));
	if (!path || !function || line < 0) {
		reader_fail(reader, "a frame of \"stacks\" is not file, function and line");
		return 0;
	}
	return scalene_node(reader->profile, parent, path,
			    profile_intern(reader->profile, function), (uint64_t)line);
}

/* Of memory_stacks: {display_name, filename_or_module, line, …}. */
static uint32_t combined_frame(struct profile_reader *reader, uint32_t parent, const json_t *frame)
{
	const char *path = reader_text(reader, frame, "filename_or_module");
	const char *function = reader_text(reader, frame, "display_name");
	uint64_t line = reader_unsigned(reader, frame, "line", INT64_MAX);
	if (!path || !function) {
		reader_fail(reader, "a frame of \"memory_stacks\" has no name");
		return 0;
	}
	return scalene_node(reader->profile, parent, path, function, line);
}

static uint32_t any_scalene_frame(struct profile_reader *reader, uint32_t parent,
				  const json_t *frame)
{
	if (json_is_string(frame))
		return scalene_frame(reader, parent, json_string_value(frame));
	if (json_is_object(frame))
		return combined_frame(reader, parent, frame);
	return old_scalene_frame(reader, parent, frame);
}

/* Times are fractions of the whole.  1.x: [count, python, c, both]. */
static struct metrics scalene_figures(struct profile_reader *reader, const json_t *figures)
{
	bool is_old = json_is_array(figures);
	double total_s = reader->profile->total_s;
	struct metrics self = {0};
	self.samples = is_old ? (uint64_t)reader_item_integer(reader, figures, 0, 0, INT64_MAX,
							      "stacks")
			      : reader_unsigned(reader, figures, "count", INT64_MAX);
	self.python_s = total_s * (is_old ? reader_item_number(reader, figures, 1, "stacks")
					  : reader_number(reader, figures, "python_time"));
	self.native_s = total_s * (is_old ? reader_item_number(reader, figures, 2, "stacks")
					  : reader_number(reader, figures, "c_time"));
	return self;
}

static void read_scalene_stack(struct profile_reader *reader, const json_t *frames,
			       const struct metrics *self)
{
	struct profile *profile = reader->profile;
	size_t count = json_array_size(frames);
	if (count >= STACK_TREE_MAX_NODES / 4) {
		reader_fail(reader, "a stack has %zu frames", count);
		return;
	}
	stack_tree_make_room(profile, (uint32_t)count);
	uint32_t node = 0;
	for (size_t i = 0; i < count && !reader->has_failed; i++)
		node = any_scalene_frame(reader, node, json_array_get(frames, i));
	if (!reader->has_failed)
		metrics_add(&profile->stacks[node].self, self);
}

void read_scalene_stacks(struct profile_reader *reader, const json_t *stacks)
{
	size_t index;
	json_t *stack;
	json_array_foreach(stacks, index, stack)
	{
		const json_t *frames = json_array_get(stack, 0);
		const json_t *figures = json_array_get(stack, 1);
		if (!json_is_array(frames) || !(json_is_object(figures) || json_is_array(figures)))
			continue; /* before 1.5.20: a count only, no times */
		struct metrics self = scalene_figures(reader, figures);
		read_scalene_stack(reader, frames, &self);
		if (reader->has_failed)
			return;
	}
}

/* [[frame, ...], MB] */
void read_scalene_memory_stacks(struct profile_reader *reader, const json_t *stacks)
{
	size_t index;
	json_t *stack;
	json_array_foreach(stacks, index, stack)
	{
		double megabytes = reader_item_number(reader, stack, 1, "memory_stacks");
		struct metrics self = {.alloc_bytes = rint(megabytes * MB)};
		read_scalene_stack(reader, json_array_get(stack, 0), &self);
		if (reader->has_failed)
			return;
	}
}
