/* watch.h - looks at threads that wait. */
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
