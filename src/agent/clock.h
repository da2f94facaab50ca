/* clock.h - reading a thread's clocks, and the timer on its CPU time.
 *
 * A timer sends its signal to one thread, whose state is sampled then.  A thread starts its own
 * as it begins; a session starts those of the threads that were there before.  clock_stop deletes
 * the timer and the perf event with it. */
#ifndef HEATLINE_AGENT_CLOCK_H
#define HEATLINE_AGENT_CLOCK_H

#include <stdint.h>

#include "agent/weigh.h"
#include "wire/ring.h"

struct agent_thread;

uint64_t now_wall_ns(void);     /* [handler] */
uint64_t now_cpu_ns(void);      /* [handler] */
uint64_t now_cpu_of_ns(int32_t tid); /* of another thread; 0: it has gone */

/* The kernel's tally of the calling thread's ticks in user and in kernel
 * mode.  (getrusage scales them, so that its system time grows while the
 * thread computes.)  [handler] */
struct weight now_tally(void);

/* Starts the calling thread's CPU timer.  Returns 0 or -errno. */
int clock_start(struct agent_thread *self);
void clock_stop(struct agent_thread *self);

/* The same for another thread, by its number; it has begun when it has called
 * clock_begin itself.  [handler] */
int clock_start_other(struct agent_thread *other);
void clock_begin(struct agent_thread *self);

/* While profiling is suspended: the timer only asks now and then whether it
 * still is.  Back to normal, the thread's time begins anew.  [handler] */
void clock_suspend(struct agent_thread *self);
void clock_resume(struct agent_thread *self);

/* Notes that a kind of clock is in use.  [handler] */
void clock_note(enum ring_clock clock);

#endif
