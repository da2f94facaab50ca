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
	/* Who has set is_busy: */
	uint32_t random;
	uint32_t stretch; /* bytes, of the one that goes on */
	uint32_t left;    /* of it; 0: another begins */
	uint32_t point;   /* what is left of it at the point */
};
_Static_assert(sizeof(struct agent_site) == 64, "a line of the cache");

/* The site with this key, in a table of SITES_ALL that begins all zero. */
struct agent_site *sites_find(struct agent_site *table, uint64_t key);

/* How long the next stretch may be: as long as the site's own rate wants, or all_window
 * when all sites together take too many samples; but never more than a small part of
 * all that the site took, since its figure errs by as much.  So a site has some hundred
 * samples at the least however much the others take.  A site of temporaries, whose
 * samples have nearly all ended, takes no more than it needs for its sum. */
uint64_t sites_window(const struct agent_site *site, const struct meter_budget *budget,
		      uint64_t all_window);

/* Adds bytes that were met, if the stretch goes on behind them and its point is not
 * among them: then no sample is to be taken, which is what mostly happens, and costs
 * least.  False: nothing is added. */
bool sites_pass_by(struct agent_site *site, uint64_t bytes);

/* Adds bytes that were met.  Returns what a sample of them stands for, 0 when none is to be
 * taken.  window 0: always one. */
uint64_t sites_add(struct agent_site *site, uint64_t bytes, uint64_t window);

/* A sample of the site is followed, or has come to its end. */
void sites_begin_sample(struct agent_site *site);
void sites_end_sample(struct agent_site *site);

/* The sample could not be taken: the next one of the site stands for its bytes. */
void sites_give_back(struct agent_site *site, uint64_t bytes);

#endif
