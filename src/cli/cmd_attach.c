/* cmd_attach.c - `heatline attach`: profile a process that already runs. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/measuring.h"
#include "cli/outfile.h"
#include "cli/places.h"
#include "cli/process.h"
#include "cli/show.h"
#include "collect/attach.h"
#include "profile/model.h"

#define DEFAULT_RATE_HZ 1000
#define STEP_S 0.25

struct attach_settings {
	const char *outfile;
	struct run_scope scope;
	double duration_s;
	double rate_hz;
	double cpu_percent_threshold;
	bool has_children;
	bool has_no_perf;
	bool is_quiet;
};

#define FIELD(name) .offset = offsetof(struct attach_settings, name)

static const struct option attach_command_options[] = {
	{.name = "duration", .letter = 'd', .kind = OPTION_NUMBER, .value = "SECONDS", .low = 0.01,
	 .high = INFINITY, .help = "End after so many seconds. Default: when you press Ctrl-C or the "
				   "process ends.",
	 FIELD(duration_s)},
	{.name = "rate", .letter = 'r', .kind = OPTION_NUMBER, .value = "HZ", .low = 1, .high = 200000,
	 .help = "Looks at each thread a second, on average. Default: 1000.", FIELD(rate_hz)},
	MEASURING_OUTFILE,
	{.name = "children", .kind = OPTION_FLAG,
	 .help = "Profile the process's Python children too, also those that it starts later.",
	 FIELD(has_children)},
	{.name = "no-perf", .kind = OPTION_FLAG,
	 .help = "No perf events on the process's threads, which tell system time and work in C apart "
		 "and cost it up to half a percent.",
	 FIELD(has_no_perf)},
	MEASURING_SCOPE,
	MEASURING_SCOPE_ADVANCED(", else the process's current one"),
	MEASURING_THRESHOLD(""),
	MEASURING_QUIET,
	OPTIONS_COMMON,
	{0},
};

static volatile sig_atomic_t is_asked_to_end;

static void on_signal(int number)
{
	(void)number;
	is_asked_to_end = 1;
}

/* Ctrl-C and the like end the session, not us. */
static void catch_signals(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = on_signal};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &action, NULL);
}

static void look_on(struct attach *attach, double duration_s)
{
	uint64_t start_ns = clock_monotonic_ns();

	while (!is_asked_to_end) {
		double left_s = duration_s - 1e-9 * (double)(clock_monotonic_ns() - start_ns);

		if (left_s <= 0 || !attach_step(attach, left_s < STEP_S ? left_s : STEP_S))
			return;
	}
}

static int attach_to(const struct attach_settings *settings, pid_t pid)
{
	char command[64];
	const char *path = settings->scope.program_path;
	char *root = path ? places_absolute(path) : NULL;
	struct attach_options options = {
		.pid = pid,
		.command = command,
		.rate_hz = settings->rate_hz,
		.has_children = settings->has_children,
		.has_no_perf = settings->has_no_perf,
		.scope = settings->scope,
		.cpu_percent_threshold = settings->cpu_percent_threshold,
		.outfile = settings->outfile,
	};
	struct profile *profile = NULL;
	struct err err;
	int status = 0;

	options.scope.program_path = root;
	snprintf(command, sizeof(command), "heatline attach %d", (int)pid);
	catch_signals();
	struct attach *attach = attach_new(&options, &err);
	if (attach) {
		if (!settings->is_quiet && isatty(STDERR_FILENO) && isinf(settings->duration_s))
			fprintf(stderr, "heatline: profiling process %d; Ctrl-C ends it\n", (int)pid);
		look_on(attach, settings->duration_s);
		profile = attach_profile(attach, false);
		if (!profile)
			err_set(&err, ERR_TARGET, "process %d has ended", (int)pid);
	}
	if (!profile || attach_write(attach, profile, &err))
		status = command_error(&err);
	if (profile && !settings->is_quiet)
		show_summary(profile, status ? NULL : settings->outfile, false);
	profile_free(profile);
	attach_free(attach);
	free(root);
	return status;
}

static int attach_run(int argc, char **argv)
{
	struct attach_settings settings = {
		.outfile = DEFAULT_PROFILE,
		.duration_s = INFINITY,
		.rate_hz = DEFAULT_RATE_HZ,
		.cpu_percent_threshold = 1,
	};
	struct options_result parsed;
	struct err err;
	pid_t pid;
	int status = command_read_options(&command_attach, argc, argv, &settings, &parsed);

	if (status != COMMAND_GO_ON)
		return status;
	if (process_operand(parsed.operands, parsed.operand_count, "attach", &pid, &err) ||
	    file_check_writable(settings.outfile, &err) ||
	    outfile_check(settings.outfile, OUTFILE_PROFILE, NULL, &err))
		status = command_error(&err);
	else
		status = attach_to(&settings, pid);
	options_result_fini(&parsed);
	return status;
}

const struct command command_attach = {
	.name = "attach",
	.usage = "[options] PID",
	.summary = "Profile a process that already runs, without stopping it.",
	.details = "The process is looked at from outside; nothing is installed in it, and it need not "
		   "be started again. The profile is one like any other: lines, functions, stacks, "
		   "threads. What is measured is wall time, by state: running (Python or native), "
		   "waiting for the GIL, waiting for something else. Memory is not measured.",
	.examples = "heatline attach 1234\tuntil Ctrl-C\n"
		    "heatline attach -d 30 -o busy.json 1234\tfor half a minute\n"
		    "heatline attach --children $(pgrep -o gunicorn)\ta server and its workers\n",
	.options = attach_command_options,
	.run = attach_run,
};
