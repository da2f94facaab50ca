/* pools.h - mappings that a library's own allocator gives memory out of.
 *
 * Who asked it is not seen.  What a pool has grown by is an allocation of its own, a part, at each
 * node where the main thread was meanwhile; when it shrinks, the latest parts end first. */
#ifndef HEATLINE_COLLECT_POOLS_H
#define HEATLINE_COLLECT_POOLS_H

#include <stdint.h>

struct collector;
struct growth;
struct mapping;
struct process;

/* So much of a pool is in use now; growth: where the process has grown since that was last
 * known (not empty if it is more). */
void pools_resize(struct collector *collector, struct process *process, struct mapping *mapping,
		  uint64_t bytes, const struct growth *growth, double time_s);

#endif
