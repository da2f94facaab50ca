/* proc.c - see proc.h. */
#include "collect/proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool proc_stat(pid_t pid, struct proc_stat *stat)
{
	char path[40], text[1024];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t size = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (size <= 0)
		return false;
	text[size] = '\0';
	/* The name stands in parentheses and may hold anything, also those. */
	const char *rest = strrchr(text, ')');
	int parent = 0;
	unsigned long long start = 0;
	if (rest == NULL ||
	    sscanf(rest + 1,
		   " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		   &stat->state, &parent, &start) != 3)
		return false;
	stat->parent_pid = parent;
	stat->start = start;
	return true;
}

uint64_t proc_start(pid_t pid)
{
	struct proc_stat stat;
	return proc_stat(pid, &stat) ? stat.start : 0;
}

bool proc_is_alive(pid_t pid, uint64_t start)
{
	struct proc_stat stat;
	return pid > 0 && proc_stat(pid, &stat) && stat.state != 'Z' && stat.state != 'X' &&
	       (start == 0 || stat.start == start);
}
