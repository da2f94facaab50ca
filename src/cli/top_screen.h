/* top_screen.h - the live table in the terminal. */
#ifndef HEATLINE_CLI_TOP_SCREEN_H
#define HEATLINE_CLI_TOP_SCREEN_H

#include <sys/types.h>

#include "base/err.h"
#include "collect/attach.h"

/* Shows the session until the user quits or the process ends.  Returns 0, or
 * negative with the sentence in err (no terminal to show it on). */
int top_screen_run(struct attach *attach, pid_t pid, struct err *err);

#endif
