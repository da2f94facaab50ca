/* price.h - what one signal of a perf clock costs, from a look at the clock.
 *
 * Nearly all of it is the kernel's: a timer interrupt, and for most signals a
 * second one that sends it.  On bare metal both take some microseconds; a virtual
 * machine may have to ask its host for each (40 to 60 us were measured for both).  Our
 * handler sees none of it.  So a few events are let off in a loop that only
 * reads the clock, and where the clock jumps the interrupts were.
 *
 * Pure: reads no clock.  Signal-safe. */
#ifndef HEATLINE_WIRE_PRICE_H
#define HEATLINE_WIRE_PRICE_H

#include <stdbool.h>
#include <stdint.h>

#define PRICE_GAPS_MAX 32u

/* How it is tried.  Few events, and far apart: one that fires as fast as it can keeps the
 * kernel from its tick for a long time after (seen: nine of ten ticks in kernel mode
 * lost for the rest of the run).  More of them tell no more: of 150 trials each, by turns, nine
 * in ten said 21.0 to 30.4 us with four events of 100 us and 20.1 to 28.5 with seven of 150, which
 * take 0.7 ms longer. */
#define PRICE_TRIAL_PERIOD_NS 100000u
#define PRICE_TRIAL_NS (4u * PRICE_TRIAL_PERIOD_NS)

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

/* What so many switches cost a thread that has an event of this price: the kernel sets the event's
 * timer up each time the thread gets a CPU and takes it down when it leaves, some 8 us together
 * where an event takes 50.  (A server that waits for each of its requests lost 12 %.) */
uint64_t price_of_switches(uint32_t price_ns, uint64_t switches);

/* Whether that is more than 1 % of its CPU time. */
bool price_is_switching(uint32_t price_ns, uint64_t switches, uint64_t cpu_ns);

#endif
