/* waits.c - see waits.h. */
#include "collect/waits.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/procfs.h"
#include "base/text.h"

/* System calls and what they wait for.  WAIT_KINDS: it depends on the
 * descriptor, the first argument. */
static const struct {
	long number;
	enum wait_kind kind;
} calls[] = {
	{SYS_futex, WAIT_LOCK},
	{SYS_nanosleep, WAIT_SLEEP},
	{SYS_clock_nanosleep, WAIT_SLEEP},
	{SYS_wait4, WAIT_CHILD},
	{SYS_waitid, WAIT_CHILD},
	{SYS_ppoll, WAIT_SOCKET},
	{SYS_pselect6, WAIT_SOCKET},
	{SYS_epoll_pwait, WAIT_SOCKET},
	{SYS_recvfrom, WAIT_SOCKET},
	{SYS_recvmsg, WAIT_SOCKET},
	{SYS_sendto, WAIT_SOCKET},
	{SYS_sendmsg, WAIT_SOCKET},
	{SYS_accept, WAIT_SOCKET},
	{SYS_accept4, WAIT_SOCKET},
	{SYS_connect, WAIT_SOCKET},
	{SYS_fsync, WAIT_FILE},
	{SYS_fdatasync, WAIT_FILE},
	{SYS_openat, WAIT_FILE},
	{SYS_flock, WAIT_FILE},
	{SYS_fcntl, WAIT_FILE},
	{SYS_getdents64, WAIT_FILE},
	{SYS_newfstatat, WAIT_FILE},
	{SYS_statx, WAIT_FILE},
	{SYS_unlinkat, WAIT_FILE},
	{SYS_ftruncate, WAIT_FILE},
	{SYS_read, WAIT_KINDS},
	{SYS_readv, WAIT_KINDS},
	{SYS_pread64, WAIT_KINDS},
	{SYS_write, WAIT_KINDS},
	{SYS_writev, WAIT_KINDS},
	{SYS_pwrite64, WAIT_KINDS},
#ifdef SYS_epoll_pwait2
	{SYS_epoll_pwait2, WAIT_SOCKET},
#endif
#ifdef __x86_64__
	{SYS_poll, WAIT_SOCKET},
	{SYS_select, WAIT_SOCKET},
	{SYS_epoll_wait, WAIT_SOCKET},
	{SYS_open, WAIT_FILE},
	{SYS_stat, WAIT_FILE},
#endif
};

static enum wait_kind kind_of_descriptor(pid_t pid, uint64_t descriptor)
{
	char name[40], target[64];
	snprintf(name, sizeof(name), "fd/%llu", (unsigned long long)descriptor);
	if (!procfs_link(pid, name, target, sizeof(target)))
		return WAIT_FILE;
	if (text_starts_with(target, "socket:") || text_starts_with(target, "anon_inode:"))
		return WAIT_SOCKET;
	if (text_starts_with(target, "pipe:"))
		return WAIT_PIPE;
	if (text_starts_with(target, "/dev/pts/") || text_starts_with(target, "/dev/tty"))
		return WAIT_TERMINAL;
	return WAIT_FILE;
}

enum wait_kind waits_kind(const struct blocked_call *call, pid_t pid)
{
	if (blocked_call_is_sleep(call))
		return WAIT_SLEEP;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (calls[i].number != call->number)
			continue;
		return calls[i].kind == WAIT_KINDS ? kind_of_descriptor(pid, call->arguments[0])
						   : calls[i].kind;
	}
	return WAIT_OTHER;
}

enum wait_kind waits_refine(enum wait_kind kind, const char *filename)
{
	bool is_queue = text_ends_with(filename, "/queue.py") ||
			text_ends_with(filename, "/multiprocessing/queues.py") ||
			text_ends_with(filename, "/concurrent/futures/thread.py");
	if (is_queue && (kind == WAIT_LOCK || kind == WAIT_PIPE))
		return WAIT_QUEUE;
	bool is_child = text_ends_with(filename, "/subprocess.py") ||
			text_ends_with(filename, "/multiprocessing/popen_fork.py");
	if (is_child && kind != WAIT_LOCK)
		return WAIT_CHILD;
	return kind;
}
