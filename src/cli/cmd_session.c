/* cmd_session.c - "heatline session": the collector of heatline.start().
 *
 * Not for people: the Python package starts it, with a pipe on either side
 * (session.h).  On stdout come the run's folder, and at the end the profile.  It
 * leaves the process that started it at once, so that a program which waits for
 * its children never meets it. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/measuring.h"
#include "cli/places.h"
#include "collect/descriptors.h"
#include "collect/session.h"
#include "profile/write.h"

struct session_settings {
	const char *program;
	struct run_scope scope;
	double sampling_interval_s;
	long memory_window_bytes;
	bool is_cpu_only;
	bool has_stacks;
	bool has_async;
};

#define FIELD(name) .offset = offsetof(struct session_settings, name)

static const struct option session_options[] = {
	{.name = "program", .kind = OPTION_TEXT, .value = "NAME", .help = "The script.",
	 FIELD(program)},
	MEASURING_SCOPE,
	MEASURING_SCOPE_ADVANCED(""),
	{.name = "cpu-only", .kind = OPTION_FLAG, .help = "As for run.", FIELD(is_cpu_only)},
	MEASURING_STACKS,
	MEASURING_ASYNC,
	MEASURING_RATE,
	MEASURING_WINDOW,
	OPTIONS_COMMON,
	{0},
};

/* Goes on in a process that nobody waits for.  The pipes move out of the way of
 * the standard descriptors. */
static bool detach(struct link *link)
{
	pid_t pid = fork();

	if (pid != 0)
		_exit(pid < 0 ? 1 : 0);
	descriptors_silence(STDERR_FILENO);
	link->to_collector[0] = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	link->to_front[1] = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return link->to_collector[0] >= 0 && link->to_front[1] >= 0;
}

/* The last words: the profile, or nothing. */
static void send_profile(const struct run_result *result, bool has_stacks)
{
	FILE *out = result->link_fd < 0 ? NULL : fdopen(result->link_fd, "w");
	struct write_options how = WRITE_OPTIONS_DEFAULT;

	if (!out)
		return;
	how.has_stacks = has_stacks;
	if (result->profile)
		profile_write_stream(result->profile, &how, out);
	fclose(out);
}

static int collect(const struct session_settings *settings, pid_t pid)
{
	struct link link = {{-1, -1}, {-1, -1}};
	struct run_result result;
	struct err err;
	struct run_options options = {
		.program = settings->program,
		.entrypoint_dir = settings->scope.program_path,
		.scope = settings->scope,
		.sampling_interval_s = settings->sampling_interval_s,
		.cpu_percent_threshold = 1,
		.malloc_threshold = 100,
		.has_memory = !settings->is_cpu_only,
		.has_gpu = !settings->is_cpu_only,
		.memory_window_bytes = (uint64_t)settings->memory_window_bytes,
		.has_leak_detector = true,
		.has_async = settings->has_async,
		.has_stacks = settings->has_stacks,
		.is_session = true,
		.outfile = "",
		.is_quiet = true,
	};

	char *agent = places_find_agent(true, &err);

	if (!agent)
		return command_error(&err);
	printf("%s\n", agent);
	fflush(stdout);
	free(agent);
	if (!detach(&link) || collect_session(&options, pid, &link, &result, &err) != 0)
		return 1;
	send_profile(&result, settings->has_stacks);
	result.link_fd = -1;
	run_result_fini(&result);
	return 0;
}

static int session_run(int argc, char **argv)
{
	struct session_settings settings = {.program = "", .has_stacks = true, .has_async = true};
	struct options_result parsed;
	struct err err;
	int status = command_read_options(&command_session, argc, argv, &settings, &parsed);

	if (status != COMMAND_GO_ON)
		return status;
	long pid = parsed.operand_count == 1 ? strtol(parsed.operands[0], NULL, 10) : 0;
	if (pid != getppid()) {
		err_set(&err, ERR_USAGE, "session is started by heatline.start() of the Python "
					 "package; to profile a process by its pid: heatline attach");
		status = command_error(&err);
	} else {
		status = collect(&settings, (pid_t)pid);
	}
	options_result_fini(&parsed);
	return status;
}

const struct command command_session = {
	.name = "session",
	.usage = "[options] PID",
	.summary = "Collect for heatline.start() of the Python package.",
	.options = session_options,
	.run = session_run,
};
