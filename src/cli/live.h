/* live.h - the page of a program that is being profiled now.
 *
 * The run's collector is asked for the profile so far about once a second, as
 * long as somebody looks at the page; it leaves it in the run's folder (runs.h),
 * so the user's own profile is written only when it would be anyway. */
#ifndef HEATLINE_CLI_LIVE_H
#define HEATLINE_CLI_LIVE_H

#include "base/err.h"
#include "cli/page.h"

/* `view --live`: serves the page of the run to which the process with this number
 * belongs (NULL: of the only one); of a process that is in none, which is then
 * looked at from outside (collect/attach.h).  After its end the profile is still
 * served, until Ctrl-C.  Returns the exit status. */
int live_view(const struct page_options *options, const char *word);

/* `run --live`: serves the page of the run that this process is about to begin,
 * from a process of its own that ends with the run.  program is its name until
 * there is a profile.  The address is on stderr when it returns.  0, or negative with the reason in err. */
int live_start(const char *program, struct err *err);

/* For live_view: looks at the process and publishes what is seen, until it has
 * ended (true) or one of the signals comes. */
struct attach;
bool live_follow_process(struct attach *attach, struct server *server, const sigset_t *signals);

#endif
