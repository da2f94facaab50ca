/* session.h - collect from a process that loads the agent by itself.
 *
 * The Python package of that process starts the collector and talks to it over
 * two pipes (link.h): it is given the run's folder, loads the agent, says
 * LINK_STARTED, and at the end LINK_ENDED.  When the process is gone without a
 * word nobody wants the profile any more. */
#ifndef HEATLINE_COLLECT_SESSION_H
#define HEATLINE_COLLECT_SESSION_H

#include <sys/types.h>

#include "collect/link.h"
#include "collect/run.h"

/* Collects from process pid until the link's other side has had enough; options:
 * is_session, no outfile.  The folder's name goes to the link, ended by a
 * newline.  On success result has the profile, if there is one, and still_running
 * the children of the process that go on.  Returns 0 or a negative code. */
int collect_session(const struct run_options *options, pid_t pid, struct link *link,
		    struct run_result *result, struct err *err);

#endif
