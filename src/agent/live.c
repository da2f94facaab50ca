/* live.c - see live.h. */
#include "agent/live.h"

#include <errno.h>
#include <string.h>

#include "agent/agent.h"

#define BUCKETS (1u << 15)
#define BUCKET_PLACES 8u
#define PLACES (BUCKETS * BUCKET_PLACES)

struct place {
	_Atomic uint64_t block; /* 0: free */
	uint64_t id;            /* written and read by who holds the block */
};

/* Where a block may be, in this order: a bucket among the first few, which are all that
 * most programs ever touch (each page of the table that is touched costs a page fault,
 * again in every child); one among some more; a few neighbours in the rest. */
static const struct {
	uint32_t first, count, step;
} homes[] = {
	{0, 256, 0},        {256, 3840, 0},     {4096, 28669, 0},
	{4096, 28669, 1},   {4096, 28669, 2},   {4096, 28669, 3},
};
#define HOMES (sizeof(homes) / sizeof(homes[0]))

_Alignas(4096) _Atomic uint8_t g_live_filter[LIVE_FILTER_SLOTS];
static struct place *places;
static bool is_wiped; /* by a fork */
static _Atomic uint32_t live_count;
static _Atomic uint32_t live_limit; /* when it is reached the table is crowded */
static _Atomic uint32_t homes_used; /* no block was ever put further */

static struct place *home_of(const void *block, uint32_t home)
{
	uint64_t hash = ((uint64_t)(uintptr_t)block >> 4) * 0x9e3779b97f4a7c15ull >> 32;
	uint64_t bucket = homes[home].first + (hash * homes[home].count >> 32) + homes[home].step;
	return &places[bucket * BUCKET_PLACES];
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

static bool claim(struct place *place, const void *block)
{
	uint64_t empty = 0;
	return atomic_load_explicit(&place->block, memory_order_relaxed) == 0 &&
	       atomic_compare_exchange_strong(&place->block, &empty, (uint64_t)(uintptr_t)block);
}

/* Who frees the block has got it from who allocated it, and so sees this too. */
static void note_home(uint32_t home)
{
	uint32_t used = atomic_load_explicit(&homes_used, memory_order_relaxed);
	while (home >= used && !atomic_compare_exchange_weak(&homes_used, &used, home + 1))
		continue;
}

enum live_added live_add(const void *block, uint64_t id)
{
	for (uint32_t home = 0; home < HOMES && places != NULL; home++) {
		struct place *bucket = home_of(block, home);
		for (uint32_t i = 0; i < BUCKET_PLACES; i++) {
			if (!claim(&bucket[i], block))
				continue;
			bucket[i].id = id;
			note_home(home);
			filter_count(block, 1);
			return count_one();
		}
	}
	return LIVE_FULL;
}

static struct place *find(const void *block)
{
	uint32_t used = atomic_load_explicit(&homes_used, memory_order_relaxed);
	for (uint32_t home = 0; home < used; home++) {
		struct place *bucket = home_of(block, home);
		for (uint32_t i = 0; i < BUCKET_PLACES; i++)
			if (atomic_load_explicit(&bucket[i].block, memory_order_acquire) ==
			    (uint64_t)(uintptr_t)block)
				return &bucket[i];
	}
	return NULL;
}

uint64_t live_take(const void *block)
{
	if (block == NULL || places == NULL || !live_may_have(block))
		return 0;
	struct place *place = find(block);
	if (place == NULL)
		return 0;
	uint64_t id = place->id;
	filter_count(block, -1);
	atomic_store_explicit(&place->block, 0, memory_order_release);
	atomic_fetch_sub_explicit(&live_count, 1, memory_order_relaxed);
	return id;
}

/* --- life --- */

#define TABLE_BYTES (sizeof(struct place) * PLACES)

/* Given back to the system, not overwritten: a child would have to copy its pages first. */
static void clear_filter(void)
{
	if (madvise((void *)g_live_filter, sizeof(g_live_filter), MADV_DONTNEED) != 0)
		memset((void *)g_live_filter, 0, sizeof(g_live_filter));
}

static void begin(void)
{
	atomic_store(&live_count, 0);
	atomic_store(&live_limit, PLACES / 2);
	atomic_store(&homes_used, 0);
}

int live_start(void)
{
	void *fresh = agent_map_again(places, TABLE_BYTES);
	if (fresh == NULL)
		return -errno;
	clear_filter();
	begin();
	places = fresh;
	is_wiped = agent_wipe_on_fork(places, TABLE_BYTES) &&
		   agent_wipe_on_fork((void *)g_live_filter, sizeof(g_live_filter));
	return 0;
}

int live_after_fork(void)
{
	if (!is_wiped)
		return live_start();
	begin();
	return 0;
}
