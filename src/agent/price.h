/* price.h - what one signal of a perf clock costs, from a look at the clock.
 *
 * Nearly all of it is the kernel's: a timer interrupt, and a second one that
 * sends the signal.  On bare metal both take some microseconds; a virtual
 * machine may have to ask its host for each (40 to 60 us were measured).  Our
 * handler sees none of it.  So a few events are let off in a loop that only
 * reads the clock, and where the clock jumps the interrupts were.
 *
 * Pure: reads no clock.  Signal-safe. */
#ifndef HEATLINE_AGENT_PRICE_H
#define HEATLINE_AGENT_PRICE_H

#include <stdint.h>

#define PRICE_GAPS_MAX 32u

/* Where the loop was interrupted; begin with zeroes. */
struct price_gaps {
	uint64_t ns[PRICE_GAPS_MAX];
	uint32_t count;
	uint64_t end_ns; /* of the last */
};

/* Two readings in a row. */
void price_see(struct price_gaps *gaps, uint64_t before_ns, uint64_t after_ns);

/* What one event took; a guess on the dear side where that cannot be told.
 * Reorders the gaps. */
uint32_t price_of(struct price_gaps *gaps);

#endif
