/* tree.c - see tree.h. */
#include "collect/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define FIRST_SLOTS 1024u /* power of two */

void tree_init(struct tree *tree)
{
	memset(tree, 0, sizeof(*tree));
	map_init(&tree->place_index);
	vec_reserve(tree->nodes, tree->room, tree->count);
	tree->nodes[tree->count++] = (struct tree_node){0};
	vec_push(&tree->places, (struct tree_frame){0});
	vec_push(&tree->weights, (struct tree_weights){0});
	vec_push(&tree->memory, (struct tree_memory){0});
	tree->children = mem_zalloc(FIRST_SLOTS, sizeof(*tree->children));
	tree->child_mask = FIRST_SLOTS - 1;
}

void tree_fini(struct tree *tree)
{
	free(tree->nodes);
	vec_free(&tree->places);
	vec_free(&tree->weights);
	vec_free(&tree->memory);
	map_fini(&tree->place_index);
	free(tree->children);
}

/* --- what a node has --- */

struct tree_weights *tree_weights(struct tree *tree, uint32_t node)
{
	if (tree->nodes[node].weights == 0) {
		tree->nodes[node].weights = tree->weights.count;
		vec_push(&tree->weights, (struct tree_weights){0});
	}
	return &tree->weights.items[tree->nodes[node].weights];
}

uint32_t tree_memory(struct tree *tree, uint32_t node)
{
	if (tree->nodes[node].memory == 0) {
		tree->nodes[node].memory = tree->memory.count;
		vec_push(&tree->memory, (struct tree_memory){0});
	}
	return tree->nodes[node].memory;
}

/* --- stacks --- */

static uint64_t key_of(struct tree_frame frame)
{
	return (uint64_t)frame.code << 32 | frame.offset;
}

uint32_t tree_find_place(const struct tree *tree, struct tree_frame frame)
{
	const uint64_t *place = map_get(&tree->place_index, key_of(frame));
	return place == NULL ? 0 : (uint32_t)*place;
}

static uint32_t place_of(struct tree *tree, struct tree_frame frame)
{
	bool is_new;
	uint64_t *place = map_put(&tree->place_index, key_of(frame), &is_new);
	if (is_new) {
		*place = tree->places.count;
		vec_push(&tree->places, frame);
	}
	return (uint32_t)*place;
}

/* The slot that holds the child's number, or the free one for it. */
static uint32_t *find_slot(const struct tree *tree, uint32_t parent, uint32_t place)
{
	uint32_t at = (uint32_t)map_hash_number((uint64_t)parent << 32 | place) & tree->child_mask;
	for (;; at = (at + 1) & tree->child_mask) {
		const struct tree_node *node = &tree->nodes[tree->children[at]];
		if (tree->children[at] == 0 || (node->parent == parent && node->place == place))
			return &tree->children[at];
	}
}

static void grow_children(struct tree *tree)
{
	uint32_t slots = (tree->child_mask + 1) * 2;
	free(tree->children);
	tree->children = mem_zalloc(slots, sizeof(*tree->children));
	tree->child_mask = slots - 1;
	for (uint32_t i = 1; i < tree->count; i++)
		*find_slot(tree, tree->nodes[i].parent, tree->nodes[i].place) = i;
}

static uint32_t child_of(struct tree *tree, uint32_t parent, struct tree_frame frame)
{
	uint32_t place = place_of(tree, frame);
	uint32_t *slot = find_slot(tree, parent, place);
	if (*slot != 0)
		return *slot;
	uint32_t child = *slot = tree->count;
	vec_reserve(tree->nodes, tree->room, tree->count);
	tree->nodes[tree->count++] = (struct tree_node){.parent = parent, .place = place};
	if ((uint64_t)tree->count * 4 > (uint64_t)tree->child_mask * 3)
		grow_children(tree);
	return child;
}

/* The child for a frame that calls on.  Most stacks go the way of one before them
 * but for their innermost frame, so the way is looked at before the table: that
 * takes a fifth of the time, 900 times for one stack of a deep recursion. */
static uint32_t go_on(struct tree *tree, uint32_t node, struct tree_frame frame)
{
	uint32_t heir = tree->nodes[node].heir;
	if (heir != 0 && key_of(tree->places.items[tree->nodes[heir].place]) == key_of(frame))
		return heir;
	uint32_t child = child_of(tree, node, frame);
	tree->nodes[node].heir = child;
	return child;
}

uint32_t tree_add(struct tree *tree, const struct tree_frame *frames, uint32_t count,
		  uint32_t line_frame)
{
	if (count == 0)
		return TREE_ROOT;
	if (!tree_has_room(tree, count)) {
		tree->cut++;
		return child_of(tree, TREE_ROOT, frames[line_frame]);
	}
	uint32_t node = TREE_ROOT;
	for (uint32_t i = count - 1; i > 0; i--)
		node = go_on(tree, node, frames[i]);
	return child_of(tree, node, frames[0]);
}
