/* sources.h - the program's own files as they were when they ran.
 *
 * A profile shows figures beside source lines, and people edit while a long program
 * runs.  So a file in scope is read when its first code object is met, a moment after
 * Python has read it, and not when the profile is made; the profile would read it anyway.
 * What is kept is bounded; of files beyond it only what tells whether they were changed.
 *
 * A file that was written after the program began may have been changed in between: before
 * its code was met, or when an earlier collector was there; and one that is changed later may be
 * loaded again.  The text that is kept is used then if what was
 * measured agrees with it (source_agrees). */
#ifndef HEATLINE_COLLECT_SOURCES_H
#define HEATLINE_COLLECT_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"
#include "base/vec.h"

struct profile;

/* Which text a path leads to. */
struct source_state {
	uint64_t device, inode, bytes;
	int64_t changed_ns; /* since 1970 */
};

struct source_copy {
	const char *filename; /* interned */
	struct source_state state;
	char *bytes;  /* owned; NULL: not kept */
	size_t size;
	bool is_late; /* written after the program began, */
	bool is_old;  /* and long before it was met */
};

/* Begins all zero. */
struct sources {
	VEC(struct source_copy) copies;
	struct map_bytes index; /* filename to its place in copies + 1; 0: there is no such file */
	size_t held_bytes;
	double began_s;   /* when the first of the processes asked for began, since 1970; 0: none yet */
	pid_t asked_pid;  /* the last one that was */
};

void sources_fini(struct sources *sources);

/* Code of a file in scope, whose name is interned, was met in a process of a run that
 * began at start_s, or in one that was there before. */
void sources_meet(struct sources *sources, const char *filename, pid_t pid, double start_s);

/* The file's text as it ran, as source_load gives it. */
char *sources_load(const struct sources *sources, const char *filename, size_t *size);

/* Gives the files of a profile whose lines are booked their sources; those that are not known
 * any more are left without, and a warning says so. */
void sources_give(const struct sources *sources, struct profile *profile);

#endif
