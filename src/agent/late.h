/* late.h - ends of allocations that found the ring full, until it has room.
 *
 * Shared by all threads without a lock: a number is in one place of the list at most. */
#ifndef HEATLINE_AGENT_LATE_H
#define HEATLINE_AGENT_LATE_H

#include <stdbool.h>
#include <stdint.h>

#define LATE_MAX 8192u

/* Keeps the number of a sample, which is not 0.  False: there is no room. */
bool late_put(uint64_t id);

/* Hands them to push until that says no.  Returns how many were lost: the one that push
 * refused, if its place and all others have been taken meanwhile. */
uint32_t late_push(bool (*push)(uint64_t id));

void late_drop(void);

#endif
