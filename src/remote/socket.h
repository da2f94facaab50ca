/* socket.h - who is at the other end of a socket, as the process's network has it. */
#ifndef HEATLINE_REMOTE_SOCKET_H
#define HEATLINE_REMOTE_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* "to 10.0.0.7:5432", "at 0.0.0.0:8000" (it listens) or "at /run/some.sock" of the socket
 * with this inode number, from /proc/PID/net; false: not known.  Tables are followed for
 * so many lines only. */
bool socket_describe(pid_t pid, uint64_t inode, char *text, size_t size);

/* The same from one line of such a table, for the tests; is_ipv6 says which. */
bool socket_parse_internet(const char *line, bool is_ipv6, uint64_t inode, char *text, size_t size);

#endif
