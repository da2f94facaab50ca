/* which_run.c - see which_run.h. */
#include "cli/which_run.h"

#include <stdlib.h>

static struct run_entry *only_run(struct runs *runs, const char *command, struct err *err)
{
	struct run_entry *only = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < runs->entries.count; i++) {
		if (runs->entries.items[i].is_alive) {
			only = &runs->entries.items[i];
			count++;
		}
	}
	if (count == 1)
		return only;
	if (count == 0)
		err_set(err, ERR_NOT_FOUND,
			"nothing is being profiled here; start a program with 'heatline run prog.py'");
	else
		err_set(err, ERR_USAGE,
			"%u programs are being profiled here: name one of them by its pid "
			"('heatline status' shows them): heatline %s PID",
			count, command);
	return NULL;
}

static struct run_entry *named_run(struct runs *runs, const char *word, struct err *err)
{
	char *end;
	long pid = strtol(word, &end, 10);

	if (end == word || *end || pid <= 0 || pid > INT32_MAX) {
		err_set(err, ERR_USAGE, "'%s' is no process number; 'heatline status' shows them",
			word);
		return NULL;
	}
	struct run_entry *run = runs_find(runs, (pid_t)pid);
	if (!run)
		err_set(err, ERR_NOT_FOUND,
			"process %ld is not being profiled; 'heatline status' shows those that are",
			pid);
	return run;
}

struct run_entry *which_run(struct runs *runs, const char *word, const char *command,
			    struct err *err)
{
	return word ? named_run(runs, word, err) : only_run(runs, command, err);
}
