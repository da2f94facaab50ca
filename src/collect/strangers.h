/* strangers.h - processes of a run that are no Python, but may start some.
 *
 * They have no ring: a shell that goes on in the background, a server's launcher.  What
 * tells them is the word of the run in their environment, which every descendant of the
 * program has, whoever its parent is by now.  Only asked for once the program has ended and no
 * ring is left: of a short run those are the processes with higher numbers than the program's, so that
 * the others are not read. */
#ifndef HEATLINE_COLLECT_STRANGERS_H
#define HEATLINE_COLLECT_STRANGERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define STRANGERS_MAX 16u /* that are remembered; there may be more */

/* Begins all zero. */
struct strangers {
	struct stranger {
		pid_t pid;
		uint64_t start; /* as in /proc */
	} items[STRANGERS_MAX];
	uint32_t count;
	uint64_t next_ns; /* when to look again */
};

/* The run, as far as it matters here. */
struct strangers_run {
	const char *folder;
	pid_t program;
	uint64_t age_ns;  /* since the program was started */
	uint64_t alone_ns; /* since no Python of it is there; the longer, the rarer are looks */
};

/* Whether one is there; looks for others when those that were known have gone. */
bool strangers_are_there(struct strangers *strangers, const struct strangers_run *run);

/* Whether an environment (words, each ended by a zero byte) is of a process of the run.  Pure. */
bool strangers_has_word(const char *environment, size_t size, const char *folder);

#endif
