/* activity.c - see activity.h. */
#include "remote/activity.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/procfs.h"
#include "base/text.h"
#include "remote/core.h"
#include "remote/socket.h"

static enum remote_activity_kind kind_of_call(const struct blocked_call *call,
					      const struct py_gil *gil)
{
	return blocked_call_is_futex(call, gil->start, gil->end) ? ACTIVITY_GIL : ACTIVITY_WAITING;
}

/* What the open syscall file of a thread tells; ACTIVITY_WAITING: in this call. */
static enum remote_activity_kind read_kind(int fd, const struct py_gil *gil,
					   struct blocked_call *call)
{
	char text[256];
	ssize_t got = pread(fd, text, sizeof(text) - 1, 0);

	if (got <= 0)
		return ACTIVITY_UNKNOWN;
	text[got] = '\0';
	if (!blocked_call_parse(text, call))
		return ACTIVITY_RUNNING;
	return kind_of_call(call, gil);
}

int remote_activity_open(const struct remote *remote, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)remote->pid, (int)tid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

enum remote_activity_kind remote_activity_kind(int fd, const struct py_gil *gil, struct blocked_call *call)
{
	return fd >= 0 ? read_kind(fd, gil, call) : ACTIVITY_UNKNOWN;
}

/* ---- in words ---- */

static void describe_file(const struct remote *remote, uint64_t fd, char *text, size_t size)
{
	char name[40], target[256], peer[200] = " ";
	unsigned long long inode;

	snprintf(name, sizeof(name), "fd/%d", (int)fd);
	if (!procfs_link(remote->pid, name, target, sizeof(target)))
		return;
	if (sscanf(target, "socket:[%llu]", &inode) == 1)
		snprintf(text, size, "socket%s",
			 socket_describe(remote->pid, inode, peer + 1, sizeof(peer) - 1) ? peer : "");
	else if (text_starts_with(target, "pipe:"))
		snprintf(text, size, "pipe");
	else
		snprintf(text, size, "%s", target);
}

/* The descriptor that the call waits for: its first argument, or the only one in
 * a list (sockets with a timeout wait so). */
static bool find_file(const struct remote *remote, const struct blocked_call *call, enum blocked_on on,
		      uint64_t *fd)
{
	int32_t listed;

	*fd = call->arguments[0];
	if (blocked_on_has_file(on))
		return true;
	if (!blocked_call_is_list(call) || call->arguments[1] != 1 ||
	    !remote->reader.read(&remote->reader, call->arguments[0], &listed, sizeof(listed)) || listed < 0)
		return false;
	*fd = (uint64_t)listed;
	return true;
}

static void describe_call(const struct remote *remote, const struct blocked_call *call,
			  struct remote_activity *activity)
{
	enum blocked_on on = blocked_call_on(call);
	uint64_t fd;

	activity->what = blocked_on_word(on);
	if (on == BLOCKED_OTHER)
		snprintf(activity->detail, sizeof(activity->detail), "system call %ld", call->number);
	else if (remote->core == NULL && find_file(remote, call, on, &fd))
		describe_file(remote, fd, activity->detail, sizeof(activity->detail));
}

/* Whether a signal or a debugger has stopped the thread. */
static bool is_stopped(const struct remote *remote, pid_t tid)
{
	char name[40], text[1024];

	snprintf(name, sizeof(name), "task/%d/stat", (int)tid);
	if (procfs_read(remote->pid, name, text, sizeof(text)) <= 0)
		return false;
	const char *state = strrchr(text, ')');
	return state != NULL && (state[2] == 'T' || state[2] == 't');
}

/* What the thread was doing when the core was written. */
static void read_core(const struct remote *remote, pid_t tid, const struct py_gil *gil,
		      struct remote_activity *activity)
{
	const struct core_thread *thread = core_find_thread(remote->core, tid);

	if (thread == NULL || thread->pthread_id == 0)
		return;
	activity->kind = thread->is_blocked ? kind_of_call(&thread->call, gil) : ACTIVITY_RUNNING;
	if (activity->kind == ACTIVITY_WAITING)
		describe_call(remote, &thread->call, activity);
}

void remote_activity_read(const struct remote *remote, pid_t tid, int fd,
			  const struct py_gil *gil, struct remote_activity *activity)
{
	struct blocked_call call;
	int own = -1;

	activity->kind = ACTIVITY_UNKNOWN;
	activity->what = NULL;
	activity->detail[0] = '\0';
	if (remote->core != NULL) {
		read_core(remote, tid, gil, activity);
		return;
	}
	if (fd < 0 && tid > 0)
		own = remote_activity_open(remote, tid);
	if (fd >= 0 || own >= 0)
		activity->kind = read_kind(fd >= 0 ? fd : own, gil, &call);
	if ((activity->kind == ACTIVITY_GIL || activity->kind == ACTIVITY_WAITING) &&
	    is_stopped(remote, tid))
		activity->kind = ACTIVITY_STOPPED;
	if (activity->kind == ACTIVITY_WAITING)
		describe_call(remote, &call, activity);
	if (own >= 0)
		close(own);
}

const char *remote_activity_text(enum remote_activity_kind kind)
{
	static const char *const texts[] = {
		[ACTIVITY_UNKNOWN] = "unknown",
		[ACTIVITY_RUNNING] = "running",
		[ACTIVITY_GIL] = "waiting for the GIL",
		[ACTIVITY_WAITING] = "waiting",
		[ACTIVITY_STOPPED] = "stopped",
	};

	return texts[kind];
}
