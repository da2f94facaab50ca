/* activity.c - see activity.h. */
#include "remote/activity.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/procfs.h"
#include "base/text.h"
#include "python/bits.h"
#include "remote/blocked_call.h"
#include "remote/core.h"

/* A GIL's structure: its interval, its last holder, whether it is taken, and
 * the locks of the C library, which differ by architecture; 3.12 and later. */
#define GIL_HOLDER 8u
#define GIL_LOCKED 16u
#define GIL_HEAD_BYTES 24u
#define GIL_BYTES 256u

uint32_t remote_gil_place(const struct remote *remote, const struct remote_gil *gil, py_addr *start)
{
	const struct py_layout *layout = &remote->layout;
	bool is_own = layout->interp_gil != PY_ABSENT;

	*start = is_own ? gil->start : remote->runtime + layout->runtime_gilstate_current;
	return gil->start == 0 ? 0 : is_own ? GIL_HEAD_BYTES : sizeof(py_addr);
}

void remote_gil_take(const struct remote *remote, struct remote_gil *gil, const unsigned char *bytes)
{
	if (remote->layout.interp_gil == PY_ABSENT)
		gil->holder = load_u64(bytes);
	else
		gil->holder = load_u32(bytes + GIL_LOCKED) == 1 ? load_u64(bytes + GIL_HOLDER) : 0;
}

static void read_holder(const struct remote *remote, struct remote_gil *gil)
{
	unsigned char bytes[GIL_HEAD_BYTES];
	py_addr start;
	uint32_t size = remote_gil_place(remote, gil, &start);

	if (size > 0 && remote->reader.read(&remote->reader, start, bytes, size))
		remote_gil_take(remote, gil, bytes);
}

void remote_gil_read(const struct remote *remote, py_addr interpreter, struct remote_gil *gil)
{
	const struct py_layout *layout = &remote->layout;
	py_addr at = 0;

	*gil = (struct remote_gil){ 0, 0, 0 };
	if (layout->interp_gil != PY_ABSENT) {
		if (remote->reader.read(&remote->reader, interpreter + layout->interp_gil, &at, sizeof(at)) &&
		    is_pointer(at))
			*gil = (struct remote_gil){ at, at + GIL_BYTES, 0 };
	} else if (layout->runtime_gilstate_current != PY_ABSENT) {
		*gil = (struct remote_gil){ remote->runtime, remote->runtime + remote->runtime_size, 0 };
	}
	read_holder(remote, gil);
}

/* ---- system calls ---- */

/* What a thread that sits in one waits for.  has_file: its first argument is
 * a descriptor that says more. */
static const struct {
	long number;
	const char *what;
	bool has_file;
} calls[] = {
	{ SYS_futex, "lock", false },
	{ SYS_nanosleep, "sleep", false },
	{ SYS_clock_nanosleep, "sleep", false },
	{ SYS_read, "read", true },
	{ SYS_readv, "read", true },
	{ SYS_pread64, "read", true },
	{ SYS_write, "write", true },
	{ SYS_writev, "write", true },
	{ SYS_pwrite64, "write", true },
	{ SYS_fsync, "sync", true },
	{ SYS_fdatasync, "sync", true },
	{ SYS_flock, "file lock", true },
	{ SYS_fcntl, "file lock", true },
	{ SYS_connect, "connect", true },
	{ SYS_accept, "accept", true },
	{ SYS_accept4, "accept", true },
	{ SYS_recvfrom, "receive", true },
	{ SYS_recvmsg, "receive", true },
	{ SYS_sendto, "send", true },
	{ SYS_sendmsg, "send", true },
	{ SYS_ppoll, "poll", false },
	{ SYS_pselect6, "poll", false },
	{ SYS_epoll_pwait, "poll", false },
	{ SYS_wait4, "child process", false },
	{ SYS_waitid, "child process", false },
	{ SYS_rt_sigtimedwait, "signal", false },
	{ SYS_rt_sigsuspend, "signal", false },
	{ SYS_openat, "open", false },
#ifdef __x86_64__
	{ SYS_poll, "poll", false },
	{ SYS_select, "poll", false },
	{ SYS_epoll_wait, "poll", false },
	{ SYS_pause, "signal", false },
	{ SYS_open, "open", false },
#endif
};

static enum remote_activity_kind kind_of_call(const struct blocked_call *call,
					      const struct remote_gil *gil)
{
	return blocked_call_is_futex(call, gil->start, gil->end) ? ACTIVITY_GIL : ACTIVITY_WAITING;
}

/* What the open syscall file of a thread tells; ACTIVITY_WAITING: in this call. */
static enum remote_activity_kind read_kind(int fd, const struct remote_gil *gil,
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

enum remote_activity_kind remote_activity_kind(int fd, const struct remote_gil *gil)
{
	struct blocked_call call;

	return fd >= 0 ? read_kind(fd, gil, &call) : ACTIVITY_UNKNOWN;
}

/* ---- in words ---- */

static void describe_file(const struct remote *remote, uint64_t fd, char *text, size_t size)
{
	char name[40], target[256];

	snprintf(name, sizeof(name), "fd/%d", (int)fd);
	if (!procfs_link(remote->pid, name, target, sizeof(target)))
		return;
	if (text_starts_with(target, "socket:"))
		snprintf(text, size, "socket");
	else if (text_starts_with(target, "pipe:"))
		snprintf(text, size, "pipe");
	else
		snprintf(text, size, "%s", target);
}

static void describe_call(const struct remote *remote, const struct blocked_call *call,
			  struct remote_activity *activity)
{
	activity->what = "kernel";
	if (blocked_call_is_sleep(call)) {
		activity->what = "sleep";
		return;
	}
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (calls[i].number != call->number)
			continue;
		activity->what = calls[i].what;
		if (calls[i].has_file && remote->core == NULL)
			describe_file(remote, call->arguments[0], activity->detail,
				      sizeof(activity->detail));
		return;
	}
	if (call->number < 0)
		activity->what = "memory";
	else
		snprintf(activity->detail, sizeof(activity->detail), "system call %ld", call->number);
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
static void read_core(const struct remote *remote, pid_t tid, const struct remote_gil *gil,
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
			  const struct remote_gil *gil, struct remote_activity *activity)
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
