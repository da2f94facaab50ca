/* sites.h - how many bytes a place in the program has taken since its last sample.
 *
 * A block that a mark has met (meter.h) need not be sampled at once: walking
 * the stack costs ten times what the mark does.  Its bytes are added to what its
 * site already owes; when that reaches the site's window the block is sampled
 * and stands for all of it.  So nothing is lost, busy sites are sampled as
 * often as they can be afforded, and a line that allocates little is sampled
 * finely however much the others do.
 *
 * A site is known by a key, a hash of the innermost frames and the kind of
 * block.  Different sites
 * with one key share an entry: then a sample stands for bytes of both, and is
 * as likely to be of either as it has bytes; right on average still.
 *
 * Shared by all threads without a lock. */
#ifndef HEATLINE_AGENT_SITES_H
#define HEATLINE_AGENT_SITES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/meter.h"

#define SITES_COUNT 8192u /* power of two */
#define SITES_NEAR 1024u  /* and so many in front of them; see sites.c */
#define SITES_ALL (SITES_NEAR + SITES_COUNT)

struct agent_site {
	_Atomic uint64_t key;     /* 0: free */
	_Atomic uint64_t pending; /* bytes met and not sampled yet */
	_Atomic uint64_t sampled; /* bytes that samples stood for */
	struct meter_rate rate;
};

/* The site with this key, in a table of SITES_ALL that begins all zero. */
struct agent_site *sites_find(struct agent_site *table, uint64_t key);

/* How many bytes may wait for a sample: as many as the site's own rate wants, or
 * all_window when all sites together take too many samples; but never more than
 * a small part of all that the site took, since what waits when the program ends
 * is missing in the profile.  So a site has some hundred samples at the least
 * however much the others take. */
uint64_t sites_window(const struct agent_site *site, const struct meter_budget *budget,
		      uint64_t all_window);

/* Adds bytes that were met.  Returns what a sample now stands for, or 0 while
 * it is less than the window. */
uint64_t sites_add(struct agent_site *site, uint64_t bytes, uint64_t window);

/* The sample could not be taken: the next one of the site stands for its bytes. */
void sites_give_back(struct agent_site *site, uint64_t bytes);

#endif
