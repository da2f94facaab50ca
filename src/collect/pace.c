/* pace.c - see pace.h. */
#include "collect/pace.h"

#define NS_PER_MS 1000000u

unsigned pace_next_ms(uint64_t quiet_ns, uint64_t *random)
{
	uint64_t ms = quiet_ns / NS_PER_MS / PACE_PART;
	if (ms < PACE_MS)
		ms = PACE_MS;
	if (ms > PACE_MAX_MS)
		ms = PACE_MAX_MS;
	*random = *random * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(ms + (*random >> 33) % (ms / 2));
}
