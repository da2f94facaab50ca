/* price.c - see price.h. */
#include "wire/price.h"

#include <stdbool.h>

/* A read of the clock takes less, an interrupt more. */
#define JUMP_MIN_NS 1000u
/* Two interrupts that are nearer belong to one event. */
#define APART_NS 20000u

/* The way into the handler and back, which the loop does not see, and what it costs
 * the program to find its caches as they were (8 to 10 us were measured on two machines:
 * work lost to an event every 4 ms, less the jumps). */
#define DELIVERY_NS 8000u

/* Whatever was seen, it is taken to be no more. */
#define PRICE_MAX_NS 100000u
#define PRICE_UNKNOWN_NS 60000u

#define SWITCH_SHARE 6u    /* of an event's price, that a switch costs */
#define SWITCH_BUDGET 100u

void price_see(struct price_gaps *gaps, uint64_t before_ns, uint64_t after_ns)
{
	if (after_ns - before_ns < JUMP_MIN_NS)
		return;
	bool is_same_event = gaps->count > 0 && before_ns - gaps->end_ns < APART_NS;
	if (!is_same_event && gaps->count < PRICE_GAPS_MAX)
		gaps->ns[gaps->count++] = 0;
	gaps->ns[gaps->count - 1] += after_ns - before_ns;
	gaps->end_ns = after_ns;
}

static void sort(struct price_gaps *gaps)
{
	for (uint32_t i = 1; i < gaps->count; i++) {
		uint64_t moved = gaps->ns[i];
		uint32_t at = i;
		for (; at > 0 && gaps->ns[at - 1] > moved; at--)
			gaps->ns[at] = gaps->ns[at - 1];
		gaps->ns[at] = moved;
	}
}

/* The one that a quarter of them is below: a host that is busy makes some of our events
 * much longer (a run was seen to take them for four times as dear as they were, by the median,
 * and had a fourth of the samples), and other interrupts, which are shorter, are rare.  As
 * many gaps as there is room for are there only where each reading is a system call. */
uint32_t price_of(struct price_gaps *gaps)
{
	if (gaps->count == 0 || gaps->count == PRICE_GAPS_MAX)
		return PRICE_UNKNOWN_NS;
	sort(gaps);
	uint64_t price_ns = gaps->ns[gaps->count / 4] + DELIVERY_NS;
	return price_ns > PRICE_MAX_NS ? PRICE_MAX_NS : (uint32_t)price_ns;
}

uint64_t price_of_switches(uint32_t price_ns, uint64_t switches)
{
	return switches * (price_ns / SWITCH_SHARE);
}

bool price_is_switching(uint32_t price_ns, uint64_t switches, uint64_t cpu_ns)
{
	return price_of_switches(price_ns, switches) > cpu_ns / SWITCH_BUDGET;
}
