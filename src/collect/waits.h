/* waits.h - what a blocked thread waits for.
 *
 * Told by the system call that it is blocked in, by the kind of descriptor, and
 * where that says too little by the Python function that made the call. */
#ifndef HEATLINE_COLLECT_WAITS_H
#define HEATLINE_COLLECT_WAITS_H

#include <sys/types.h>

#include "profile/model.h"
#include "remote/blocked_call.h"

/* What it waits for, as far as the call and the descriptor tell. */
enum wait_kind waits_kind(const struct blocked_call *call, pid_t pid);

/* The same, with the file of a function on the stack: a lock inside the queue
 * module is a queue, whatever waits in the subprocess module waits for a child. */
enum wait_kind waits_refine(enum wait_kind kind, const char *filename);

#endif
