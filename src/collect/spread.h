/* spread.h - does the program counter move about, or stand still?
 *
 * An operation that waits for memory, such as an access to a dictionary that misses
 * every cache, is met at the one or two machine instructions that wait.  One that
 * computes for the same time is met all over its loops.  So of two samples of an
 * instruction, how often have both the same program counter?
 *
 * Each sample is compared with a few before it.  Pure. */
#ifndef HEATLINE_COLLECT_SPREAD_H
#define HEATLINE_COLLECT_SPREAD_H

#include <stdint.h>

#define SPREAD_RECENT 8u

/* All zero: nothing was seen. */
struct spread {
	uint32_t recent[SPREAD_RECENT]; /* program counters, their lower halves */
	uint32_t seen;
	uint32_t same; /* pairs that were compared and found to be the same */
};

enum spread_kind {
	SPREAD_UNKNOWN, /* too few samples, or none with a program counter */
	SPREAD_STANDS,
	SPREAD_MOVES,
};

void spread_add(struct spread *spread, uint64_t pc);

enum spread_kind spread_kind(const struct spread *spread);

#endif
