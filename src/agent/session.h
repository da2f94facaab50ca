/* session.h - what the Python package calls in the agent, through ctypes.
 *
 * Two cases.  The process was started by "heatline run": the agent is there
 * before Python, and the package only switches it on and off.  Or it was not:
 * then the package starts a collector, loads the library and begins a session
 * with heatline_agent_start, which heatline_agent_stop ends: signal handler,
 * timers and tables are then as they were before, and the library's code, which
 * stays in memory, is not called any more.
 *
 * The caller holds the GIL but in heatline_agent_show, which waits. */
#ifndef HEATLINE_AGENT_SESSION_H
#define HEATLINE_AGENT_SESSION_H

#include <stddef.h>
#include <stdint.h>

#define SESSION_EXPORT __attribute__((visibility("default")))

/* As in the package's api.py. */
struct session_request {
	const char *folder;          /* the run's, made by the collector */
	const unsigned long *idents; /* pthread_self() of the threads that run Python */
	size_t ident_count;
};

enum agent_state {
	AGENT_OUT, /* not part of a run, or of no use in it */
	AGENT_ON,
	AGENT_OFF, /* suspended */
};

/* Begins a session; one that goes on (of the process that forked this one) is
 * left first.  Returns 0; or -1 and says why, with nothing changed. */
SESSION_EXPORT int heatline_agent_start(const struct session_request *request, char *why,
					size_t size);

/* Leaves the session that heatline_agent_start has begun. */
SESSION_EXPORT void heatline_agent_stop(void);

/* enum agent_state. */
SESSION_EXPORT int heatline_agent_state(void);

/* Suspends or resumes the run that this process is part of. */
SESSION_EXPORT void heatline_agent_switch(int is_on);

/* A word for the profile's timeline. */
SESSION_EXPORT void heatline_agent_mark(const char *text, size_t size);

/* Has the collector write the profile so far, waits for it and says where it
 * is.  Returns 0, or -1 when it does not answer. */
SESSION_EXPORT int heatline_agent_show(char *path, size_t size);

/* --- for the agent itself --- */

/* A preloaded agent leaves the process for good: nothing of it calls the kernel any more, and
 * the report says why.  No effect where there is none that measures. */
void session_leave(const char *why);

#endif
