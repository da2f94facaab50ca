/* sites.c - see sites.h. */
#include "agent/sites.h"

/* Most programs have a few hundred sites.  They lie close together at the table's
 * beginning, where caches hold them; only when there are more is the rest used. */
#define PROBES 8u

/* The longest stretch of a site whose own budget is used up: this part (1/n) of what it
 * took.  Where that of all is used up: so many times what is slight, or a larger part, and
 * for large sites, of which more is wanted, 2 to the power of half of (15 + log2 of it):
 * 1/20 of 5 MB, 1/64 of 64 MB.  Where more than one in so many of its samples lives, what
 * is live has to be known as well: no more than this part of it. */
#define SHARE_OWN 128u
#define SHARE_ALL 8u
#define SHARE_SLIGHT 4u
#define ROOT_LOG 15u
#define SHARE_LIVE 48u
#define LIVE_ALIVE 48u

/* Of what is owed, the part (1/n) that a sample takes over. */
#define SHARE_OWED 256u

/* Temporaries: after so many samples of which at most one in so many lives, a stretch
 * is as long as this part of what the site took, but no longer than makes a block that
 * is met alive look large. */
#define BRIEF_AFTER 64u
#define BRIEF_ALIVE 32u
#define SHARE_BRIEF 48u
#define BRIEF_BYTES (256u << 10)

/* The site with this key, or a free entry made its own; NULL when there is none in reach. */
static struct agent_site *claim(struct agent_site *first, uint64_t count, uint64_t hash, uint64_t key)
{
	for (uint64_t i = 0; i < PROBES; i++) {
		struct agent_site *site = &first[(hash + i) & (count - 1)];
		uint64_t at = atomic_load_explicit(&site->key, memory_order_relaxed);
		if (at == key ||
		    (at == 0 && atomic_compare_exchange_strong(&site->key, &at, key)) || at == key)
			return site;
	}
	return NULL;
}

struct agent_site *sites_find_further(struct agent_site *table, uint64_t key)
{
	uint64_t hash = sites_hash(key);
	struct agent_site *site = claim(table, SITES_NEAR, hash, key);
	if (site == NULL)
		site = claim(table + SITES_NEAR, SITES_COUNT, hash, key);
	return site != NULL ? site : &table[SITES_NEAR + (hash & (SITES_COUNT - 1))];
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Whether of a site's samples more than one in `part` lives. */
static bool has_alive(const struct agent_site *site, uint32_t part)
{
	uint64_t alive = atomic_load_explicit(&site->alive, memory_order_relaxed);
	return alive * part > atomic_load_explicit(&site->taken, memory_order_relaxed);
}

static uint64_t brief_window(const struct agent_site *site, uint64_t added)
{
	if (atomic_load_explicit(&site->taken, memory_order_relaxed) < BRIEF_AFTER ||
	    has_alive(site, BRIEF_ALIVE))
		return 0;
	return smaller(added / SHARE_BRIEF, BRIEF_BYTES);
}

static uint64_t share_window(const struct agent_site *site, uint64_t added)
{
	uint32_t log = 63u - (uint32_t)__builtin_clzll(added | 1);
	uint64_t longest = smaller(added / SHARE_ALL, 1ull << (log + ROOT_LOG) / 2);
	if (!has_alive(site, LIVE_ALIVE))
		return longest;
	uint64_t alive = atomic_load_explicit(&site->alive, memory_order_relaxed);
	uint64_t taken = atomic_load_explicit(&site->taken, memory_order_relaxed) + 1u;
	return smaller(longest, added / taken * alive / SHARE_LIVE);
}

uint64_t sites_window(const struct agent_site *site, const struct meter_budget *budget,
		      uint64_t all_window, uint64_t slight)
{
	uint64_t added = atomic_load_explicit(&site->added, memory_order_relaxed);
	uint64_t own = smaller(meter_rate_window(&site->rate, budget), added / SHARE_OWN);
	uint64_t all = smaller(all_window, larger(share_window(site, added), slight * SHARE_SLIGHT));
	uint64_t wanted = larger(larger(own, all), larger(brief_window(site, added), slight));
	uint64_t times = wanted / budget->least_window;
	return times > 1 ? budget->least_window << (63 - __builtin_clzll(times)) : budget->least_window;
}

/* Of 32 bits. */
static uint64_t next_random(struct agent_site *site)
{
	if (site->random == 0) {
		uint64_t key = atomic_load_explicit(&site->key, memory_order_relaxed);
		site->random = (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 32) | 1u;
	}
	site->random ^= site->random << 13;
	site->random ^= site->random >> 17;
	site->random ^= site->random << 5;
	return site->random * 0x9e3779b9u;
}

static bool enter(struct agent_site *site)
{
	return !atomic_exchange_explicit(&site->is_busy, true, memory_order_acquire);
}

static void leave(struct agent_site *site)
{
	atomic_store_explicit(&site->is_busy, false, memory_order_release);
}

/* Moves on by this many bytes, over the end of stretches.  Returns what the points that
 * were passed stand for. */
static uint64_t pass(struct agent_site *site, uint64_t bytes, uint64_t window)
{
	uint64_t weight = 0;
	while (bytes > 0) {
		if (site->left == 0) {
			site->stretch = site->left = (uint32_t)window;
			site->point = (uint32_t)(next_random(site) * window >> 32);
		}
		uint32_t step = bytes < site->left ? (uint32_t)bytes : site->left;
		if (sites_is_point_in(site, step))
			weight += site->stretch;
		site->left -= step;
		bytes -= step;
	}
	return weight;
}

/* All that is owed up to the sample's own weight, and of much a part.  (All at once, after a
 * second of a full ring, made a sample of 3 KB stand for a gigabyte, and its line's peak with it.) */
uint64_t sites_take_owed(struct agent_site *site, uint64_t weight)
{
	uint64_t owed = atomic_load_explicit(&site->owed, memory_order_relaxed);
	uint64_t part = 0;
	if (owed == 0)
		return 0;
	do
		part = smaller(owed, larger(weight, owed / SHARE_OWED));
	while (!atomic_compare_exchange_weak(&site->owed, &owed, owed - part));
	return part;
}

uint64_t sites_add(struct agent_site *site, uint64_t bytes, uint64_t window)
{
	uint64_t weight = bytes;
	sites_note_added(site, bytes);
	/* Who finds another thread here does not wait: a sample of these bytes is right too. */
	if (bytes < window && enter(site)) {
		weight = pass(site, bytes, window);
		leave(site);
	}
	return weight;
}

void sites_begin_sample(struct agent_site *site)
{
	uint16_t taken = atomic_load_explicit(&site->taken, memory_order_relaxed);
	if (taken < UINT16_MAX)
		atomic_store_explicit(&site->taken, (uint16_t)(taken + 1), memory_order_relaxed);
	atomic_fetch_add_explicit(&site->alive, 1, memory_order_relaxed);
}

void sites_end_sample(struct agent_site *site)
{
	atomic_fetch_sub_explicit(&site->alive, 1, memory_order_relaxed);
}

void sites_give_back(struct agent_site *site, uint64_t bytes)
{
	atomic_fetch_add_explicit(&site->owed, bytes, memory_order_relaxed);
}
