/* waits.h - what a blocked thread waits for.
 *
 * Told by the system call that it is blocked in, by the kind of its descriptors, and
 * where that says too little by the Python function that made the call. */
#ifndef HEATLINE_COLLECT_WAITS_H
#define HEATLINE_COLLECT_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/codes.h"
#include "collect/tree.h"
#include "profile/model.h"
#include "python/reader.h"
#include "remote/blocked_call.h"

/* What it waits for, as far as the call and its descriptors tell; the reader is the process's. */
enum wait_kind waits_kind(const struct blocked_call *call, const struct mem_reader *reader);

/* The same, with a function on the stack: a lock inside the queue module is a queue, whatever
 * waits in the subprocess module waits for a child.  True when it is one of those through
 * which such modules wait, so that its caller is to be asked.  Who calls any other function
 * does not wait, that function does: a lock is one in a pool's thread too. */
bool waits_refine(enum wait_kind *kind, const char *filename, const char *qualname);

/* Both for a thread with this stack, innermost first. */
enum wait_kind waits_of_stack(const struct blocked_call *call, const struct mem_reader *reader,
			      const struct codes *codes, const struct tree_frame *frames,
			      uint32_t count);

/* The kind that a node waits for most, by majority vote. */
void waits_vote(struct tree_weights *self, enum wait_kind kind, uint64_t ns);

#endif
