/* sites.h - how many bytes a place in the program has taken since its last sample.
 *
 * A block that a mark has met (meter.h) need not be sampled at once: walking
 * the stack costs ten times what the mark does.  What is met at a site is taken
 * as one stretch after the other, each as long as the site's window was when it began.
 * Somewhere in each lies a point, anywhere with equal chance, and the block that
 * reaches it is sampled and stands for the whole stretch.  (A block that is larger
 * than the window stands for itself.)  So busy sites are sampled as often as they
 * can be afforded, a line that allocates little is sampled finely however much the
 * others do, and only the last stretch can be wrong: by chance, and right on average.
 *
 * A site is known by a key, a hash of the innermost frames and the kind of
 * block.  Different sites with one key share an entry: then a sample stands for
 * bytes of both, and is as likely to be of either as it has bytes; right on average
 * still.
 *
 * Shared by all threads without a lock. */
#ifndef HEATLINE_AGENT_SITES_H
#define HEATLINE_AGENT_SITES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/meter.h"

#define SITES_COUNT 8192u /* power of two */
#define SITES_NEAR 1024u  /* and so many in front of them; see sites.c */
#define SITES_ALL (SITES_NEAR + SITES_COUNT)

struct agent_site {
	_Atomic uint64_t key;   /* 0: free */
	_Atomic uint64_t added; /* bytes ever met */
	_Atomic uint64_t owed;  /* of samples that could not be taken */
	struct meter_rate rate;
	_Atomic uint32_t alive; /* samples that have not ended, */
	_Atomic uint16_t taken; /* of so many, or more than fit in here */
	_Atomic bool is_busy;
	/* Who has set is_busy, or knows that nobody else is here: */
	uint32_t random;
	uint32_t stretch; /* bytes, of the one that goes on */
	uint32_t left;    /* of it; 0: another begins */
	uint32_t point;   /* what is left of it at the point */
};
_Static_assert(sizeof(struct agent_site) == 64, "a line of the cache");

static inline uint64_t sites_hash(uint64_t key)
{
	return (key * 0x9e3779b97f4a7c15ull) >> 40;
}

/* The site with this key, which is not 0, when it is not in the first place where it can
 * be. */
struct agent_site *sites_find_further(struct agent_site *table, uint64_t key);

/* The site with this key, in a table of SITES_ALL that begins all zero. */
static inline struct agent_site *sites_find(struct agent_site *table, uint64_t key)
{
	key |= 1; /* 0 marks a free entry */
	struct agent_site *site = &table[sites_hash(key) & (SITES_NEAR - 1)];
	if (__builtin_expect(atomic_load_explicit(&site->key, memory_order_relaxed) == key, 1))
		return site;
	return sites_find_further(table, key);
}

/* How long the next stretch may be: slight bytes, which nobody will look for; as long as
 * the site's own rate wants, or all_window when all sites together take too many samples,
 * but then not more than a small part of all that the site took, since its figure errs by as
 * much.  So a site that matters has some dozens of samples at the least however much the
 * others take.  A site of temporaries, whose samples have nearly all ended, takes no more
 * than it needs for its sum. */
uint64_t sites_window(const struct agent_site *site, const struct meter_budget *budget,
		      uint64_t all_window, uint64_t slight);

/* Only a hint for the window: what two threads lose at the same time is no harm. */
static inline void sites_note_added(struct agent_site *site, uint64_t bytes)
{
	uint64_t added = atomic_load_explicit(&site->added, memory_order_relaxed);
	atomic_store_explicit(&site->added, added + bytes, memory_order_relaxed);
}

/* Whether the stretch's point is in its next bytes.  (Behind the point the difference is a
 * very large number: one comparison, which mostly ends the same way.) */
static inline bool sites_is_point_in(const struct agent_site *site, uint64_t bytes)
{
	return site->left - site->point - 1u < bytes;
}

/* Adds bytes that were met, if the stretch goes on behind them and its point is not
 * among them: then no sample is to be taken, which is what mostly happens, and costs
 * least.  False: nothing is added.  is_alone: no other thread can be at this site (they
 * wait for Python's lock), which saves a locked instruction. */
static inline bool sites_pass_by(struct agent_site *site, uint64_t bytes, bool is_alone)
{
	if (!is_alone && atomic_exchange_explicit(&site->is_busy, true, memory_order_acquire))
		return false;
	bool is_behind = bytes < site->left && !sites_is_point_in(site, bytes);
	if (is_behind) {
		site->left -= (uint32_t)bytes;
		sites_note_added(site, bytes);
	}
	if (!is_alone)
		atomic_store_explicit(&site->is_busy, false, memory_order_release);
	return is_behind;
}

/* Adds bytes that were met.  Returns what a sample of them stands for, 0 when none is to be
 * taken.  window 0: always one. */
uint64_t sites_add(struct agent_site *site, uint64_t bytes, uint64_t window);

/* A sample of the site is followed, or has come to its end. */
void sites_begin_sample(struct agent_site *site);
void sites_end_sample(struct agent_site *site);

/* What a sample of this weight also stands for, of bytes that were given back. */
uint64_t sites_take_owed(struct agent_site *site, uint64_t weight);

/* The sample could not be taken: the next ones of the site stand for its bytes. */
void sites_give_back(struct agent_site *site, uint64_t bytes);

#endif
