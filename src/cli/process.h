/* process.h - what the commands for a running process share. */
#ifndef HEATLINE_CLI_PROCESS_H
#define HEATLINE_CLI_PROCESS_H

#include <sys/types.h>

#include "base/err.h"

/* The pid that the word names.  Returns 0, or negative with the sentence in err. */
int process_parse_pid(const char *word, pid_t *pid, struct err *err);

/* The single pid among a command's operands, or the sentence that it is missing
 * or one too many; name is the command's. */
int process_operand(char *const *operands, int count, const char *name, pid_t *pid, struct err *err);

#endif
