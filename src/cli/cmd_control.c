/* cmd_control.c - "heatline on", "off" and "write": to a run that goes on.
 *
 * All three name the run by the pid of any process that belongs to it, or not
 * at all when there is only one. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/which_run.h"

static const struct option control_options[] = {OPTIONS_HELP, {0}};

/* The run that the operands name, or NULL with the reason in err. */
static struct run_entry *find_run(struct runs *runs, const struct command *command,
				  const struct options_result *parsed, struct err *err)
{
	if (parsed->operand_count > 1) {
		err_set(err, ERR_USAGE, "%s takes one pid, but '%s' is a second one", command->name,
			parsed->operands[1]);
		return NULL;
	}
	return which_run(runs, parsed->operand_count ? parsed->operands[0] : NULL, command->name,
			 err);
}

static int control(const struct command *command, int argc, char **argv,
		   int (*act)(struct run_entry *run, struct err *err))
{
	struct options_result parsed;
	struct runs runs;
	struct err err;
	int status = command_read_options(command, argc, argv, NULL, &parsed);

	if (status != COMMAND_GO_ON)
		return status;
	runs_init(&runs);
	struct run_entry *run = find_run(&runs, command, &parsed, &err);
	status = run && act(run, &err) == 0 ? 0 : command_error(&err);
	runs_fini(&runs);
	options_result_fini(&parsed);
	return status;
}

static int switch_to(struct run_entry *run, bool is_off)
{
	runs_set_off(run, is_off);
	command_put(stdout, run->control->program, strlen(run->control->program));
	printf(" (%d): %s\n", (int)run->control->program_pid, is_off ? "off" : "on");
	return 0;
}

static int switch_on(struct run_entry *run, struct err *err)
{
	(void)err;
	return switch_to(run, false);
}

static int switch_off(struct run_entry *run, struct err *err)
{
	(void)err;
	return switch_to(run, true);
}

static int write_now(struct run_entry *run, struct err *err)
{
	int status = runs_write(run, err);

	if (!status)
		printf("%s\n", run->control->outfile);
	return status;
}

static int on_run(int argc, char **argv)
{
	return control(&command_on, argc, argv, switch_on);
}

static int off_run(int argc, char **argv)
{
	return control(&command_off, argc, argv, switch_off);
}

static int write_run(int argc, char **argv)
{
	return control(&command_write, argc, argv, write_now);
}

#define WHICH                                                                                      \
	"PID is the number of the program, of a process that it has started, or of heatline "      \
	"itself; it may be left out when only one program is being profiled."

const struct command command_on = {
	.name = "on",
	.usage = "[PID]",
	.summary = "Measure from now on a program that runs under heatline.",
	.details = WHICH " The program is sent no signal: its agents look at a page of shared "
			 "memory, and notice within 20 ms of their CPU time.",
	.examples = "heatline run --off server.py &\tstart without measuring\n"
		    "heatline on 4711\tmeasure from here\n"
		    "heatline off 4711\tto here\n",
	.options = control_options,
	.run = on_run,
};

const struct command command_off = {
	.name = "off",
	.usage = "[PID]",
	.summary = "Suspend the measuring of a program; 'on' resumes it.",
	.details = WHICH " What passes while it is off is in no figure of the profile but "
			 "the time elapsed.",
	.options = control_options,
	.run = off_run,
};

const struct command command_write = {
	.name = "write",
	.usage = "[PID]",
	.summary = "Write the profile so far of a program that still runs.",
	.details = WHICH " The profile goes where it will go at the end, and the name of the file "
			 "is printed.",
	.options = control_options,
	.run = write_run,
};
