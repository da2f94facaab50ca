/* launch.h - start the program as it would start without us, but for the agent.
 *
 * The child keeps our terminal, process group, working directory, descriptors,
 * signal dispositions and mask; only LD_PRELOAD and HEATLINE_RUN are added to
 * its environment. */
#ifndef HEATLINE_COLLECT_LAUNCH_H
#define HEATLINE_COLLECT_LAUNCH_H

#include <signal.h>
#include <sys/types.h>

#include "base/err.h"
#include "collect/run.h"

/* Returns the pid, or a negative code when it could not be started.  mask is the child's
 * signal mask. */
pid_t launch(const struct run_options *options, const char *folder, const char *agent,
	     const sigset_t *mask, struct err *err);

#endif
