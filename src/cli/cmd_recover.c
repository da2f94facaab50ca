/* cmd_recover.c - "heatline recover": profiles of runs whose heatline was killed. */
#include "cli/cmd_recover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/places.h"
#include "collect/recover.h"
#include "collect/runs.h"

struct recover_settings {
	bool is_list;
	bool is_discard;
};

#define FIELD(name) .offset = offsetof(struct recover_settings, name)

static const struct option recover_options[] = {
	{.name = "list", .kind = OPTION_FLAG, .help = "Only show what could be recovered.",
	 FIELD(is_list)},
	{.name = "discard", .kind = OPTION_FLAG, .help = "Drop it instead.", FIELD(is_discard)},
	OPTIONS_HELP,
	{0},
};

void recover_remind(void)
{
	struct runs runs;

	if (!isatty(STDERR_FILENO))
		return;
	runs_init(&runs);
	if (runs_have_lost(&runs))
		fputs("heatline: a profile can be recovered, because heatline was killed: "
		      "'heatline recover' makes it, 'heatline recover --list' shows of what\n",
		      stderr);
	runs_fini(&runs);
}

/* Returns 0, or negative with the sentence in err. */
static int handle(const struct run_entry *run, const struct recover_settings *settings,
		  struct err *err)
{
	if (settings->is_list) {
		command_put(stdout, run->control->program, strlen(run->control->program));
		fputs(" > ", stdout);
		command_put(stdout, run->control->outfile, strlen(run->control->outfile));
		putchar('\n');
		return 0;
	}
	if (!settings->is_discard)
		return run_recover(run, err);
	recover_discard(run);
	return 0;
}

/* outfile: only the run whose profile goes there; NULL: all. */
static int recover_each(const struct recover_settings *settings, const char *outfile)
{
	struct runs runs;
	uint32_t found = 0;
	int status = 0;

	runs_init(&runs);
	for (uint32_t i = 0; i < runs.entries.count; i++) {
		struct err err;

		const struct run_entry *run = &runs.entries.items[i];

		if (run->is_alive || (outfile != NULL && strcmp(run->control->outfile, outfile) != 0))
			continue;
		found++;
		if (handle(run, settings, &err)) {
			command_error(&err);
			status = 1;
		}
	}
	runs_fini(&runs);
	if (!found && outfile != NULL) {
		struct err err;

		err_set(&err, ERR_USAGE, "no run that can be recovered has its profile in '%s'; "
					 "'heatline recover --list' shows those that can", outfile);
		return command_error(&err);
	}
	if (!found)
		puts("There is nothing to recover.");
	if (!settings->is_list)
		recover_sweep();
	return status;
}

static int recover_run(int argc, char **argv)
{
	struct recover_settings settings = {.is_list = false};
	struct options_result parsed;
	struct err err;
	int status = command_read_options(&command_recover, argc, argv, &settings, &parsed);

	if (status != COMMAND_GO_ON)
		return status;
	if (parsed.operand_count > 1) {
		err_set(&err, ERR_USAGE, "recover takes one profile, not also '%s'; without any it "
					 "recovers all that can be", parsed.operands[1]);
		status = command_error(&err);
	} else if (settings.is_list && settings.is_discard) {
		err_set(&err, ERR_USAGE, "--list and --discard exclude each other; give one of them");
		status = command_error(&err);
	} else {
		char *outfile = parsed.operand_count ? places_absolute(parsed.operands[0]) : NULL;

		status = recover_each(&settings, outfile);
		free(outfile);
	}
	options_result_fini(&parsed);
	return status;
}

const struct command command_recover = {
	.name = "recover",
	.usage = "[options] [FILE]",
	.summary = "Make the profile of a run whose heatline was killed.",
	.details = "What was measured until then survives in shared memory, and with it what the "
		   "program has sampled since. The profile goes where it would have gone. When the "
		   "program still runs it is profiled on in the background, and the profile is "
		   "written when it has ended. FILE: only the run whose profile goes there.",
	.options = recover_options,
	.run = recover_run,
};
