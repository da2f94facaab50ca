/* stack_tree.c - the stack tree: find or make nodes, fold the light ones. */
#include "profile/stack_tree.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "profile/book_index.h"

static uint64_t hash_node(uint32_t parent, uint32_t file, const char *function,
			  uint32_t first_line, uint32_t line)
{
	uint64_t hash = map_hash_number((uint64_t)parent << 32 | line);
	hash = map_hash_number(hash ^ ((uint64_t)file << 32 | first_line));
	return map_hash_number(hash ^ (uint64_t)(uintptr_t)function);
}

static uint64_t hash_of(const struct stack_node *node)
{
	return hash_node(node->parent, node->file, node->function, node->first_line, node->line);
}

static bool is_same(const struct stack_node *node, const struct stack_node *wanted)
{
	return node->parent == wanted->parent && node->file == wanted->file &&
	       node->function == wanted->function && node->first_line == wanted->first_line &&
	       node->line == wanted->line;
}

/* The slot that holds the wanted node's index, or the free one for it. */
static uint32_t *find_slot(const struct book *book, const struct stack_node *nodes,
			   const struct stack_node *wanted)
{
	uint32_t at = (uint32_t)hash_of(wanted) & book->node_mask;
	while (book->nodes[at] && !is_same(&nodes[book->nodes[at]], wanted))
		at = (at + 1) & book->node_mask;
	return &book->nodes[at];
}

static void index_nodes(struct book *book, const struct stack_node *nodes, uint32_t count,
			uint32_t slots)
{
	free(book->nodes);
	book->nodes = mem_zalloc(slots, sizeof(*book->nodes));
	book->node_mask = slots - 1;
	for (uint32_t i = 1; i < count; i++)
		*find_slot(book, nodes, &nodes[i]) = i;
}

static uint32_t slots_for(uint32_t count)
{
	uint32_t slots = 256;
	while (slots < count * 2 + 2)
		slots *= 2;
	return slots;
}

static void make_root(struct profile *profile)
{
	if (profile->stack_count)
		return;
	vec_reserve(profile->stacks, profile->stack_room, profile->stack_count);
	profile->stacks[profile->stack_count++] =
		(struct stack_node){.file = STACK_NO_FILE};
}

uint32_t stack_tree_child(struct profile *profile, uint32_t parent, uint32_t file,
			  const char *function, uint32_t first_line, uint32_t line)
{
	struct book *book = book_index(profile);
	make_root(profile);
	if (!book->nodes || (profile->stack_count + 1) * 2 > book->node_mask)
		index_nodes(book, profile->stacks, profile->stack_count,
			    slots_for(profile->stack_count + 1));
	assert(parent < profile->stack_count);
	struct stack_node wanted = {.parent = parent,
				    .file = file,
				    .function = function,
				    .first_line = first_line,
				    .line = line};
	uint32_t *slot = find_slot(book, profile->stacks, &wanted);
	if (*slot == 0) {
		vec_reserve(profile->stacks, profile->stack_room, profile->stack_count);
		*slot = profile->stack_count;
		profile->stacks[profile->stack_count++] = wanted;
	}
	return *slot;
}

uint32_t stack_tree_find(struct profile *profile, uint32_t parent, uint32_t file,
			 const char *function, uint32_t first_line, uint32_t line)
{
	const struct book *book = book_index(profile);
	struct stack_node wanted = {.parent = parent,
				    .file = file,
				    .function = function,
				    .first_line = first_line,
				    .line = line};
	return book->nodes ? *find_slot(book, profile->stacks, &wanted) : 0;
}

bool stack_tree_make_room(struct profile *profile, uint32_t count)
{
	make_root(profile);
	if (profile->stack_count + count <= STACK_TREE_MAX_NODES)
		return false;
	profile->stack_count =
		stack_tree_fold(profile->stacks, profile->stack_count, STACK_TREE_MAX_NODES / 2);
	struct book *book = book_index(profile);
	index_nodes(book, profile->stacks, profile->stack_count, slots_for(STACK_TREE_MAX_NODES));
	return true;
}

/* Sums of metrics_weight over each node and all below it.  The caller frees. */
static double *sum_weights(const struct stack_node *nodes, uint32_t count)
{
	double *weights = mem_zalloc(count, sizeof(*weights));
	struct metrics sum = {0};
	for (uint32_t i = 0; i < count; i++)
		metrics_add(&sum, &nodes[i].self);
	for (uint32_t i = count; i-- > 0;) {
		weights[i] += metrics_weight(&nodes[i].self, &sum);
		if (i > 0)
			weights[nodes[i].parent] += weights[i];
	}
	return weights;
}

static int compare_descending(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;
	return (left < right) - (left > right);
}

/* The weight that the last node to be kept has, and how many of exactly that
 * weight may stay. */
static double cut_weight(const double *weights, uint32_t count, uint32_t keep, uint32_t *ties)
{
	double *sorted = mem_alloc(count * sizeof(*sorted));
	memcpy(sorted, weights, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_descending);
	double cut = sorted[keep - 1];
	*ties = 0;
	for (uint32_t i = 0; i < keep; i++)
		*ties += sorted[i] == cut;
	free(sorted);
	return cut;
}

uint32_t stack_tree_fold_to(struct stack_node *nodes, uint32_t count, uint32_t keep,
			    uint32_t *moved_to)
{
	if (count <= keep || keep == 0) {
		for (uint32_t i = 0; i < count; i++)
			moved_to[i] = i;
		return count;
	}
	double *weights = sum_weights(nodes, count);
	uint32_t ties, kept = 0;
	double cut = cut_weight(weights, count, keep, &ties);
	/* A node weighs no more than its parent, and comes after it: so whoever
	 * stays has all nodes above it staying too. */
	for (uint32_t i = 0; i < count; i++) {
		bool is_tie = weights[i] == cut;
		bool stays = i == 0 || weights[i] > cut || (is_tie && ties > 0);
		ties -= is_tie && ties > 0;
		uint32_t parent = i ? moved_to[nodes[i].parent] : 0;
		if (i > 0 && !stays) {
			metrics_add(&nodes[parent].self, &nodes[i].self);
			moved_to[i] = parent;
			continue;
		}
		moved_to[i] = kept;
		nodes[kept] = nodes[i];
		nodes[kept].parent = parent;
		kept++;
	}
	free(weights);
	return kept;
}

uint32_t stack_tree_fold(struct stack_node *nodes, uint32_t count, uint32_t keep)
{
	if (count <= keep || keep == 0)
		return count;
	uint32_t *moved_to = mem_alloc(count * sizeof(*moved_to));
	uint32_t kept = stack_tree_fold_to(nodes, count, keep, moved_to);
	free(moved_to);
	return kept;
}
