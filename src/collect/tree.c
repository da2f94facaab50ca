/* tree.c - see tree.h. */
#include "collect/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

void tree_init(struct tree *tree)
{
	memset(tree, 0, sizeof(*tree));
	map_init(&tree->children);
	map_init(&tree->places);
	vec_reserve(tree->nodes, tree->room, tree->count);
	memset(&tree->nodes[0], 0, sizeof(tree->nodes[0]));
	tree->count = 1;
}

void tree_fini(struct tree *tree)
{
	free(tree->nodes);
	map_fini(&tree->children);
	map_fini(&tree->places);
}

static uint32_t place_of(struct tree *tree, struct tree_frame frame)
{
	bool is_new;
	uint64_t key = (uint64_t)frame.code << 32 | frame.offset;
	uint64_t *place = map_put(&tree->places, key, &is_new);
	if (is_new)
		*place = tree->places.count;
	return (uint32_t)*place;
}

static uint32_t child_of(struct tree *tree, uint32_t parent, struct tree_frame frame)
{
	bool is_new;
	uint64_t key = (uint64_t)parent << 32 | place_of(tree, frame);
	uint64_t *child = map_put(&tree->children, key, &is_new);
	if (!is_new)
		return (uint32_t)*child;
	*child = tree->count;
	vec_reserve(tree->nodes, tree->room, tree->count);
	tree->nodes[tree->count] = (struct tree_node){
		.parent = parent, .code = frame.code, .offset = frame.offset};
	return tree->count++;
}

uint32_t tree_add(struct tree *tree, const struct tree_frame *frames, uint32_t count,
		  uint32_t line_frame)
{
	if (count == 0)
		return TREE_ROOT;
	if (tree->count + count > TREE_MAX_NODES) {
		tree->cut++;
		return child_of(tree, TREE_ROOT, frames[line_frame]);
	}
	uint32_t node = TREE_ROOT;
	for (uint32_t i = count; i-- > 0;)
		node = child_of(tree, node, frames[i]);
	return node;
}
