/* mappings.h - a process's large mappings, and how much of them is resident.
 *
 * Address space that a library has mapped is memory as far as it was touched
 * (agent/mappings.h).  The kernel tells which pages were (/proc/PID/pagemap); to
 * ask takes a millisecond for a gigabyte, so it is asked when the resident memory
 * of the process has changed, and for a small part of the time only. */
#ifndef HEATLINE_COLLECT_MAPPINGS_H
#define HEATLINE_COLLECT_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "wire/record.h"

/* What of a pool was taken while the main thread was at a node. */
struct pool_part {
	uint64_t id; /* as an allocation of its own */
	uint64_t bytes;
	uint32_t node;
	bool is_startup;
};

/* Where the main thread was while the resident memory of the process grew. */
#define GROWTH_PLACES 16u
struct growth {
	uint32_t count;
	struct {
		uint32_t node;
		double bytes;
	} at[GROWTH_PLACES]; /* in their order; what is too much is the last one's */
};

struct mapping {
	uint64_t id; /* that of its allocation */
	uint64_t address, size;
	uint64_t bytes;  /* of it, that count as live */
	bool is_startup; /* the interpreter's own */
	bool is_pool;
	bool is_seen; /* it was looked at, and nothing was heard of it since … */
	uint64_t seen_bytes, seen_ns; /* … what was resident, and when */
	VEC(struct pool_part) parts; /* of a pool, the latest last */
};

struct mappings {
	VEC(struct mapping) list;
	double looked_bytes; /* resident memory of the process at the last look */
	uint64_t next_ns;    /* when the next may be */
	uint64_t parts;      /* that there ever were */
	struct growth grown; /* since the last look; */
	struct growth seen;  /* between that and the one before, never empty after a look */
};

/* So much more of the process is resident, with the main thread at this node. */
void growth_add(struct growth *growth, uint32_t node, double bytes);

void mappings_begin(struct mappings *mappings, struct mapping mapping);
void mappings_end(struct mappings *mappings, uint64_t id);
void mappings_fini(struct mappings *mappings);

/* NULL: it is not known.  Valid until the next call that begins or ends one. */
struct mapping *mappings_find(struct mappings *mappings, uint64_t id);

/* The same, by where it was; takes over where it lies now. */
struct mapping *mappings_change(struct mappings *mappings, const struct record_mapping *record);

/* Whether to look at them, given the process's resident memory. */
bool mappings_are_due(const struct mappings *mappings, double resident_bytes, uint64_t now_ns);

/* Looks; the main thread is at this node.  What is seen is to be believed once all that the process has told until then
 * is known: it may have unmapped them. */
void mappings_look(struct mappings *mappings, pid_t pid, double resident_bytes,
		   uint32_t main_node);

#endif
