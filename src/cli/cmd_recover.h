/* cmd_recover.h - what other commands need of "heatline recover". */
#ifndef HEATLINE_CLI_CMD_RECOVER_H
#define HEATLINE_CLI_CMD_RECOVER_H

#include "base/err.h"

struct run_entry;

/* Says in one line that there is something to recover, if there is and somebody
 * sits at a terminal. */
void recover_remind(void);

/* Makes the profile of a lost run as "heatline run" would have (cmd_run.c).
 * Returns 0, or negative with the sentence in err. */
int run_recover(const struct run_entry *lost, struct err *err);

#endif
