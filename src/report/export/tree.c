/* tree.c - the stacks of a profile, weighed by one metric. */
#include "report/export/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/stack_tree.h"

#define NO_PYTHON "<no Python>" /* the frame of what was measured outside of any */

static uint64_t whole(double value)
{
	return value > 0 ? (uint64_t)llrint(fmin(value, 2e18)) : 0;
}

uint64_t export_value(const struct metrics *self, enum export_metric metric)
{
	switch (metric) {
	case EXPORT_TIME:
		/* Kind by kind, as the profile has them: rounding must not part them. */
		return whole(self->python_s * 1e6) + whole(self->native_s * 1e6) +
		       whole(self->system_s * 1e6) + whole(self->wait_s * 1e6);
	case EXPORT_CPU:
		return whole(self->cpu_s * 1e6);
	case EXPORT_MEMORY:
		return whole(self->alloc_bytes);
	case EXPORT_KEPT:
		return whole(self->kept_bytes);
	case EXPORT_COPIED:
		return whole(self->copy_bytes);
	case EXPORT_GPU:
		return whole(self->gpu_s * 1e6);
	case EXPORT_PEAK:
		return whole(self->at_peak_bytes);
	default:
		return 0;
	}
}

uint64_t export_add(uint64_t a, uint64_t b)
{
	uint64_t sum = a + b;
	return sum < a || sum > INT64_MAX ? INT64_MAX : sum;
}

static void start(struct export_tree *tree, uint32_t count)
{
	tree->made = mem_zalloc(count, sizeof(*tree->made));
	tree->values = mem_zalloc(count, sizeof(*tree->values));
	tree->nodes = tree->made;
	tree->made[0].file = STACK_NO_FILE;
	tree->count = 1;
}

/* One node a line, for profiles without stacks.  The peak is no figure of a line's own
 * metrics. */
static void make_lines(struct export_tree *tree, enum export_metric metric)
{
	const struct profile *profile = tree->profile;
	uint32_t count = 1;
	for (uint32_t i = 0; i < profile->file_count; i++)
		count += profile->files[i].line_count;
	start(tree, count);
	for (uint32_t i = 0; i < profile->file_count; i++) {
		const struct profile_file *file = &profile->files[i];
		for (uint32_t j = 0; j < file->line_count; j++) {
			const struct profile_line *line = &file->lines[j];
			const struct profile_function *function =
				profile_find_function(file, line);
			tree->values[tree->count] = metric == EXPORT_PEAK ?
							    whole(line->memory.at_peak_bytes) :
							    export_value(&line->self, metric);
			tree->made[tree->count++] = (struct stack_node){
				.file = i,
				.function = function ? function->name : "<unknown>",
				.first_line = function ? function->first_line : line->line,
				.line = line->line,
				.self = line->self,
			};
		}
	}
}

static bool has_figures(const struct metrics *self)
{
	for (enum export_metric metric = 0; metric < EXPORT_METRIC_COUNT; metric++) {
		if (export_value(self, metric))
			return true;
	}
	return false;
}

static void copy_stacks(struct export_tree *tree, enum export_metric metric)
{
	const struct profile *profile = tree->profile;
	if (!has_figures(&profile->stacks[0].self)) {
		tree->nodes = profile->stacks;
		tree->count = profile->stack_count;
		tree->values = mem_zalloc(tree->count, sizeof(*tree->values));
	} else {
		start(tree, profile->stack_count + 1);
		tree->count = profile->stack_count + 1;
		memcpy(tree->made, profile->stacks, profile->stack_count * sizeof(*tree->made));
		struct stack_node *last = &tree->made[profile->stack_count];
		*last = (struct stack_node){.file = STACK_NO_FILE, .function = NO_PYTHON};
		last->self = tree->made[0].self;
		tree->made[0].self = (struct metrics){0};
	}
	for (uint32_t i = 0; i < tree->count; i++)
		tree->values[i] = export_value(&tree->nodes[i].self, metric);
}

static int compare_weight(const void *a, const void *b, void *context)
{
	const struct export_tree *tree = context;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	if (tree->below[left] != tree->below[right])
		return tree->below[left] < tree->below[right] ? -1 : 1;
	return left > right ? -1 : 1; /* so that equals come out in their own order */
}

/* Lightest first into the lists' heads: the heaviest ends up first. */
static void link_children(struct export_tree *tree)
{
	uint32_t *order = mem_alloc(tree->count * sizeof(*order));
	for (uint32_t i = 0; i < tree->count; i++)
		order[i] = i;
	qsort_r(order, tree->count, sizeof(*order), compare_weight, tree);
	tree->first_child = mem_zalloc(tree->count, sizeof(*tree->first_child));
	tree->sibling = mem_zalloc(tree->count, sizeof(*tree->sibling));
	for (uint32_t i = 0; i < tree->count; i++) {
		uint32_t node = order[i];
		if (node == 0 || tree->below[node] == 0)
			continue;
		uint32_t *head = &tree->first_child[tree->nodes[node].parent];
		tree->sibling[node] = *head;
		*head = node;
	}
	free(order);
}

void export_tree_init(struct export_tree *tree, const struct profile *profile,
		      enum export_metric metric)
{
	*tree = (struct export_tree){.profile = profile};
	tree->is_flat = profile->stack_count <= 1;
	if (tree->is_flat)
		make_lines(tree, metric);
	else
		copy_stacks(tree, metric);
	tree->below = mem_alloc(tree->count * sizeof(*tree->below));
	memcpy(tree->below, tree->values, tree->count * sizeof(*tree->below));
	for (uint32_t i = tree->count; i-- > 1;) {
		uint64_t *sum = &tree->below[tree->nodes[i].parent];
		*sum = export_add(*sum, tree->below[i]);
	}
	link_children(tree);
}

void export_tree_fini(struct export_tree *tree)
{
	free(tree->values);
	free(tree->below);
	free(tree->first_child);
	free(tree->sibling);
	free(tree->made);
	*tree = (struct export_tree){0};
}

void export_tree_walk(const struct export_tree *tree, const struct export_visitor *visitor)
{
	uint32_t node = tree->first_child[0], depth = 0;
	uint64_t at = 0;
	while (node) {
		visitor->enter(visitor->context, node, depth, at);
		if (tree->first_child[node]) {
			node = tree->first_child[node];
			depth++;
			continue;
		}
		/* Leave this one, and all whose last child it was. */
		for (;;) {
			at = export_add(at, tree->values[node]);
			if (visitor->leave)
				visitor->leave(visitor->context, node, at);
			if (tree->sibling[node] || depth == 0)
				break;
			node = tree->nodes[node].parent;
			depth--;
		}
		node = tree->sibling[node];
	}
}

uint32_t export_tree_path(const struct export_tree *tree, uint32_t node, uint32_t **path,
			  uint32_t *room)
{
	uint32_t depth = 0;
	for (uint32_t at = node; at; at = tree->nodes[at].parent)
		depth++;
	if (depth > *room) {
		*room = depth;
		*path = mem_resize(*path, depth, sizeof(**path));
	}
	for (uint32_t at = node, i = depth; at; at = tree->nodes[at].parent)
		(*path)[--i] = at;
	return depth;
}
