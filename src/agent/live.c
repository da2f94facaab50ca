/* live.c - see live.h. */
#include "agent/live.h"

#include <errno.h>
#include <string.h>

#include "agent/agent.h"

#define BUCKETS (1u << 15)
#define BUCKET_PLACES 8u
#define BUCKETS_TRIED 4u
#define PLACES (BUCKETS * BUCKET_PLACES)
#define TRIES (BUCKETS_TRIED * BUCKET_PLACES)

struct place {
	_Atomic uint64_t block; /* 0: free */
	uint64_t id;            /* written and read by who holds the block */
};

_Alignas(4096) _Atomic uint8_t g_live_filter[LIVE_FILTER_SLOTS];
static struct place *places;
static _Atomic uint32_t live_count;
static _Atomic uint32_t live_limit; /* when it is reached the table is crowded */

static struct place *place_of(const void *block, uint32_t attempt)
{
	uint64_t hash = ((uint64_t)(uintptr_t)block >> 4) * 0x9e3779b97f4a7c15ull;
	uint64_t bucket = ((hash >> 40) + attempt / BUCKET_PLACES) & (BUCKETS - 1);
	return &places[bucket * BUCKET_PLACES + attempt % BUCKET_PLACES];
}

/* A full counter stays full: it then says "maybe" for good. */
static void filter_count(const void *block, int change)
{
	_Atomic uint8_t *count = &g_live_filter[live_filter_slot(block)];
	if (atomic_load_explicit(count, memory_order_relaxed) < 255)
		atomic_fetch_add_explicit(count, (uint8_t)change, memory_order_release);
}

static enum live_added count_one(void)
{
	uint32_t limit = atomic_load_explicit(&live_limit, memory_order_relaxed);
	if (atomic_fetch_add_explicit(&live_count, 1, memory_order_relaxed) >= limit &&
	    atomic_compare_exchange_strong(&live_limit, &limit, limit + (PLACES - limit) / 2))
		return LIVE_CROWDED;
	return LIVE_ADDED;
}

enum live_added live_add(const void *block, uint64_t id)
{
	for (uint32_t i = 0; i < TRIES && places != NULL; i++) {
		struct place *place = place_of(block, i);
		uint64_t empty = 0;
		if (atomic_load_explicit(&place->block, memory_order_relaxed) == 0 &&
		    atomic_compare_exchange_strong(&place->block, &empty,
						   (uint64_t)(uintptr_t)block)) {
			place->id = id;
			filter_count(block, 1);
			return count_one();
		}
	}
	return LIVE_FULL;
}

uint64_t live_take(const void *block)
{
	uint64_t wanted = (uint64_t)(uintptr_t)block;
	if (block == NULL || places == NULL || !live_may_have(block))
		return 0;
	for (uint32_t i = 0; i < TRIES; i++) {
		struct place *place = place_of(block, i);
		if (atomic_load_explicit(&place->block, memory_order_acquire) != wanted)
			continue;
		uint64_t id = place->id;
		filter_count(block, -1);
		atomic_store_explicit(&place->block, 0, memory_order_release);
		atomic_fetch_sub_explicit(&live_count, 1, memory_order_relaxed);
		return id;
	}
	return 0;
}

int live_start(void)
{
	void *fresh = agent_map_again(places, sizeof(struct place) * PLACES);
	if (fresh == NULL)
		return -errno;
	memset((void *)g_live_filter, 0, sizeof(g_live_filter));
	atomic_store(&live_count, 0);
	atomic_store(&live_limit, PLACES / 2);
	places = fresh;
	return 0;
}
