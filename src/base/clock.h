/* clock.h - the clocks. */
#ifndef HEATLINE_BASE_CLOCK_H
#define HEATLINE_BASE_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC, the clock of all records. */
uint64_t clock_monotonic_ns(void);

/* CPU time of the calling process and of the calling thread. */
uint64_t clock_process_cpu_ns(void);
uint64_t clock_thread_cpu_ns(void);

/* Seconds since 1970, for showing. */
double clock_epoch_s(void);

#endif
