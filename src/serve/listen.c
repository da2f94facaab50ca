/* listen.c - see listen.h. */
#include "serve/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 256
#define MAX_TRIES 100 /* ports from the usual one on */

/* The socket, or -1 and errno. */
static int try_port(uint16_t port, uint16_t *bound)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int is_on = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	/* Connections of the last server that are still closing do not matter. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &is_on, sizeof(is_on));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    listen(fd, BACKLOG) == 0 && getsockname(fd, (struct sockaddr *)&address, &size) == 0) {
		*bound = ntohs(address.sin_port);
		return fd;
	}
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

int listen_on(uint16_t port, uint16_t *bound, struct err *err)
{
	int fd = try_port(port, bound);

	if (fd < 0 && errno == EADDRINUSE)
		err_set(err, ERR_USAGE,
			"port %u is in use; give another with --port, or none to get a free one",
			port);
	else if (fd < 0)
		err_set_errno(err, errno, "port %u of 127.0.0.1 cannot be listened on", port);
	return fd;
}

int listen_near(uint16_t asked, uint16_t usual, uint16_t *bound, struct err *err)
{
	if (asked)
		return listen_on(asked, bound, err);
	for (uint16_t i = 0; i < MAX_TRIES; i++) {
		int fd = try_port((uint16_t)(usual + i), bound);

		if (fd >= 0)
			return fd;
	}
	return listen_on(0, bound, err);
}
