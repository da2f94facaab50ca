/* cmd_top.c - `heatline top`: what is hot in a running process, live. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/measuring.h"
#include "cli/process.h"
#include "cli/started.h"
#include "cli/target.h"
#include "cli/top_screen.h"
#include "cli/top_table.h"

#define ONCE_ROWS 30u

struct top_settings {
	const char *python;
	struct run_scope scope;
	double duration_s;
	double rate_hz;
	bool is_once;
	bool is_json;
	bool has_children;
};

#define FIELD(name) .offset = offsetof(struct top_settings, name)

static const struct option top_options[] = {
	{.name = "once", .kind = OPTION_FLAG, .help = "Look for a while, print the table and end.",
	 FIELD(is_once)},
	{.name = "json", .letter = 'j', .kind = OPTION_FLAG, .help = "With --once: print JSON.",
	 FIELD(is_json)},
	{.name = "duration", .letter = 'd', .kind = OPTION_NUMBER, .value = "SECONDS", .low = 0.05,
	 .high = 3600, .help = "With --once: how long to look. Default: 1.", FIELD(duration_s)},
	{.name = "rate", .letter = 'r', .kind = OPTION_NUMBER, .value = "HZ", .low = 1, .high = 20000,
	 .help = "Looks at each thread a second, on average. Default: 500.", FIELD(rate_hz)},
	{.name = "children", .kind = OPTION_FLAG, .help = "The process's Python children too.",
	 FIELD(has_children)},
	MEASURING_SCOPE,
	{.name = "python", .kind = OPTION_FILE, .value = "PYTHON",
	 .help = "The interpreter for a script that is started; as for run.", FIELD(python)},
	OPTIONS_HELP,
	{0},
};

/* ---- once ---- */

static void print_once(const struct profile *profile, pid_t pid, const struct attach_figures *figures)
{
	struct top_table table = {0};
	struct style style;
	char *here = getcwd(NULL, 0);

	style_init(&style, STDOUT_FILENO, STYLE_COLOR_NEVER);
	style.folder = here;
	top_heading_put(stdout, &style, pid, figures);
	putchar('\n');
	top_figures_put(stdout, figures);
	putchar('\n');
	puts(top_columns(TOP_LINES));
	top_table_make(&table, profile, TOP_LINES, TOP_BY_OWN, NULL);
	for (uint32_t i = 0; i < table.count && i < ONCE_ROWS; i++) {
		top_row_put(stdout, &style, &table, &table.rows[i]);
		putchar('\n');
	}
	top_table_fini(&table);
	free(here);
}

static int show_once(struct attach *attach, pid_t pid, const struct top_settings *settings, struct err *err)
{
	struct attach_figures figures;

	attach_step(attach, settings->duration_s);
	attach_figures(attach, &figures);
	struct profile *profile = attach_profile(attach, true);
	if (!profile)
		return err_set(err, ERR_TARGET, "process %d has ended", (int)pid);
	if (settings->is_json)
		top_put_json(stdout, profile, pid, &figures);
	else
		print_once(profile, pid, &figures);
	profile_free(profile);
	return 0;
}

/* ---- the command ---- */

static int show(const struct top_settings *settings, pid_t pid, bool is_started)
{
	char command[64];
	struct attach_options options = {
		.pid = pid,
		.command = command,
		.rate_hz = settings->rate_hz,
		.has_children = settings->has_children,
		.scope = settings->scope,
	};
	struct err err;
	int status = -1;

	snprintf(command, sizeof(command), "heatline top %d", (int)pid);
	struct attach *attach = is_started ? started_attach(&options, &err) : attach_new(&options, &err);
	if (attach)
		status = settings->is_once ? show_once(attach, pid, settings, &err)
					   : top_screen_run(attach, pid, &err);
	attach_free(attach);
	return status ? command_error(&err) : 0;
}

/* Whether the operands name a process, not a program. */
static bool is_pid(const struct options_result *parsed)
{
	const char *word = parsed->operands[0];

	return parsed->operand_count == 1 && strspn(word, "0123456789") == strlen(word);
}

static int show_operands(const struct top_settings *settings, const struct options_result *parsed)
{
	struct target target = {.argv = NULL};
	struct err err;
	int status;
	pid_t pid;

	if (parsed->operand_count == 0) {
		err_set(&err, ERR_USAGE, "top needs a process or a program: heatline top PID, or heatline top prog.py");
		return command_error(&err);
	}
	if (is_pid(parsed))
		return process_parse_pid(parsed->operands[0], &pid, &err) ? command_error(&err)
									   : show(settings, pid, false);
	if (target_resolve(parsed->operands, settings->python, &target, &err) != 0)
		return command_error(&err);
	pid = started_begin(&target, true, &err);
	status = pid < 0 ? command_error(&err) : show(settings, pid, true);
	if (pid > 0)
		started_end(pid);
	target_fini(&target);
	return status;
}

static int top_run(int argc, char **argv)
{
	struct top_settings settings = {.duration_s = 1, .rate_hz = 500};
	struct options_result parsed;
	int status = command_read_options(&command_top, argc, argv, &settings, &parsed);

	if (status != COMMAND_GO_ON)
		return status;
	status = show_operands(&settings, &parsed);
	options_result_fini(&parsed);
	return status;
}

const struct command command_top = {
	.name = "top",
	.usage = "[options] PID | prog.py args...",
	.summary = "Watch the hottest lines of a running process, live.",
	.details = "The process is looked at from outside and not stopped. The table shows, for the "
		   "program's own lines, their own time and the time with all that they called, in "
		   "percent, and the time spent waiting for the GIL. A program that is named is "
		   "started with no terminal, and ended with the table.\n"
		   "\n"
		   "Keys: l lines, f functions, t threads, s sort, / filter, space pause, r reset, "
		   "arrows and Enter open a line's source, q quit.",
	.examples = "heatline top 1234\ta running process\n"
		    "heatline top prog.py\ta program, from its start\n"
		    "heatline top --once --json 1234\tone second, for scripts\n",
	.options = top_options,
	.stops_at_operand = true,
	.run = top_run,
};
