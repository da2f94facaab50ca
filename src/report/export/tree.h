/* tree.h - the stacks of a profile, weighed by one metric, for the exports.
 *
 * Values are whole microseconds or bytes, so that sums are exact: whatever an
 * export adds up, it gets below[0].  A profile without stacks gives a flat
 * tree, one node a line.  Time that no Python frame accounts for, which the
 * profile has at its root, becomes a node of its own, so the root's value is 0.
 * Trees of the same profile have the same nodes, whatever the metric.
 * Always: below[i] = values[i] + sum of below over the children of i. */
#ifndef HEATLINE_REPORT_EXPORT_TREE_H
#define HEATLINE_REPORT_EXPORT_TREE_H

#include "profile/model.h"
#include "report/export/export.h"

struct export_tree {
	const struct profile *profile;   /* borrowed */
	const struct stack_node *nodes;  /* the profile's, or made */
	uint32_t count;                  /* at least 1: the root */
	bool is_flat;                    /* by line, without stacks */
	uint64_t *values, *below;        /* owned; of each node, and with all below it */
	uint32_t *first_child, *sibling; /* owned; heaviest first; 0: none */
	struct stack_node *made;         /* owned; NULL when the profile's serve */
};

void export_tree_init(struct export_tree *tree, const struct profile *profile,
		      enum export_metric metric);
void export_tree_fini(struct export_tree *tree);

/* What the metric makes of these figures; sums stop at INT64_MAX. */
uint64_t export_value(const struct metrics *self, enum export_metric metric);
uint64_t export_add(uint64_t a, uint64_t b);

/* Called for each node that weighs anything, parents around their children.
 * at: where it begins and ends when all are laid side by side from 0 on. */
struct export_visitor {
	void (*enter)(void *context, uint32_t node, uint32_t depth, uint64_t at);
	void (*leave)(void *context, uint32_t node, uint64_t at); /* may be NULL */
	void *context;
};

void export_tree_walk(const struct export_tree *tree, const struct export_visitor *visitor);

/* The nodes from the outermost frame to this one in *path (grown as needed,
 * *room entries; the caller frees it); how many. */
uint32_t export_tree_path(const struct export_tree *tree, uint32_t node, uint32_t **path,
			  uint32_t *room);

#endif
