/* blocking.c - blocking system calls that count how often a signal interrupted them.
 *
 * Loaded through ctypes, which lets the interpreter go on meanwhile.  Each function
 * makes the call `count` times, each blocking for about `us` microseconds, with a
 * little CPU work in between (so that the thread's CPU clock moves on and a sampling
 * signal is due just when it blocks), and returns the number of EINTR; -1 when the
 * call failed in another way. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned sink;

static void work(void)
{
	for (unsigned i = 0; i < 20000; i++)
		sink += i;
}

static struct timespec in_us(clockid_t clock, long us)
{
	struct timespec at = {0, 0};

	if (clock >= 0)
		clock_gettime(clock, &at);
	at.tv_nsec += us * 1000;
	at.tv_sec += at.tv_nsec / 1000000000;
	at.tv_nsec %= 1000000000;
	return at;
}

/* Repeats `call`: -1 is well when errno is `expected`.  Leaves the count in `interrupted`. */
#define COUNT_EINTR(call, expected)                                                       \
	int interrupted = 0;                                                              \
	for (long i = 0; i < count && interrupted >= 0; i++) {                            \
		work();                                                                   \
		if ((call) < 0 && errno != (expected))                                    \
			interrupted = errno == EINTR ? interrupted + 1 : -1;              \
	}

int count_nanosleep(long count, long us)
{
	struct timespec time = in_us(-1, us);

	COUNT_EINTR(nanosleep(&time, NULL), 0)
	return interrupted;
}

int count_clock_nanosleep(long count, long us)
{
	struct timespec time = in_us(-1, us);

	COUNT_EINTR((errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL)) ? -1 : 0, 0)
	return interrupted;
}

int count_poll(long count, long us)
{
	COUNT_EINTR(poll(NULL, 0, (int)(us / 1000 + 1)), 0)
	return interrupted;
}

int count_ppoll(long count, long us)
{
	struct timespec time = in_us(-1, us);

	COUNT_EINTR(ppoll(NULL, 0, &time, NULL), 0)
	return interrupted;
}

static int select_for(long us)
{
	struct timeval time = {0, us};

	return select(0, NULL, NULL, NULL, &time);
}

int count_select(long count, long us)
{
	COUNT_EINTR(select_for(us), 0)
	return interrupted;
}

int count_epoll_wait(long count, long us)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event;

	COUNT_EINTR(epoll_wait(epoll, &event, 1, (int)(us / 1000 + 1)), 0)
	close(epoll);
	return interrupted;
}

int count_sem_timedwait(long count, long us)
{
	sem_t never;
	struct timespec time;

	sem_init(&never, 0, 0);
	COUNT_EINTR((time = in_us(CLOCK_REALTIME, us), sem_timedwait(&never, &time)), ETIMEDOUT)
	return interrupted;
}

/* Sockets with a time-out and message queues are not restarted after a handler,
 * whatever SA_RESTART says. */
int count_recv(long count, long us)
{
	int pair[2];
	char byte;
	struct timeval time = {0, us};

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		return -1;
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
	COUNT_EINTR(recv(pair[0], &byte, 1, 0), EAGAIN)
	close(pair[0]);
	close(pair[1]);
	return interrupted;
}

int count_sigtimedwait(long count, long us)
{
	struct timespec time = in_us(-1, us);
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, SIGRTMIN + 9);
	COUNT_EINTR(sigtimedwait(&one, NULL, &time), EAGAIN)
	return interrupted;
}

/* Read from a pipe into which a forked child writes. */
int count_read(long count, long us)
{
	int ends[2];
	pid_t child;
	char byte;

	if (pipe(ends) < 0 || (child = fork()) < 0)
		return -1;
	if (child == 0) {
		for (long i = 0; i < count; i++) {
			usleep((useconds_t)us);
			if (write(ends[1], "x", 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	int interrupted = 0;
	for (long i = 0; i < count; i++) {
		work();
		if (read(ends[0], &byte, 1) < 0)
			interrupted++;
	}
	close(ends[0]);
	close(ends[1]);
	while (waitpid(child, NULL, 0) < 0)
		interrupted++;
	return interrupted;
}
