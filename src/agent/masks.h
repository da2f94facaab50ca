/* masks.h - which signals a thread blocks, in the program's view and in truth.
 *
 * Of a preloaded agent our signal is never really blocked, but while a thread waits for it
 * (sigwait); what the program wanted is noted for each thread, and is what it is told when it asks.
 * A signal that somebody else sent to a thread which "blocks" it is kept until it may come. */
#ifndef HEATLINE_AGENT_MASKS_H
#define HEATLINE_AGENT_MASKS_H

#include <signal.h>
#include <stdbool.h>

/* Finds out what the calling thread blocks, and unblocks our signal; a loaded agent
 * leaves all masks as they are.  Returns 0 or -errno. */
int masks_start(void);

/* The signal has been given back: the calling thread's mask is as the program wants it. */
void masks_stop(void);

/* Keeps a signal that is not ours for later, if the program has blocked it in
 * the calling thread; false: it is to be delivered.  [handler] */
bool masks_hold(const siginfo_t *info);

/* Sets the calling thread's mask past the program's view of it.  [handler] */
void masks_set_real(const sigset_t *mask);

/* A new thread blocks what its creator blocks: asked there, told here. */
bool masks_is_blocked(void);
void masks_inherit(bool was_blocked);

/* In a forked child: nothing is pending. */
void masks_after_fork(void);

#endif
