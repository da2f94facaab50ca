/* blocked_call.c - see blocked_call.h. */
#include "remote/blocked_call.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>

bool blocked_call_parse(const char *text, struct blocked_call *call)
{
	unsigned long long words[4] = {0};
	long number;
	if (text[0] == 'r') /* "running", as at most looks; to read no number from it takes sscanf 2 us */
		return false;
	if (sscanf(text, "%ld %llx %llx %llx %llx", &number, &words[0], &words[1], &words[2],
		   &words[3]) < 1)
		return false;
	*call = (struct blocked_call){number, {words[0], words[1], words[2], words[3]}};
	return true;
}

bool blocked_call_is_futex(const struct blocked_call *call, uint64_t start, uint64_t end)
{
	return call->number == SYS_futex && call->arguments[0] >= start && call->arguments[0] < end;
}

bool blocked_call_is_list(const struct blocked_call *call)
{
#ifdef __x86_64__
	if (call->number == SYS_poll)
		return true;
#endif
	return call->number == SYS_ppoll;
}

bool blocked_call_is_select(const struct blocked_call *call)
{
#ifdef __x86_64__
	if (call->number == SYS_select)
		return true;
#endif
	return call->number == SYS_pselect6;
}

static const struct {
	long number;
	enum blocked_on on;
} calls[] = {
	{ SYS_futex, BLOCKED_LOCK },
	{ SYS_nanosleep, BLOCKED_SLEEP },
	{ SYS_clock_nanosleep, BLOCKED_SLEEP },
	{ SYS_ppoll, BLOCKED_POLL },
	{ SYS_pselect6, BLOCKED_POLL },
	{ SYS_epoll_pwait, BLOCKED_POLL },
	{ SYS_read, BLOCKED_READ },
	{ SYS_readv, BLOCKED_READ },
	{ SYS_pread64, BLOCKED_READ },
	{ SYS_write, BLOCKED_WRITE },
	{ SYS_writev, BLOCKED_WRITE },
	{ SYS_pwrite64, BLOCKED_WRITE },
	{ SYS_recvfrom, BLOCKED_RECEIVE },
	{ SYS_recvmsg, BLOCKED_RECEIVE },
	{ SYS_sendto, BLOCKED_SEND },
	{ SYS_sendmsg, BLOCKED_SEND },
	{ SYS_accept, BLOCKED_ACCEPT },
	{ SYS_accept4, BLOCKED_ACCEPT },
	{ SYS_connect, BLOCKED_CONNECT },
	{ SYS_fsync, BLOCKED_SYNC },
	{ SYS_fdatasync, BLOCKED_SYNC },
	{ SYS_flock, BLOCKED_FILE_LOCK },
	{ SYS_fcntl, BLOCKED_FILE_LOCK },
	{ SYS_openat, BLOCKED_OPEN },
	{ SYS_getdents64, BLOCKED_FILE },
	{ SYS_newfstatat, BLOCKED_FILE },
	{ SYS_statx, BLOCKED_FILE },
	{ SYS_unlinkat, BLOCKED_FILE },
	{ SYS_ftruncate, BLOCKED_FILE },
	{ SYS_wait4, BLOCKED_CHILD },
	{ SYS_waitid, BLOCKED_CHILD },
	{ SYS_rt_sigtimedwait, BLOCKED_SIGNAL },
	{ SYS_rt_sigsuspend, BLOCKED_SIGNAL },
#ifdef SYS_epoll_pwait2
	{ SYS_epoll_pwait2, BLOCKED_POLL },
#endif
#ifdef __x86_64__
	{ SYS_poll, BLOCKED_POLL },
	{ SYS_select, BLOCKED_POLL },
	{ SYS_epoll_wait, BLOCKED_POLL },
	{ SYS_pause, BLOCKED_SIGNAL },
	{ SYS_open, BLOCKED_OPEN },
	{ SYS_stat, BLOCKED_FILE },
#endif
};

/* Whether it waits for events on no descriptor at all, which is how time.sleep of
 * older Pythons sleeps. */
static bool is_sleep(const struct blocked_call *call)
{
#ifdef __x86_64__
	if (call->number == SYS_select && call->arguments[0] == 0)
		return true;
	if (call->number == SYS_poll && call->arguments[1] == 0)
		return true;
#endif
	return (call->number == SYS_pselect6 && call->arguments[0] == 0) ||
	       (call->number == SYS_ppoll && call->arguments[1] == 0);
}

enum blocked_on blocked_call_on(const struct blocked_call *call)
{
	if (call->number < 0)
		return BLOCKED_MEMORY;
	if (is_sleep(call))
		return BLOCKED_SLEEP;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (calls[i].number == call->number)
			return calls[i].on;
	}
	return BLOCKED_OTHER;
}

static const struct {
	const char *word;
	bool has_file;
} words[BLOCKED_COUNT] = {
#define X(name, word, has_file) [name] = { word, has_file },
	BLOCKED_LIST(X)
#undef X
};

const char *blocked_on_word(enum blocked_on on)
{
	return words[on].word;
}

bool blocked_on_has_file(enum blocked_on on)
{
	return words[on].has_file;
}
