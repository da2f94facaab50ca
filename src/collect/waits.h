/* waits.h - what a blocked thread waits for.
 *
 * Told by the system call that it is blocked in, by the kind of descriptor, and
 * where that says too little by the Python function that made the call. */
#ifndef HEATLINE_COLLECT_WAITS_H
#define HEATLINE_COLLECT_WAITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "profile/model.h"

/* The system call that a thread is blocked in. */
struct blocked_call {
	long number; /* -1: blocked, but in none (a page is being read) */
	uint64_t arguments[2];
};

/* From the text of /proc/PID/task/TID/syscall; false: the thread runs. */
bool waits_parse(const char *text, struct blocked_call *call);

/* Whether it waits for a futex between these addresses. */
bool waits_for_futex(const struct blocked_call *call, uint64_t start, uint64_t end);

/* What it waits for, as far as the call and the descriptor tell. */
enum wait_kind waits_kind(const struct blocked_call *call, pid_t pid);

/* The same, with the file of a function on the stack: a lock inside the queue
 * module is a queue, whatever waits in the subprocess module waits for a child. */
enum wait_kind waits_refine(enum wait_kind kind, const char *filename);

#endif
