/* pyspy.c - see pyspy.h. */
#include "cli/pyspy.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/process.h"
#include "cli/started.h"
#include "profile/stack_tree.h"
#include "report/export/export.h"
#include "report/export/samples.h"

#define STEP_S 0.25
#define WORDS_MAX 8

struct pyspy_settings {
	const char *pid;
	const char *core;
	const char *output;
	const char *format;
	const char *duration;
	double rate_hz;
	bool has_children, by_thread, has_gil_only, has_idle;
	bool is_json, has_locals;
	bool is_native, is_ignored;
};

#define FIELD(name) .offset = offsetof(struct pyspy_settings, name)

#define OPTION_PID                                                                             \
	{.name = "pid", .letter = 'p', .kind = OPTION_TEXT, .value = "PID",                    \
	 .help = "The process to look at.", FIELD(pid)}
#define OPTION_IGNORED(word, key)                                                              \
	{.name = word, .letter = key, .kind = OPTION_FLAG, .flags = OPTION_ADVANCED,           \
	 .help = "Taken and ignored.", FIELD(is_ignored)}
#define OPTIONS_SAMPLING                                                                       \
	{.name = "rate", .letter = 'r', .kind = OPTION_NUMBER, .value = "HZ", .low = 1,        \
	 .high = 20000, .help = "Samples of each thread a second. Default: 100.", FIELD(rate_hz)}, \
	{.name = "subprocesses", .letter = 's', .kind = OPTION_FLAG,                           \
	 .help = "The process's Python children too.", FIELD(has_children)},                   \
	{.name = "gil", .letter = 'g', .kind = OPTION_FLAG,                                    \
	 .help = "Only what holds the GIL.", FIELD(has_gil_only)},                             \
	{.name = "idle", .letter = 'i', .kind = OPTION_FLAG,                                   \
	 .help = "Threads that wait, too.", FIELD(has_idle)},                                  \
	{.name = "native", .letter = 'n', .kind = OPTION_FLAG, .flags = OPTION_ADVANCED,       \
	 .help = "Refused: stacks of C code are not read from outside.", FIELD(is_native)},    \
	OPTION_IGNORED("function", 'F'), OPTION_IGNORED("nolineno", 0),                        \
	OPTION_IGNORED("nonblocking", 0), OPTION_IGNORED("full-filenames", 0)

static const struct option record_options[] = {
	OPTION_PID,
	{.name = "output", .letter = 'o', .kind = OPTION_FILE, .value = "FILE",
	 .help = "Where the profile goes. Default: py-spy with the format's suffix.", FIELD(output)},
	{.name = "format", .letter = 'f', .kind = OPTION_CHOICE, .value = "FORMAT",
	 .choices = "flamegraph|speedscope|raw|chrometrace",
	 .help = "flamegraph, speedscope, raw (a line a stack) or chrometrace. Default: flamegraph.",
	 FIELD(format)},
	{.name = "duration", .letter = 'd', .kind = OPTION_TEXT, .value = "SECONDS",
	 .help = "How long to look, or unlimited (default).", FIELD(duration)},
	{.name = "threads", .letter = 't', .kind = OPTION_FLAG,
	 .help = "Keep threads apart, by their names.", FIELD(by_thread)},
	OPTIONS_SAMPLING,
	OPTIONS_COMMON,
	{0},
};

static const struct option dump_options[] = {
	OPTION_PID,
	{.name = "core", .letter = 'c', .kind = OPTION_FILE, .value = "FILE",
	 .help = "A core file to look at.", FIELD(core)},
	{.name = "json", .letter = 'j', .kind = OPTION_FLAG, .help = "Print JSON.", FIELD(is_json)},
	{.name = "locals", .letter = 'l', .kind = OPTION_FLAG, .help = "Show local variables.",
	 FIELD(has_locals)},
	{.name = "native", .letter = 'n', .kind = OPTION_FLAG, .flags = OPTION_ADVANCED,
	 .help = "Refused: stacks of C code are not read from outside.", FIELD(is_native)},
	OPTION_IGNORED("nonblocking", 0),
	OPTION_IGNORED("full-filenames", 0),
	OPTIONS_COMMON,
	{0},
};

static const struct option top_options[] = {OPTION_PID, OPTIONS_SAMPLING, OPTIONS_COMMON, {0}};

/* What a format is here: one of our exports, or a writer of samples. */
static const struct {
	const char *name, *suffix, *export;
	void (*write)(FILE *out, const struct profile *profile, const struct export_samples *how);
} formats[] = {
	{"flamegraph", ".svg", "svg", NULL},
	{"speedscope", ".speedscope.json", NULL, export_samples_speedscope},
	{"raw", ".txt", NULL, export_samples_raw},
	{"chrometrace", ".trace.json", "chrome", NULL},
};

static size_t format_find(const char *name)
{
	size_t i = 0;

	while (strcmp(formats[i].name, name) != 0)
		i++;
	return i;
}

/* ---- record ---- */

static volatile sig_atomic_t is_asked_to_end;

static void on_signal(int number)
{
	(void)number;
	is_asked_to_end = 1;
}

static int parse_duration(const char *word, double *seconds, struct err *err)
{
	char *end;

	*seconds = INFINITY;
	if (strcmp(word, "unlimited") == 0)
		return 0;
	*seconds = strtod(word, &end);
	if (end == word || *end || !(*seconds > 0))
		return err_set(err, ERR_USAGE, "'%s' is no duration; give seconds, or unlimited", word);
	return 0;
}

/* Which time counts: with all waiting, or without any.  Threads that stand for
 * themselves as frames have no file. */
static void shape_stacks(struct profile *profile, bool has_idle)
{
	for (uint32_t i = 0; i < profile->stack_count; i++) {
		struct stack_node *node = &profile->stacks[i];

		node->self.wait_s = has_idle ? node->self.wait_s + node->self.idle_s : 0;
		if (node->file != STACK_NO_FILE &&
		    strcmp(profile->files[node->file].path, ATTACH_THREAD_FILE) == 0)
			node->file = STACK_NO_FILE;
	}
}

static int write_profile(const struct pyspy_settings *settings, const struct profile *profile,
			 struct err *err)
{
	struct export_samples how = {settings->rate_hz, settings->by_thread};
	size_t format = format_find(settings->format);
	char path[40];
	struct file_writer writer;

	snprintf(path, sizeof(path), "py-spy%s", formats[format].suffix);
	int status = file_writer_open(&writer, settings->output ? settings->output : path, err);
	if (status)
		return status;
	if (formats[format].write)
		formats[format].write(writer.stream, profile, &how);
	else
		export_write(export_format_find(formats[format].export), profile, EXPORT_TIME,
			     writer.stream);
	return file_writer_commit(&writer, err);
}

static int record(const struct pyspy_settings *settings, pid_t pid, bool is_started, struct err *err)
{
	char command[64];
	double duration_s;
	struct attach_options options = {
		.pid = pid,
		.command = command,
		.rate_hz = settings->rate_hz,
		.has_children = settings->has_children,
		.has_gil_only = settings->has_gil_only,
		.by_thread = settings->by_thread,
		.scope = {.is_all = true, .has_system_libraries = true},
	};
	struct sigaction action = {.sa_handler = on_signal};
	int status = parse_duration(settings->duration, &duration_s, err);

	if (status)
		return status;
	snprintf(command, sizeof(command), "py-spy record --pid %d", (int)pid);
	struct attach *attach = is_started ? started_attach(&options, err) : attach_new(&options, err);
	if (!attach)
		return -1;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	uint64_t start_ns = clock_monotonic_ns();
	double left_s = duration_s;
	while (!is_asked_to_end && left_s > 0 && attach_step(attach, left_s < STEP_S ? left_s : STEP_S))
		left_s = duration_s - 1e-9 * (double)(clock_monotonic_ns() - start_ns);
	struct profile *profile = attach_profile(attach, false);
	if (profile) {
		shape_stacks(profile, settings->has_idle || settings->has_gil_only);
		status = write_profile(settings, profile, err);
	} else {
		status = err_set(err, ERR_TARGET, "process %d has ended", (int)pid);
	}
	profile_free(profile);
	attach_free(attach);
	return status;
}

/* The process that was named, or the program that is to be started. */
static int record_run(const struct pyspy_settings *settings, const struct options_result *parsed,
		      struct err *err)
{
	struct target target = {.argv = NULL};
	pid_t pid;
	int status;

	if (settings->pid) {
		status = process_parse_pid(settings->pid, &pid, err);
		return status ? status : record(settings, pid, false, err);
	}
	if (parsed->operand_count == 0)
		return err_set(err, ERR_USAGE, "record needs a process or a program: "
			       "py-spy record -p PID, or py-spy record -- python prog.py");
	status = target_resolve(parsed->operands, NULL, &target, err);
	if (status)
		return status;
	if (settings->output && file_is_same(settings->output, target.program)) {
		target_fini(&target);
		return err_set(err, ERR_USAGE, "-o '%s' is the program itself, which would be lost; "
					       "name another file", settings->output);
	}
	pid = started_begin(&target, false, err);
	status = pid < 0 ? -1 : record(settings, pid, true, err);
	if (pid > 0)
		started_end(pid);
	target_fini(&target);
	return status;
}

/* ---- dump and top: the same in our words ---- */

static int hand_on(const struct command *command, const char **words, int count)
{
	return command->run(count, (char **)(uintptr_t)words);
}

static int dump_run(const struct pyspy_settings *settings)
{
	const char *words[WORDS_MAX];
	int count = 0;

	if (settings->pid || settings->core)
		words[count++] = settings->pid ? settings->pid : settings->core;
	if (settings->is_json)
		words[count++] = "--json";
	if (settings->has_locals)
		words[count++] = "--locals";
	words[count] = NULL;
	return hand_on(&command_dump, words, count);
}

static int top_run(const struct pyspy_settings *settings, const struct options_result *parsed)
{
	const char **words = mem_zalloc((size_t)parsed->operand_count + WORDS_MAX, sizeof(*words));
	char rate[40];
	int count = 0;

	snprintf(rate, sizeof(rate), "--rate=%g", settings->rate_hz);
	words[count++] = rate;
	words[count++] = "--profile-all";
	if (settings->has_children)
		words[count++] = "--children";
	if (settings->pid)
		words[count++] = settings->pid;
	for (int i = 0; i < parsed->operand_count; i++)
		words[count++] = parsed->operands[i];
	int status = hand_on(&command_top, words, count);
	free(words);
	return status;
}

/* ---- the commands ---- */

static const struct command pyspy_commands[] = {
	{.name = "record", .usage = "[options] -p PID | -- command...",
	 .summary = "Record a profile of a process to a file.", .options = record_options,
	 .stops_at_operand = true},
	{.name = "top", .usage = "[options] -p PID | -- command...",
	 .summary = "Watch the hottest lines of a process, live.", .options = top_options,
	 .stops_at_operand = true},
	{.name = "dump", .usage = "[options] -p PID", .summary = "Show the stack of every thread.",
	 .options = dump_options},
};

static int run_command(const struct command *command, int argc, char **argv)
{
	struct pyspy_settings settings = {.format = "flamegraph", .duration = "unlimited", .rate_hz = 100};
	struct options_result parsed;
	struct err err;
	int status = command_read_options(command, argc, argv, &settings, &parsed);

	if (status != COMMAND_GO_ON)
		return status;
	if (settings.is_native) {
		err_set(&err, ERR_UNSUPPORTED, "stacks of C code are not read from outside; leave out --native");
		status = command_error(&err);
	} else if (command == &pyspy_commands[0]) {
		status = record_run(&settings, &parsed, &err) ? command_error(&err) : 0;
	} else if (command == &pyspy_commands[1]) {
		status = top_run(&settings, &parsed);
	} else {
		status = dump_run(&settings);
	}
	options_result_fini(&parsed);
	return status;
}

static void print_overview(FILE *out)
{
	fputs("This is heatline " HEATLINE_VERSION ", called as py-spy.\n\n", out);
	for (size_t i = 0; i < sizeof(pyspy_commands) / sizeof(pyspy_commands[0]); i++)
		fprintf(out, "  py-spy %-7s %s\n", pyspy_commands[i].name, pyspy_commands[i].summary);
	fputs("\nheatline itself can do more: heatline --help\n", out);
}

int pyspy_run(int argc, char **argv)
{
	const char *word = argc > 0 ? argv[0] : "";
	struct err err;

	for (size_t i = 0; i < sizeof(pyspy_commands) / sizeof(pyspy_commands[0]); i++) {
		if (strcmp(pyspy_commands[i].name, word) == 0)
			return run_command(&pyspy_commands[i], argc - 1, argv + 1);
	}
	if (strcmp(word, "completions") == 0)
		return command_completions.run(argc - 1, argv + 1);
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
		printf("py-spy (heatline %s)\n", HEATLINE_VERSION);
		return 0;
	}
	if (!word[0] || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
		print_overview(word[0] ? stdout : stderr);
		return word[0] ? 0 : 2;
	}
	err_set(&err, ERR_USAGE, "heatline as py-spy has record, top and dump, but no '%s'", word);
	return command_error(&err);
}
