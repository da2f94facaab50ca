/* helped.h - what a library's threads compute for the main thread's line, which does not wait then.
 *
 * It is booked to that line as CPU time.  So of what the main thread waits for a lock, as much is
 * taken off before the rest is booked (waited.h), or the same second would count twice. */
#ifndef HEATLINE_COLLECT_HELPED_H
#define HEATLINE_COLLECT_HELPED_H

#include <stdint.h>

struct collector;
struct process;
struct thread;

/* A thread of the process that runs no Python has computed for the main thread's line. */
void helped_note(struct process *process, uint64_t cpu_ns);

/* The main thread was looked at: what was computed while it did not wait is no waiting's. */
void helped_limit(struct process *process, const struct thread *thread);

/* Of what the thread waits at the node: leaves what nobody has computed meanwhile. */
void helped_settle(struct collector *collector, struct process *process, struct thread *thread,
		   uint32_t node, uint64_t end_ns);

#endif
