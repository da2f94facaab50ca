/* watch.h - looks at threads that wait.
 *
 * A waiting thread has no samples.  At each round the kernel tells how long it was off the CPU since
 * the last look, exactly; where it waits is read from outside, if it does just now.  Waits too short
 * to be met are booked with the next that is, so the sum is exact.  Nothing is looked at in a run of
 * CPU time alone (is_virtual_time). */
#ifndef HEATLINE_COLLECT_WATCH_H
#define HEATLINE_COLLECT_WATCH_H

#include <stdint.h>

struct collector;
struct process;
struct thread;

/* One round of looks at the threads that may be waiting. */
void watch_round(struct collector *collector);

/* Profiling is suspended, or goes on: what threads wait in between is not
 * booked.  No round is turned meanwhile. */
void watch_suspend(struct collector *collector);
void watch_resume(struct collector *collector);

/* What the journal of an earlier collector tells: waiting that it has booked,
 * time ready to run that it has seen. */
void watch_book_again(struct collector *collector, struct process *process, struct thread *thread,
		      uint32_t node, uint64_t end_ns, uint64_t ns);
void watch_ready_again(struct collector *collector, struct process *process,
		       struct thread *thread, uint64_t ns);

/* The last word on a thread that has ended. */
void watch_end(struct collector *collector, struct process *process, struct thread *thread,
	       uint64_t end_ns);

#endif
