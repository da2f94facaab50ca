/* split.h - what samples of the true CPU clock say of lines that were weighed by looks.
 *
 * Looks from outside are many: they tell how much CPU time a line takes.  They do not see
 * the kernel's time, nor where in C code a thread is.  Samples of a perf clock do (remote/perf_clock.h),
 * but each costs the program, so they are few.  So a line's time is the looks', and is split
 * as its samples are: what a line is made of varies less than which line is met, and of a line that
 * is all of one kind a few samples tell it all.
 *
 * System time of a line is taken from what counted as work in C, and only where that is
 * not enough (page faults of a list that grows) from the interpreter's. */
#ifndef HEATLINE_COLLECT_SPLIT_H
#define HEATLINE_COLLECT_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "collect/codes.h"
#include "collect/tree.h"

enum split_kind {
	SPLIT_INTERPRETER, /* user mode, in the interpreter or the C library: the instruction tells */
	SPLIT_NATIVE,      /* user mode, elsewhere */
	SPLIT_SYSTEM,      /* kernel mode */
};

struct split_counts {
	uint32_t samples[SPLIT_SYSTEM + 1];
};

struct split {
	VEC(struct split_counts) counts; /* of instructions and of lines; item 0 is of all */
	struct map ops;                  /* code and offset to counts */
	struct map lines;                /* code and line to counts */
};

void split_init(struct split *split);
void split_fini(struct split *split);

/* A sample at an instruction. */
void split_add(struct split *split, struct codes *codes, struct tree_frame frame, enum split_kind kind);

uint64_t split_samples(const struct split *split);

/* Which part of a line's CPU time is the kernel's, 0 to 1, as far as is known. */
double split_system_share(const struct split *split, struct codes *codes, struct tree_frame frame);

/* Splits the tree's times anew.  is_complete: all threads that ran were sampled, so that
 * a line without samples is taken to be like the others; else it is left as it is.
 * Not to be done twice: keep the weights before. */
void split_apply(const struct split *split, struct codes *codes, struct tree *tree, bool is_complete);

#endif
