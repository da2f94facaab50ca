/* which_run.h - which of the runs that go on is meant. */
#ifndef HEATLINE_CLI_WHICH_RUN_H
#define HEATLINE_CLI_WHICH_RUN_H

#include "base/err.h"
#include "collect/runs.h"

/* The run to which the process with this number belongs; word NULL: the only one
 * that there is.  NULL with the sentence in err; command is how to ask again,
 * as in "heatline COMMAND PID". */
struct run_entry *which_run(struct runs *runs, const char *word, const char *command,
			    struct err *err);

#endif
