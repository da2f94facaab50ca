/* live.h - which sampled blocks live, by address.
 *
 * Tables of buckets of eight, a small one first, shared by all threads without a lock: an
 * address is put in by the thread that has just been given it and taken out by
 * the one that gives it back, so no two threads ever work on the same address;
 * different ones meet only in the claim of a place.
 *
 * Before it stands a filter that says "not sampled" for nearly every free
 * without a look at the table. */
#ifndef HEATLINE_AGENT_LIVE_H
#define HEATLINE_AGENT_LIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_FILTER_SLOTS (1u << 17)

/* Sampled blocks per address class. */
extern _Atomic uint8_t g_live_filter[LIVE_FILTER_SLOTS];

static inline uint32_t live_filter_slot(const void *block)
{
	uint64_t at = (uint64_t)(uintptr_t)block >> 4;
	return (uint32_t)(at ^ at >> 17) & (LIVE_FILTER_SLOTS - 1);
}

static inline bool live_may_have(const void *block)
{
	return __builtin_expect(atomic_load_explicit(&g_live_filter[live_filter_slot(block)],
						     memory_order_relaxed) != 0, 0);
}

enum live_added {
	LIVE_ADDED,
	LIVE_CROWDED, /* added; and half of what was left of the table is taken */
	LIVE_FULL,    /* not added */
};

/* id: never 0. */
enum live_added live_add(const void *block, uint64_t id);

/* Takes a block out.  Returns its id, or 0 when it is not in. */
uint64_t live_take(const void *block);

/* Begins empty; again in a forked child.  Returns 0 or -errno. */
int live_start(void);
int live_after_fork(void);

#endif
