/* front.h - the heatline that the user started, while the program runs.
 *
 * The front is the program's parent: it starts it, hands on the signals that
 * were sent to heatline alone, stops and goes on with it, and in the end has
 * its status.  It measures nothing: the collector is a process of its own in a
 * session of its own, so that neither the terminal, nor a signal to the group,
 * nor the end of the front takes what has been collected with it. */
#ifndef HEATLINE_COLLECT_FRONT_H
#define HEATLINE_COLLECT_FRONT_H

#include <signal.h>
#include <sys/types.h>

#include "base/err.h"
#include "collect/link.h"
#include "collect/run.h"
#include "collect/sentinel.h"
#include "wire/control.h"

struct front {
	const struct run_options *options;
	const char *folder;      /* borrowed */
	struct control *control; /* mapped; borrowed */
	struct link link;        /* owned; to the present collector */
	struct sentinel sentinel;
	pid_t collector, program;
	int status;              /* of the program */
	unsigned takeovers;      /* collectors that have died */
	sigset_t watched, before;
};

/* Blocks the signals that a front hears.  front_fini gives the mask back. */
void front_init(struct front *front, const struct run_options *options, const char *folder,
		struct control *control);
void front_fini(struct front *front);

/* Makes the collector's process.  Returns RUN_COLLECTOR in it, RUN_FRONT in the
 * caller, or a negative code. */
int front_fork_collector(struct front *front, struct err *err);

/* Starts the program and stays until it has ended and everything is said.
 * Returns RUN_FRONT, a negative code when the program could not be started; or
 * RUN_COLLECTOR, in a new process, when the collector has died and another is
 * to go on in its place. */
int front_run(struct front *front, struct err *err);

#endif
