/* stack_tree.h - the stack tree of a profile: one node for each distinct way down.
 *
 * Node 0 is the root.  Children come after their parent, always, so a pass
 * from the end sums up and a pass from the start hands down.  The tree is
 * bounded: at STACK_TREE_MAX_NODES the lightest branches are folded into the nodes
 * they hang from, whose self time then includes them. */
#ifndef HEATLINE_PROFILE_STACK_TREE_H
#define HEATLINE_PROFILE_STACK_TREE_H

#include "profile/model.h"

#define STACK_TREE_MAX_NODES 60000u
#define STACK_NO_FILE UINT32_MAX

/* The child of parent with these features, made when missing (the root too).
 * Call stack_tree_make_room for the whole stack first: folding moves nodes. */
uint32_t stack_tree_child(struct profile *profile, uint32_t parent, uint32_t file,
			  const char *function, uint32_t first_line, uint32_t line);

/* The same, but 0 when there is none. */
uint32_t stack_tree_find(struct profile *profile, uint32_t parent, uint32_t file,
			 const char *function, uint32_t first_line, uint32_t line);

/* Makes room for count more nodes, by folding if need be; says whether that
 * was so, and all nodes have moved. */
bool stack_tree_make_room(struct profile *profile, uint32_t count);

/* Folds nodes[0..count) in place until at most keep are left; returns how
 * many there are. */
uint32_t stack_tree_fold(struct stack_node *nodes, uint32_t count, uint32_t keep);

/* The same, and tells where each node's figures went: moved_to has room for
 * count indexes. */
uint32_t stack_tree_fold_to(struct stack_node *nodes, uint32_t count, uint32_t keep,
			    uint32_t *moved_to);

#endif
