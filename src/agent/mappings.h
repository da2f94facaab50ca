/* mappings.h - large mappings, which count for what of them is in use.
 *
 * Libraries take address space in large pieces and touch it bit by bit: an
 * allocator of their own maps a gigabyte at its first request, OpenBLAS 32 MB for
 * each of its threads.  So a large mapping is sampled as one of 0 bytes
 * (ALLOC_MAPPED); the collector looks at its pages now and then, and what they were
 * at the mapping's end, or the process's, is told from here.
 *
 * A small table, without a lock: a slot is claimed by exchanging its address, and
 * who finds it claimed leaves it alone.
 *
 * Not for signal handlers. */
#ifndef HEATLINE_AGENT_MAPPINGS_H
#define HEATLINE_AGENT_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>

/* The program has mapped this.  is_pool: to give out of it later, wherever the program
 * is then.  False: it is to be counted like any block. */
bool mappings_add(void *address, size_t size, bool is_pool);

/* The program is about to unmap this, or a part of it. */
void mappings_unmap(const void *address, size_t size);

struct mapping_slot;

/* For mremap, which may fail: takes out the mapping that begins here, if one is known
 * (else NULL), and tells what of it is resident; then it is put back, or has moved and
 * goes on as another. */
struct mapping_slot *mappings_take(const void *address);
void mappings_put_back(struct mapping_slot *slot, const void *address);
void mappings_moved(struct mapping_slot *slot);

/* Tells what all of them are now: the process ends. */
void mappings_tell(void);

/* Begins empty; again in a forked child, in which they are the parent's. */
void mappings_start(void);

#endif
