/* blocked_call.h - the system call that a thread is blocked in, as
 * /proc/PID/task/TID/syscall tells. */
#ifndef HEATLINE_REMOTE_BLOCKED_CALL_H
#define HEATLINE_REMOTE_BLOCKED_CALL_H

#include <stdbool.h>
#include <stdint.h>

struct blocked_call {
	long number; /* -1: blocked, but in none (a page is being read) */
	uint64_t arguments[2];
};

/* From the text of that file; false: the thread runs. */
bool blocked_call_parse(const char *text, struct blocked_call *call);

/* Whether it waits for a futex between these addresses. */
bool blocked_call_is_futex(const struct blocked_call *call, uint64_t start, uint64_t end);

/* Whether it waits for events on no descriptor at all, which is how time.sleep of
 * older Pythons sleeps. */
bool blocked_call_is_sleep(const struct blocked_call *call);

#endif
