/* procfs.c - see procfs.h. */
#include "base/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ssize_t procfs_read(pid_t pid, const char *name, char *text, size_t size)
{
	char path[100];
	size_t used = 0;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (used < size - 1) {
		ssize_t got = read(fd, text + used, size - 1 - used);

		if (got < 0 && used == 0) {
			int error = errno;

			close(fd);
			return -error;
		}
		if (got <= 0)
			break;
		used += (size_t)got;
	}
	close(fd);
	text[used] = '\0';
	return (ssize_t)used;
}

void procfs_join_words(char *words, size_t size)
{
	for (size_t i = 0; i + 1 < size; i++) {
		if (words[i] == '\0')
			words[i] = ' ';
	}
}

bool procfs_command(pid_t pid, char *text, size_t size)
{
	ssize_t got = procfs_read(pid, "cmdline", text, size);

	if (got > 0)
		procfs_join_words(text, (size_t)got);
	return got > 0;
}

bool procfs_link(pid_t pid, const char *name, char *text, size_t size)
{
	char path[100];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	ssize_t got = readlink(path, text, size);
	if (got <= 0 || (size_t)got >= size)
		return false;
	text[got] = '\0';
	return true;
}

bool procfs_number(const char *status, const char *key, int which, int base, uint64_t *number)
{
	size_t key_size = strlen(key);
	bool is_found = false;

	while (status != NULL && (strncmp(status, key, key_size) != 0 || status[key_size] != ':')) {
		status = strchr(status, '\n');
		status = status == NULL ? NULL : status + 1;
	}
	if (status == NULL)
		return false;
	status += key_size + 1;
	for (int at = 0;; at++) {
		char *end;

		status += strspn(status, " \t");
		unsigned long long value = strtoull(status, &end, base);
		if (end == status)
			return is_found && which < 0;
		*number = value;
		is_found = true;
		if (at == which)
			return true;
		status = end;
	}
}

/* "start-end rights offset device inode name".  (sscanf took as long as the kernel to write it.) */
bool procfs_parse_mapping(char *line, struct procfs_mapping *mapping)
{
	char *at;

	mapping->start = strtoull(line, &at, 16);
	if (*at != '-')
		return false;
	mapping->end = strtoull(at + 1, &at, 16);
	if (strnlen(at, 6) < 6)
		return false;
	mapping->is_executable = at[3] == 'x';
	mapping->offset = strtoull(at + 5, &at, 16);
	for (unsigned words = 0; words < 2; words++) {
		at += strspn(at, " ");
		at += strcspn(at, " \n");
	}
	at += strspn(at, " ");
	at[strcspn(at, "\n")] = '\0';
	mapping->name = at;
	return true;
}

/* The number that *text begins with, after blanks; sscanf takes thirty times as long, and
 * this is asked of every thread at every look. */
static bool take_number(const char **text, unsigned long long *number)
{
	const char *at = *text;
	while (*at == ' ')
		at++;
	const char *first = at;
	*number = 0;
	for (; *at >= '0' && *at <= '9'; at++)
		*number = *number * 10 + (unsigned)(*at - '0');
	*text = at;
	return at != first;
}

/* Passes over so many words, of which some may be negative numbers; false when there are fewer. */
static bool skip_words(const char **text, unsigned count)
{
	const char *at = *text;
	for (; count > 0; count--) {
		at += strspn(at, " ");
		if (*at == '\0')
			return false;
		at += strcspn(at, " ");
	}
	*text = at;
	return true;
}

#define STAT_PARENT_TO_START 17u /* words of the stat file between the two */

bool procfs_stat(pid_t pid, struct procfs_stat *stat)
{
	char text[1024];

	if (procfs_read(pid, "stat", text, sizeof(text)) <= 0)
		return false;
	/* The name stands in parentheses and may hold anything, also those. */
	const char *at = strrchr(text, ')');
	unsigned long long parent, start;
	if (at == NULL || at[1] != ' ' || at[2] == '\0')
		return false;
	char state = at[2];
	at += 3;
	if (!take_number(&at, &parent) || !skip_words(&at, STAT_PARENT_TO_START) ||
	    !take_number(&at, &start))
		return false;
	*stat = (struct procfs_stat){state, (pid_t)parent, start};
	return true;
}

uint64_t procfs_start(pid_t pid)
{
	struct procfs_stat stat;

	return procfs_stat(pid, &stat) ? stat.start : 0;
}

bool procfs_is_alive(pid_t pid, uint64_t start)
{
	struct procfs_stat stat;

	return pid > 0 && procfs_stat(pid, &stat) && stat.state != 'Z' && stat.state != 'X' &&
	       (start == 0 || stat.start == start);
}

pid_t procfs_next_task(pid_t pid, void **dir)
{
	char path[40];
	const struct dirent *entry;

	if (*dir == NULL) {
		snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
		*dir = opendir(path);
	}
	while (*dir != NULL && (entry = readdir(*dir)) != NULL) {
		long tid = strtol(entry->d_name, NULL, 10);

		if (tid > 0)
			return (pid_t)tid;
	}
	if (*dir != NULL)
		closedir(*dir);
	*dir = NULL;
	return 0;
}

bool procfs_read_schedule(int fd, struct procfs_schedule *schedule)
{
	char text[100];
	ssize_t got = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
	if (got <= 0)
		return false;
	text[got] = '\0';
	struct procfs_schedule found;
	const char *at = text;
	if (!take_number(&at, &found.ran_ns) || !take_number(&at, &found.ready_ns) ||
	    !take_number(&at, &found.turns))
		return false;
	*schedule = found;
	return true;
}
