/* started.h - a program that is started only to be looked at from outside. */
#ifndef HEATLINE_CLI_STARTED_H
#define HEATLINE_CLI_STARTED_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/target.h"
#include "collect/attach.h"

/* Starts it; is_silent: in a session of its own with nothing on the terminal.
 * The pid, or -1 with the sentence in err. */
pid_t started_begin(const struct target *target, bool is_silent, struct err *err);

/* attach_new, tried until the process has become a Python or has ended. */
struct attach *started_attach(const struct attach_options *options, struct err *err);

/* Asks it to end, and ends it when it does not. */
void started_end(pid_t pid);

#endif
