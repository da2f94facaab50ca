/* builder.h - what the parts that make a profile share; for build*.c alone.
 *
 *	build.c            files, stacks and lines; the warnings
 *	build_memory.c     allocations, copies, leaks, the footprint
 *	build_processes.c  processes and threads
 *	build_timeline.c   when it happened
 *	build_gpu.c        what GPUs did (gpu.h)
 *
 * A builder lives for one profile.  Stacks come first: the other parts ask for their numbers. */
#ifndef HEATLINE_COLLECT_BUILDER_H
#define HEATLINE_COLLECT_BUILDER_H

#include "collect/collector.h"
#include "profile/book.h"

/* What the profile has of a node of the tree. */
struct built_node {
	uint32_t stack; /* in profile->stacks */
	bool is_known;
	bool is_folded; /* into an outer part of its stack */
};

/* Everything that is needed to turn nodes into booked stacks. */
struct builder {
	struct collector *collector;
	struct profile *profile;
	uint32_t *files; /* owned; of each code: index in profile->files + 1, or 0 */
	struct book_frame *frames; /* owned; of one stack, outermost first */
	uint32_t frame_room;
	struct book_frame *known; /* owned; by place of the tree; function NULL: not yet */
	struct built_node *nodes; /* owned; of each tree node */
	uint32_t *way; /* owned; room for as many: from a node up to one that is known */
};

/* --- build.c --- */

/* The profile's stack node for a node of the tree, after all were booked. */
uint32_t builder_find_node(struct builder *builder, uint32_t node);

/* --- build_memory.c --- */

/* What the run did to memory, into a profile whose stacks have been booked. */
void build_memory(struct collector *collector, struct profile *profile);

/* --- build_processes.c --- */

/* Fills in processes and threads; those are in the order of the collector's. */
void build_processes(struct collector *collector, struct profile *profile);

/* --- build_timeline.c --- */

void build_timeline(struct builder *builder);

#endif
