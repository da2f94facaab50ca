/* ahead.h - what will be wanted of a target, read in one call.
 *
 * A reader in front of another: pieces that are named before are read together, and what is then
 * asked for is taken from them where they have it.  A system call costs more than a kilobyte that
 * nobody asks for.
 *
 * Signal-safe: everything here. */
#ifndef HEATLINE_PYTHON_AHEAD_H
#define HEATLINE_PYTHON_AHEAD_H

#include "python/reader.h"

#define AHEAD_PIECES 4u

struct ahead {
	struct mem_reader reader; /* to be read with; valid while this is not moved */
	const struct mem_reader *target;
	struct iovec from[AHEAD_PIECES], to[AHEAD_PIECES];
	uint32_t count;
};

/* target is borrowed. */
void ahead_init(struct ahead *ahead, const struct mem_reader *target);

/* Up to size bytes at addr will be wanted, as far as its page goes: what lies behind may not be
 * there.  to: room for them, borrowed. */
void ahead_want(struct ahead *ahead, py_addr addr, size_t size, void *to);

/* Reads what is wanted, in this order; from the first piece that cannot be read on, none is had. */
void ahead_load(struct ahead *ahead);

#endif
