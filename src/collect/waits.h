/* waits.h - what a blocked thread waits for.
 *
 * Told by the system call that it is blocked in, by the kind of descriptor, and
 * where that says too little by the Python function that made the call. */
#ifndef HEATLINE_COLLECT_WAITS_H
#define HEATLINE_COLLECT_WAITS_H

#include <sys/types.h>

#include "collect/codes.h"
#include "collect/tree.h"
#include "profile/model.h"
#include "remote/blocked_call.h"

/* What it waits for, as far as the call and the descriptor tell. */
enum wait_kind waits_kind(const struct blocked_call *call, pid_t pid);

/* The same, with the file of a function on the stack: a lock inside the queue
 * module is a queue, whatever waits in the subprocess module waits for a child. */
enum wait_kind waits_refine(enum wait_kind kind, const char *filename);

/* Both for a thread with this stack, innermost first; the codes' files tell. */
enum wait_kind waits_of_stack(const struct blocked_call *call, pid_t pid, const struct codes *codes,
			      const struct tree_frame *frames, uint32_t count);

/* The kind that a node waits for most, by majority vote. */
void waits_vote(struct tree_weights *self, enum wait_kind kind, uint64_t ns);

#endif
