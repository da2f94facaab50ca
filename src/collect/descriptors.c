/* descriptors.c - see descriptors.h. */
#include "collect/descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436 /* the same on every architecture */
#endif

static bool close_range_of(unsigned first, unsigned last)
{
	return first > last || syscall(SYS_close_range, first, last, 0u) == 0;
}

/* The smallest that is kept from first on; -1: none. */
static int next_kept(const int *kept, unsigned count, int first)
{
	int found = -1;
	for (unsigned i = 0; i < count; i++) {
		if (kept[i] >= first && (found < 0 || kept[i] < found))
			found = kept[i];
	}
	return found;
}

/* False where the kernel (before 5.9) has no such call, or does not permit it. */
static bool close_ranges(const int *kept, unsigned count)
{
	unsigned first = 0;
	for (int next; (next = next_kept(kept, count, (int)first)) >= 0; first = (unsigned)next + 1) {
		if (next > 0 && !close_range_of(first, (unsigned)next - 1))
			return false;
	}
	return close_range_of(first, INT_MAX);
}

static bool is_kept(int fd, const int *kept, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (kept[i] == fd)
			return true;
	}
	return false;
}

/* What takes a folder of /proc to be read, and a descriptor at a time: some 50 us. */
static void close_one_by_one(const int *kept, unsigned count)
{
	DIR *open_ones = opendir("/proc/self/fd");
	if (open_ones == NULL)
		return;
	struct dirent *entry;
	while ((entry = readdir(open_ones)) != NULL) {
		char *end;
		long fd = strtol(entry->d_name, &end, 10);
		if (end != entry->d_name && *end == '\0' && fd != dirfd(open_ones) &&
		    !is_kept((int)fd, kept, count))
			close((int)fd);
	}
	closedir(open_ones);
}

void descriptors_close_all_but(const int *kept, unsigned count)
{
	if (!close_ranges(kept, count))
		close_one_by_one(kept, count);
}

void descriptors_silence(int fd)
{
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (nowhere < 0)
		return;
	dup2(nowhere, fd);
	if (nowhere != fd)
		close(nowhere);
}

void descriptors_take_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		/* Those below are open: this one is the next that the kernel gives. */
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
	}
}
