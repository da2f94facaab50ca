/* spread.c - see spread.h. */
#include "collect/spread.h"

/* Pairs that say something: those of 16 samples. */
#define PAIRS_MIN 92u

/* Of so many pairs one is the same where it stands.  Measured: one in 40 where lists are
 * searched, one in 1.1 to 2.8 where dictionaries miss the caches. */
#define STANDS 6u

void spread_add(struct spread *spread, uint64_t pc)
{
	uint32_t count = spread->seen < SPREAD_RECENT ? spread->seen : SPREAD_RECENT;
	for (uint32_t i = 0; i < count; i++)
		spread->same += spread->recent[i] == (uint32_t)pc;
	spread->pairs += count;
	spread->recent[spread->seen++ % SPREAD_RECENT] = (uint32_t)pc;
}

enum spread_kind spread_kind(const struct spread *spread)
{
	if (spread->pairs < PAIRS_MIN)
		return SPREAD_UNKNOWN;
	return spread->same >= spread->pairs / STANDS ? SPREAD_STANDS : SPREAD_MOVES;
}
