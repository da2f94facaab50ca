/* clock.h - the clocks. */
#ifndef HEATLINE_BASE_CLOCK_H
#define HEATLINE_BASE_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC, the clock of all records. */
uint64_t clock_monotonic_ns(void);

/* CPU time of the calling process and of the calling thread. */
uint64_t clock_process_cpu_ns(void);
uint64_t clock_thread_cpu_ns(void);

/* Of two moments, or of two lengths of time.  clock_between: 0 where the end is not behind the beginning,
 * as with clocks that are read one after the other. */
static inline uint64_t clock_between(uint64_t begin_ns, uint64_t end_ns)
{
	return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

static inline uint64_t clock_lesser(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

static inline uint64_t clock_larger(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

/* Seconds since 1970, for showing. */
double clock_epoch_s(void);

#endif
