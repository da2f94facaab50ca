/* pace.c - see pace.h. */
#include "collect/pace.h"

#define NS_PER_MS 1000000u

unsigned pace_next_ms(uint64_t calm_ns, uint64_t cost_ns, uint64_t *random)
{
	uint64_t ms = calm_ns / NS_PER_MS / PACE_PART;
	uint64_t dear_ms = cost_ns * PACE_COST_PART / NS_PER_MS;
	if (ms < dear_ms)
		ms = dear_ms;
	if (ms < PACE_MS)
		ms = PACE_MS;
	if (ms > PACE_MAX_MS)
		ms = PACE_MAX_MS;
	*random = *random * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(ms + (*random >> 33) % (ms / 2));
}

uint64_t pace_find_ns(uint64_t cost_ns, uint64_t calm_ns)
{
	uint64_t ns = calm_ns / PACE_PART;
	if (ns < PACE_FIND_NS)
		ns = PACE_FIND_NS;
	if (ns < cost_ns * PACE_FIND_PART)
		ns = cost_ns * PACE_FIND_PART;
	return ns < PACE_FIND_MAX_NS ? ns : PACE_FIND_MAX_NS;
}

bool pace_is_astir(const struct pace_look *look)
{
	uint64_t part_ns = look->since_ns / PACE_WAITED_PART;
	if (!look->has_run)
		return look->is_waiting && !look->was_waiting;
	if (look->is_waiting && look->was_waiting)
		return look->settled_ns < PACE_SETTLED_NS;
	return look->is_waiting || look->was_waiting ||
	       look->waited_ns >= (part_ns > PACE_WAITED_NS ? part_ns : PACE_WAITED_NS);
}
