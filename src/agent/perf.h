/* perf.h - a second clock beside the tick: a perf event on the thread's CPU time.
 *
 * Only the handler opens one, for its own thread, once ticks have shown that the thread works.
 * Where it is there its samples stand for user time, and ticks for the kernel's. */
#ifndef HEATLINE_AGENT_PERF_H
#define HEATLINE_AGENT_PERF_H

struct agent_thread;

/* Gives a thread that has shown to be busy a perf clock, or the one it has
 * another period; quietly does nothing where the system forbids it.
 * [handler] */
void perf_renew(struct agent_thread *self);
void perf_stop(struct agent_thread *self);

/* Takes its perf clock from a thread that has begun to leave its CPU all the time.  [handler] */
void perf_watch(struct agent_thread *self);

#endif
