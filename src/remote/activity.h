/* activity.h - what a thread does now: it runs, waits for the GIL, or waits in
 * the kernel, and for what.
 *
 * A thread waits for the GIL when it sleeps on the GIL's own condition
 * variable: the address it sleeps on says so exactly. */
#ifndef HEATLINE_REMOTE_ACTIVITY_H
#define HEATLINE_REMOTE_ACTIVITY_H

#include "python/gil.h"
#include "remote/blocked_call.h"
#include "remote/remote.h"

enum remote_activity_kind {
	ACTIVITY_UNKNOWN, /* the thread has gone, or may not be looked at */
	ACTIVITY_RUNNING, /* on a CPU, or ready to be */
	ACTIVITY_GIL,     /* waits for the GIL */
	ACTIVITY_WAITING, /* in the kernel */
	ACTIVITY_STOPPED, /* by a signal or a debugger */
};

struct remote_activity {
	enum remote_activity_kind kind;
	const char *what; /* "sleep", "lock", "read": static; NULL unless WAITING */
	char detail[256]; /* what on: "/dev/pts/0", "socket to 10.0.0.7:5432"; may be empty */
};

/* fd is an open /proc/PID/task/TID/syscall, or -1: it is opened for this once. */
void remote_activity_read(const struct remote *remote, pid_t tid, int fd,
			  const struct py_gil *gil, struct remote_activity *activity);

/* The same without the detail, for a sampling loop; *call is what a thread that
 * waits is blocked in. */
enum remote_activity_kind remote_activity_kind(int fd, const struct py_gil *gil, struct blocked_call *call);

/* Opens the file; -1 when it cannot be. */
int remote_activity_open(const struct remote *remote, pid_t tid);

/* "running", "waiting for the GIL", ... */
const char *remote_activity_text(enum remote_activity_kind kind);

#endif
