/* maps.h - what a process has mapped where, from /proc/PID/maps or a core file.
 *
 * Only ranges that have a file are kept.  Bounded: a process with more ranges
 * than any has is cut. */
#ifndef HEATLINE_REMOTE_MAPS_H
#define HEATLINE_REMOTE_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct map_range {
	uint64_t start, end;
	uint64_t offset;  /* in the file */
	bool is_executable;
	const char *path; /* owned by the maps; ranges of one file share it */
};

struct maps {
	VEC(struct map_range) ranges; /* by address */
	VEC(char *) paths;            /* owned */
};

/* Returns 0, or -errno; a process that has ended gives -ENOENT or -ESRCH. */
int maps_read(struct maps *maps, pid_t pid);
void maps_fini(struct maps *maps);

/* Adds a range, as far as there is room; the path is copied.  After the last
 * one they have to be sorted. */
void maps_add(struct maps *maps, uint64_t start, uint64_t end, uint64_t offset, bool is_executable,
	      const char *path);
void maps_sort(struct maps *maps);

/* Whether the file of this name in /proc/PID/maps has lost it: it was removed, or another one
 * stands in its place.  Then the name ends with this mark. */
#define NAMELESS_MARK " (deleted)"
bool maps_is_nameless(const char *path);

/* The range that has this address, or NULL. */
const struct map_range *maps_find(const struct maps *maps, uint64_t address);

#endif
