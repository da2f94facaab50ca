/* descriptors.c - see descriptors.h. */
#include "collect/descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

static bool is_kept(int fd, const int *kept, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (kept[i] == fd)
			return true;
	}
	return false;
}

void descriptors_close_all_but(const int *kept, unsigned count)
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

void descriptors_silence(int fd)
{
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (nowhere < 0)
		return;
	dup2(nowhere, fd);
	if (nowhere != fd)
		close(nowhere);
}
