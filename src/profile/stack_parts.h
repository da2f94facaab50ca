/* stack_parts.h - stack nodes by bin of the timeline, or by thread.
 *
 * A list of stack_part is kept by node, then part, and has no pair twice.  Like
 * the tree it is bounded by folding: a light entry is added to the one of the
 * calling node for the same part, so every part keeps its sum. */
#ifndef HEATLINE_PROFILE_STACK_PARTS_H
#define HEATLINE_PROFILE_STACK_PARTS_H

#include "profile/model.h"

/* Sorts, joins what has the same node and part, leaves out what is 0; returns
 * how many there are. */
uint32_t stack_parts_sum(struct stack_part *parts, uint32_t count);

/* Folds a list in place until at most keep are left (or one a part, if that is
 * more); returns how many.  parents[0..nodes): the calling node of each node,
 * smaller than its own index. */
uint32_t stack_parts_fold(struct stack_part *parts, uint32_t count, const uint32_t *parents,
			  uint32_t nodes, uint32_t keep);

#endif
