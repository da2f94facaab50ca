/* sites.c - see sites.h. */
#include "agent/sites.h"

/* Most programs have a few hundred sites.  They lie close together at the table's
 * beginning, where caches hold them; only when there are more is the rest used. */
#define PROBES 8u
#define WAITING_SHARE 128u
#define WAITING_SHARE_MOST 16u

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

struct agent_site *sites_find(struct agent_site *table, uint64_t key)
{
	uint64_t hash = (key * 0x9e3779b97f4a7c15ull) >> 40;
	key |= 1; /* 0 marks a free entry */
	struct agent_site *site = claim(table, SITES_NEAR, hash, key);
	if (site == NULL)
		site = claim(table + SITES_NEAR, SITES_COUNT, hash, key);
	return site != NULL ? site : &table[SITES_NEAR + (hash & (SITES_COUNT - 1))];
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t sites_window(const struct agent_site *site, const struct meter_budget *budget,
		      uint64_t all_window)
{
	uint64_t sampled = atomic_load_explicit(&site->sampled, memory_order_relaxed);
	uint64_t own = smaller(meter_rate_window(&site->rate, budget), sampled / WAITING_SHARE);
	uint64_t all = smaller(all_window, sampled / WAITING_SHARE_MOST);
	uint64_t window = own > all ? own : all;
	return window > budget->least_window ? window : budget->least_window;
}

uint64_t sites_add(struct agent_site *site, uint64_t bytes, uint64_t window)
{
	uint64_t pending = bytes +
			   atomic_fetch_add_explicit(&site->pending, bytes, memory_order_relaxed);
	if (pending < window)
		return 0;
	pending = atomic_exchange_explicit(&site->pending, 0, memory_order_relaxed);
	atomic_fetch_add_explicit(&site->sampled, pending, memory_order_relaxed);
	return pending;
}

void sites_give_back(struct agent_site *site, uint64_t bytes)
{
	atomic_fetch_add_explicit(&site->pending, bytes, memory_order_relaxed);
	atomic_fetch_sub_explicit(&site->sampled, bytes, memory_order_relaxed);
}
