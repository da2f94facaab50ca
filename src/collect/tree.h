/* tree.h - every stack that was seen, as one tree with weights.
 *
 * A node is a place (an instruction of a code object) below its caller's node.
 * There are many nodes and few places, and most nodes only lead to others: what
 * was measured is kept apart, for those that have some.  Weights are
 * nanoseconds of samples whose innermost frame the node is.  open_ns is
 * time of which only the counts per instruction can tell whether it was
 * Python or native; classify.h decides when a profile is made.
 *
 * The tree is bounded: when TREE_MAX_NODES are in use a new stack is kept by
 * its innermost frame in scope alone, so lines stay right and stacks are cut. */
#ifndef HEATLINE_COLLECT_TREE_H
#define HEATLINE_COLLECT_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

#define TREE_MAX_NODES 150000u
#define TREE_ROOT 0u

struct tree_weights {
	uint64_t open_ns;
	uint64_t python_ns, native_ns, system_ns;
	uint64_t wait_ns; /* main thread off the CPU */
	uint64_t idle_ns; /* another thread off the CPU; no part of any total */
	uint64_t cpu_ns;  /* part of the above on a CPU */
	uint64_t gil_ns;  /* part of wait and idle: waiting for the GIL */
	uint64_t gc_ns;   /* part of open, python, native and system: garbage collection */
	uint64_t kind_ns; /* how far ahead wait_kind is of all others */
	uint32_t samples; /* CPU samples and looks at a waiting thread */
	uint8_t wait_kind; /* enum wait_kind: what most of the other waiting is for */
};

struct tree_memory {
	uint64_t alloc_bytes, live_bytes, copy_bytes; /* estimated from samples */
};

struct tree_frame {
	uint32_t code, offset; /* index in codes; byte offset of the instruction */
};

struct tree_node {
	uint32_t parent;
	uint32_t place;   /* in places; 0 for the root */
	uint32_t weights; /* in weights; 0: it has none */
	uint32_t memory;  /* in memory; 0: it has none */
	uint32_t heir;    /* the child through which a stack last went on; 0: none yet */
};

/* Item 0 of places and weights is nobody's, and zero; that of memory is the
 * interpreter's own start (memory.c). */
struct tree {
	struct tree_node *nodes; /* owned; parents before children */
	uint32_t count, room;
	VEC(struct tree_frame) places;
	VEC(struct tree_weights) weights;
	VEC(struct tree_memory) memory;
	struct map place_index; /* code and offset to place */
	uint32_t *children;     /* owned; open addressing by parent and place; 0: free */
	uint32_t child_mask;
	uint64_t cut; /* stacks that were kept by one frame only */
};

void tree_init(struct tree *tree);
void tree_fini(struct tree *tree);

/* Whether a stack of so many frames is kept whole. */
static inline bool tree_has_room(const struct tree *tree, uint32_t count)
{
	return tree->count + count <= TREE_MAX_NODES;
}

/* The node of a stack given innermost first; line_frame is the index of the
 * frame that stands for the stack when the tree has no room for it. */
uint32_t tree_add(struct tree *tree, const struct tree_frame *frames, uint32_t count,
		  uint32_t line_frame);

/* A node's weights, made when missing; valid until the next call. */
struct tree_weights *tree_weights(struct tree *tree, uint32_t node);

/* The number of a node's memory in tree->memory, made when missing. */
uint32_t tree_memory(struct tree *tree, uint32_t node);

/* Where a frame is among the places; 0: no stack has it. */
uint32_t tree_find_place(const struct tree *tree, struct tree_frame frame);

/* The frame of a node. */
static inline struct tree_frame tree_frame(const struct tree *tree, uint32_t node)
{
	return tree->places.items[tree->nodes[node].place];
}

#endif
