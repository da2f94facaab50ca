/* socket.c - see socket.h. */
#include "remote/socket.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define LINES_MAX 50000u

/* The kernel prints an address as the 32-bit words that it has in memory. */
static bool put_address(const char *hex, bool is_ipv6, unsigned port, char *text, size_t size)
{
	char name[INET6_ADDRSTRLEN];
	uint32_t words[4];
	int count = is_ipv6 ? 4 : 1;

	for (int i = 0; i < count; i++) {
		if (sscanf(hex + 8 * i, "%8x", &words[i]) != 1)
			return false;
	}
	if (inet_ntop(is_ipv6 ? AF_INET6 : AF_INET, words, name, sizeof(name)) == NULL)
		return false;
	snprintf(text, size, is_ipv6 ? "[%s]:%u" : "%s:%u", name, port);
	return true;
}

bool socket_parse_internet(const char *line, bool is_ipv6, uint64_t inode, char *text, size_t size)
{
	char local[33], peer[33], address[80];
	unsigned local_port, peer_port;
	unsigned long long found;

	if (sscanf(line, " %*[^:]: %32[0-9A-F]:%x %32[0-9A-F]:%x %*x %*s %*s %*s %*u %*u %llu", local,
		   &local_port, peer, &peer_port, &found) != 5 ||
	    found != inode || strlen(local) != (is_ipv6 ? 32u : 8u) || strlen(peer) != strlen(local))
		return false;
	/* Without a peer it listens, or takes from anybody. */
	if (!put_address(peer_port != 0 ? peer : local, is_ipv6, peer_port != 0 ? peer_port : local_port,
			 address, sizeof(address)))
		return false;
	snprintf(text, size, "%s %s", peer_port != 0 ? "to" : "at", address);
	return true;
}

static bool parse_local(const char *line, uint64_t inode, char *text, size_t size)
{
	unsigned long long found;
	int path_at = 0;

	if (sscanf(line, "%*s %*s %*s %*s %*s %*s %llu %n", &found, &path_at) != 1 || found != inode ||
	    path_at == 0 || line[path_at] == '\0')
		return false;
	snprintf(text, size, "at %.*s", (int)strcspn(line + path_at, "\n"), line + path_at);
	return true;
}

bool socket_describe(pid_t pid, uint64_t inode, char *text, size_t size)
{
	static const char *const tables[] = { "tcp", "tcp6", "udp", "udp6", "unix" };
	char path[40], line[512];
	bool is_found = false;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !is_found; i++) {
		snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, tables[i]);
		FILE *table = fopen(path, "re");
		uint32_t left = LINES_MAX;

		while (table != NULL && !is_found && left-- > 0 && fgets(line, sizeof(line), table) != NULL)
			is_found = strcmp(tables[i], "unix") == 0
					   ? parse_local(line, inode, text, size)
					   : socket_parse_internet(line, strchr(tables[i], '6') != NULL, inode,
								   text, size);
		if (table != NULL)
			fclose(table);
	}
	return is_found;
}
