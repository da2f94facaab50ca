/* runs.h - the profiles that a session knows, by handle.
 *
 * A handle ("run-3") names the same profile as long as the server lives.  A path that
 * is asked for gets one too; a file that was replaced since is read again. */
#ifndef HEATLINE_MCP_RUNS_H
#define HEATLINE_MCP_RUNS_H

#include <sys/types.h>

#include "base/err.h"
#include "profile/model.h"

#define RUNS_MAX 200u      /* handles */
#define RUNS_MAX_LOADED 4u /* profiles held in memory; others are read again */

struct known_run {
	char *path;  /* owned; absolute */
	struct profile *profile; /* owned; NULL: not in memory */
	struct timespec modified;
	off_t size;
	uint64_t used; /* counts up; the least was asked for longest ago */
};

struct known_runs {
	struct known_run *items; /* owned; run-N is items[N - 1] */
	uint32_t count;
	uint64_t clock;
};

void known_runs_init(struct known_runs *runs);
void known_runs_fini(struct known_runs *runs);

/* The profile that a handle or a path means, and its number; NULL with the sentence.
 * It is the table's own, until RUNS_MAX_LOADED others were asked for. */
const struct profile *known_runs_get(struct known_runs *runs, const char *word, uint32_t *number,
				     struct err *err);

#endif
