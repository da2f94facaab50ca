/* sentinel.c - see sentinel.h. */
#include "collect/sentinel.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/procfs.h"
#include "collect/descriptors.h"

/* The kernel gives a group its signal in one go, one process after the other:
 * we may look while it is still at it. */
#define LOOKS 3
#define LOOK_PAUSE_NS 1500000

/* Until the sentinel has forgotten what it got. */
#define FORGET_WAIT_MS 500

static _Noreturn void stand(int fd)
{
	sigset_t all;
	unsigned char byte;
	const struct timespec none = {0, 0};
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	descriptors_close_all_but(&fd, 1);
	/* Each byte asks to forget; the end of the line is the end of us. */
	while (read(fd, &byte, 1) == 1) {
		while (sigtimedwait(&all, NULL, &none) > 0)
			;
		if (write(fd, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

void sentinel_start(struct sentinel *sentinel)
{
	int ends[2];
	*sentinel = (struct sentinel){.fd = -1};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return;
	pid_t pid = fork();
	if (pid == 0)
		stand(ends[1]);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return;
	}
	*sentinel = (struct sentinel){pid, ends[0]};
}

void sentinel_stop(struct sentinel *sentinel)
{
	if (sentinel->pid == 0)
		return;
	close(sentinel->fd);
	kill(sentinel->pid, SIGKILL);
	while (waitpid(sentinel->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*sentinel = (struct sentinel){.fd = -1};
}

static bool is_pending(pid_t pid, int number)
{
	char text[4096];
	uint64_t pending;
	return procfs_read(pid, "status", text, sizeof(text)) > 0 &&
	       procfs_number(text, "ShdPnd", 0, 16, &pending) && (pending >> (number - 1) & 1) != 0;
}

static void forget(const struct sentinel *sentinel)
{
	unsigned char byte = 1;
	struct pollfd answer = {.fd = sentinel->fd, .events = POLLIN};
	if (send(sentinel->fd, &byte, 1, MSG_NOSIGNAL) == 1 &&
	    poll(&answer, 1, FORGET_WAIT_MS) == 1) {
		ssize_t ignored = recv(sentinel->fd, &byte, 1, MSG_DONTWAIT);
		(void)ignored;
	}
}

bool sentinel_has_got(struct sentinel *sentinel, int number)
{
	if (sentinel->pid == 0 || number <= 0 || number > 64)
		return false;
	for (int look = 0; look < LOOKS; look++) {
		const struct timespec pause = {0, LOOK_PAUSE_NS};
		nanosleep(&pause, NULL);
		if (is_pending(sentinel->pid, number)) {
			forget(sentinel);
			return true;
		}
	}
	return false;
}
