/* link.c - see link.h. */
#include "collect/link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int link_init(struct link *link)
{
	*link = (struct link){{-1, -1}, {-1, -1}};
	if (pipe2(link->to_collector, O_CLOEXEC) != 0 || pipe2(link->to_front, O_CLOEXEC) != 0) {
		int failure = errno;
		link_fini(link);
		return -failure;
	}
	return 0;
}

void link_fini(struct link *link)
{
	for (int i = 0; i < 2; i++) {
		close_end(&link->to_collector[i]);
		close_end(&link->to_front[i]);
	}
}

void link_be_front(struct link *link)
{
	close_end(&link->to_collector[0]);
	close_end(&link->to_front[1]);
}

void link_be_collector(struct link *link)
{
	close_end(&link->to_collector[1]);
	close_end(&link->to_front[0]);
}

void link_send(int fd, enum link_kind kind)
{
	if (fd < 0)
		return;
	unsigned char byte = (unsigned char)kind;
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	sigaction(SIGPIPE, &ignore, &before);
	while (write(fd, &byte, 1) < 0 && errno == EINTR)
		;
	sigaction(SIGPIPE, &before, NULL);
}

int link_receive(int fd, int timeout_ms)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	if (poll(&wait, 1, timeout_ms) <= 0)
		return 0;
	unsigned char byte;
	ssize_t got = read(fd, &byte, 1);
	if (got == 1)
		return byte;
	return got < 0 && errno == EINTR ? 0 : -1;
}
