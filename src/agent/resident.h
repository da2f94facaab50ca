/* resident.h - the most that was resident of the process, as the kernel knows it.
 *
 * Told with the process's end: the collector, which looks now and then, misses what comes and goes
 * in between. */
#ifndef HEATLINE_AGENT_RESIDENT_H
#define HEATLINE_AGENT_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>

/* Once a session starts, and in the child of a fork. */
void resident_start(void);
void resident_after_fork(void);

/* The most that was resident of the process since then; 0: not known.  is_at_once: no file
 * is read. */
uint64_t resident_peak_bytes(bool is_at_once);

#endif
