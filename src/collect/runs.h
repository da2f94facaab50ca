/* runs.h - the profiling runs of this user on this machine.
 *
 * Every run has a folder in shared memory (folder.h), by which other heatline
 * commands find it.  A run is alive while its collector is; the folder of one
 * that was killed with everything stays until it is recovered (recover.h).
 *
 *	struct runs runs;
 *	runs_init(&runs);
 *	const struct run_entry *run = runs_find(&runs, pid);
 *	...
 *	runs_fini(&runs); */
#ifndef HEATLINE_COLLECT_RUNS_H
#define HEATLINE_COLLECT_RUNS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/vec.h"
#include "wire/control.h"

struct run_entry {
	char *folder;            /* owned */
	struct control *control; /* mapped; its texts are checked to end */
	bool is_alive;           /* its collector runs, or the front that would replace it */
	uint32_t processes;      /* that are being profiled, or were and have something left */
};

struct runs {
	VEC(struct run_entry) entries; /* the oldest first */
};

/* Looks for the folders, which takes well under a millisecond. */
void runs_init(struct runs *runs);
void runs_fini(struct runs *runs);

/* Whether there is one that can be recovered (recover.h). */
bool runs_have_lost(const struct runs *runs);

/* The living run that this process belongs to: the pid of heatline itself, of
 * the program, of a child or grandchild; NULL when it belongs to none. */
struct run_entry *runs_find(struct runs *runs, pid_t pid);

/* Suspends or resumes.  The agents notice within 20 ms of their CPU time. */
void runs_set_off(struct run_entry *run, bool is_off);

/* Has the profile so far written and waits for it. */
int runs_write(struct run_entry *run, struct err *err);

/* For one who watches: asks for the profile so far, without waiting, unless the
 * last wish is still open. */
void runs_want_show(struct run_entry *run);

/* How many times it has been written since the run began. */
uint32_t runs_shows(const struct run_entry *run);

/* Where; the caller frees. */
char *runs_show_path(const struct run_entry *run);

/* Whether the run is over: nobody collects, and nobody will take over. */
bool runs_is_over(const struct run_entry *run);

#endif
