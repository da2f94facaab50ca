/* pace.h - how long the collector waits between two rounds.
 *
 * Some thirty rounds a second while the program does something: rings must not
 * fill, and what a thread waits for is seen at a round.  A round costs some 50
 * microseconds, most of it for waking up.  While nothing happens at all there is
 * nothing to see, so the pause grows with the time that has been quiet: when
 * that ends, at most 1/PACE_PART of it is booked to where the program is by then.
 *
 * Pure. */
#ifndef HEATLINE_COLLECT_PACE_H
#define HEATLINE_COLLECT_PACE_H

#include <stdint.h>

#define PACE_MS 24u
#define PACE_PART 20u
#define PACE_MAX_MS 80u /* before jitter: what a program that wakes up writes meanwhile must fit in */

/* The next pause, when nothing has happened for so long; up to half of it more by
 * lot keeps the rounds out of step with the program.  *random is any number. */
unsigned pace_next_ms(uint64_t quiet_ns, uint64_t *random);

#endif
