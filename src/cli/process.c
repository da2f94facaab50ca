/* process.c - see process.h. */
#include "cli/process.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

int process_parse_pid(const char *word, pid_t *pid, struct err *err)
{
	char *end;

	errno = 0;
	long number = strtol(word, &end, 10);
	if (end == word || *end != '\0' || errno != 0 || number <= 0 || number > INT_MAX)
		return err_set(err, ERR_USAGE, "'%s' is no process id; a process id is a whole number, as "
			       "pgrep shows it", word);
	*pid = (pid_t)number;
	return 0;
}

int process_operand(char *const *operands, int count, const char *name, pid_t *pid, struct err *err)
{
	if (count == 0)
		return err_set(err, ERR_USAGE, "%s needs the id of a process: heatline %s PID", name, name);
	if (count > 1)
		return err_set(err, ERR_USAGE, "%s looks at one process, but there is also '%s'", name,
			       operands[1]);
	return process_parse_pid(operands[0], pid, err);
}
