/* cmd_run.c - "heatline run": profile a program from its start to its end.
 *
 * Everything that can be known to fail is checked before the program starts,
 * because its work must not be lost to a mistyped folder.  Afterwards heatline
 * ends as the program ended, with its status or by its signal. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/cmd_recover.h"
#include "cli/commands.h"
#include "cli/live.h"
#include "cli/measuring.h"
#include "cli/outfile.h"
#include "cli/places.h"
#include "cli/show.h"
#include "cli/target.h"
#include "collect/nvml.h"
#include "collect/recover.h"
#include "collect/run.h"
#include "profile/decorated.h"

/* The options, as given.  Texts are borrowed from the command line. */
struct run_settings {
	const char *outfile;
	const char *config;
	const char *python;
	struct run_scope scope;
	double sampling_interval_s;
	double profile_interval_s;
	double cpu_percent_threshold;
	long memory_window_bytes;
	long malloc_threshold;
	bool is_cpu_only;
	bool has_memory; /* --memory: asked for by name, as in Scalene */
	bool wants_gpu, has_no_gpu; /* --gpu, --no-gpu, as given */
	bool has_leak_detector;
	bool has_stacks;
	bool has_async;
	bool is_virtual_time;
	bool is_reduced;
	bool is_quiet;
	bool is_live;
	bool is_on, is_off; /* --on and --off, as given */
	bool has_children;
};

#define FIELD(name) .offset = offsetof(struct run_settings, name)

static const struct option run_options[] = {
	MEASURING_OUTFILE,
	MEASURING_SCOPE,
	{.name = "python", .kind = OPTION_FILE, .value = "PYTHON",
	 .help = "The interpreter for the script or module: a path, a name, a version like 3.12, "
		 "or the folder of an environment. Default: that of the environment heatline is "
		 "installed in, else of the active one, else python3.",
	 FIELD(python)},
	MEASURING_QUIET,
	{.name = "live", .kind = OPTION_FLAG,
	 .help = "Show the program in the browser while it runs; see 'heatline help view'.",
	 FIELD(is_live)},
	{.name = "off", .kind = OPTION_FLAG,
	 .help = "Start suspended; 'heatline on PID' begins to measure, 'heatline off PID' pauses.",
	 FIELD(is_off)},
	{.name = "children", .kind = OPTION_SWITCH,
	 .help = "Profile the processes that the program starts too, which is the default; "
		 "--no-children: only the first.",
	 FIELD(has_children)},
	{.name = "config", .letter = 'c', .kind = OPTION_FILE, .value = "FILE",
	 .flags = OPTION_NO_CONFIG | OPTION_IS_CONFIG,
	 .help = "Read options from a YAML file: their long names are its keys.", FIELD(config)},
	{.letter = 'm', .kind = OPTION_PROGRAM, .value = "MODULE",
	 .help = "Profile a module, as 'python3 -m' runs it."},

	{.name = "on", .kind = OPTION_FLAG, .flags = OPTION_ADVANCED,
	 .help = "Measure from the start, which is the default.", FIELD(is_on)},
	{.name = "cpu-only", .alias = "cpu", .kind = OPTION_FLAG, .flags = OPTION_ADVANCED,
	 .help = "Measure CPU time only, neither memory nor GPU; --cpu is the same.",
	 FIELD(is_cpu_only)},
	{.name = "gpu", .kind = OPTION_FLAG, .flags = OPTION_ADVANCED,
	 .help = "Insist on measuring the GPU, which is done anyway where there is one: end with a "
		 "message when there is none.",
	 FIELD(wants_gpu)},
	{.name = "no-gpu", .kind = OPTION_FLAG, .flags = OPTION_ADVANCED,
	 .help = "Leave the GPU alone.", FIELD(has_no_gpu)},
	{.name = "memory", .kind = OPTION_FLAG, .flags = OPTION_ADVANCED,
	 .help = "Measure memory and copies as well as time, which is the default.",
	 FIELD(has_memory)},
	MEASURING_WINDOW,
	{.name = "malloc-threshold", .kind = OPTION_INTEGER, .value = "COUNT", .low = 0,
	 .high = 1e12, .flags = OPTION_ADVANCED,
	 .help = "Report a file that took little time if it made at least so many allocations "
		 "and a megabyte of them. Default: 100.",
	 FIELD(malloc_threshold)},
	{.name = "memory-leak-detector", .kind = OPTION_SWITCH, .flags = OPTION_ADVANCED,
	 .help = "Look for lines that leak. Default: yes.", FIELD(has_leak_detector)},
	MEASURING_SCOPE_ADVANCED("; for a module or command the current one"),
	MEASURING_STACKS,
	MEASURING_ASYNC,
	{.name = "use-virtual-time", .kind = OPTION_FLAG, .flags = OPTION_ADVANCED,
	 .help = "Measure CPU time only: leave out sleeping and waiting.", FIELD(is_virtual_time)},
	MEASURING_RATE,
	MEASURING_THRESHOLD(", of the GPU's time and of the memory's peak (and see "
			    "--malloc-threshold)"),
	{.name = "profile-interval", .kind = OPTION_NUMBER, .value = "SECONDS", .low = 0.1,
	 .high = INFINITY, .flags = OPTION_ADVANCED,
	 .help = "Write the profile every so many seconds while the program runs, and at its end.",
	 FIELD(profile_interval_s)},
	{.name = "reduced-profile", .kind = OPTION_FLAG, .flags = OPTION_ADVANCED,
	 .help = "Write only lines that took time.", FIELD(is_reduced)},

	OPTIONS_COMMON,
	{0},
};

/* --gpu: there has to be one. */
static int check_gpu(const struct run_settings *settings, struct err *err)
{
	if (!settings->wants_gpu)
		return 0;
	if (settings->is_cpu_only || settings->has_no_gpu)
		return err_set(err, ERR_USAGE, "--gpu and %s exclude each other; give one of them",
			       settings->is_cpu_only ? "--cpu-only" : "--no-gpu");
	struct nvml *nvml = nvml_open(err);
	if (!nvml)
		return -(int)err->code;
	nvml_close(nvml);
	return 0;
}

/* What has to hold before the program may start. */
static int check_settings(const struct run_settings *settings, struct err *err)
{
	int status = file_check_writable(settings->outfile, err);

	if (status)
		return status;
	if (settings->is_on && settings->is_off)
		return err_set(err, ERR_USAGE, "--on and --off exclude each other; give one of them");
	if (settings->scope.program_path && !places_is_folder(settings->scope.program_path))
		return err_set(err, ERR_USAGE, "--program-path '%s' is not a folder",
			       settings->scope.program_path);
	return check_gpu(settings, err);
}

static struct run_options options_from(const struct run_settings *settings,
				       const struct target *target, const char *agent)
{
	bool is_at_end = isinf(settings->profile_interval_s);

	return (struct run_options){
		.argv = target->argv,
		.path = target->path,
		.agent = agent,
		.program = target->program,
		.entrypoint_dir = target->entrypoint_dir,
		.args = target->args,
		.scope = settings->scope,
		.sampling_interval_s = settings->sampling_interval_s,
		.profile_interval_s = is_at_end ? 0 : settings->profile_interval_s,
		.cpu_percent_threshold = settings->cpu_percent_threshold,
		.is_virtual_time = settings->is_virtual_time,
		.has_memory = !settings->is_cpu_only,
		.has_gpu = !settings->is_cpu_only && !settings->has_no_gpu,
		.memory_window_bytes = (uint64_t)settings->memory_window_bytes,
		.malloc_threshold = (double)settings->malloc_threshold,
		.has_leak_detector = settings->has_leak_detector,
		.has_async = settings->has_async,
		.has_stacks = settings->has_stacks,
		.is_reduced = settings->is_reduced,
		.outfile = settings->outfile,
		.is_quiet = settings->is_quiet,
		.is_off = settings->is_off,
		.is_first_only = !settings->has_children,
	};
}

/* Ends as the program ended.  A signal is raised again, so that the shell sees
 * what it would have seen; no second core file is left for it. */
static int end_like(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	int signal_number = WTERMSIG(status);
	struct rlimit no_core = {0, 0};
	sigset_t set;

	fflush(NULL);
	setrlimit(RLIMIT_CORE, &no_core);
	signal(signal_number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, signal_number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(signal_number);
	return 128 + signal_number;
}

/* Tells the user what came of it, in the process that knows. */
static void tell(const struct run_settings *settings, struct run_result *result,
		 const struct err *err)
{
	if (err->code != ERR_NONE)
		command_error(err);
	if (result->profile && !settings->is_quiet)
		show_summary(result->profile,
			     result->is_written ? settings->outfile : result->elsewhere,
			     result->has_nothing);
	if (result->still_running != 0 && !settings->is_quiet)
		fprintf(stderr,
			"%u of its processes %s still running: the profile is written %swhen the last "
			"has ended (heatline status)\n",
			result->still_running, result->still_running == 1 ? "is" : "are",
			result->profile ? "again " : "");
	if (result->strangers != 0 && !settings->is_quiet)
		fprintf(stderr,
			"What it left behind (%u %s) is still running: Python that this starts within %u s is "
			"profiled too\n",
			result->strangers, result->strangers == 1 ? "process" : "processes",
			RUN_STRANGERS_S);
	fflush(stderr);
	run_result_fini(result);
}

/* What to do with the program: profile it, or make the profile of a run of it
 * whose heatline was killed. */
static int profile_target(const struct run_settings *settings, const struct target *target,
			  char **words, const struct run_entry *lost)
{
	struct run_result result;
	struct err err;
	char *agent = places_find_agent(!settings->is_cpu_only, &err);

	if (!agent)
		return command_error(&err);
	if (settings->is_live && live_start(target->program, &err) != 0) {
		free(agent);
		return command_error(&err);
	}
	const char *path = settings->scope.program_path;
	char *root = path ? places_absolute(path) : NULL;
	struct run_options options = options_from(settings, target, agent);
	options.scope.program_path = root;
	struct decorated_program searched = {.script = target->program,
					     .args = target->args,
					     .folder = root ? root : target->entrypoint_dir};
	bool has_decorated = decorated_search(&searched, &options.wants_profile_name);
	options.is_decorated_only = has_decorated && !settings->scope.is_all;
	options.words = words;
	err_clear(&err);
	int failure = lost ? collect_recover(lost, &options, &result, &err)
			   : collect_run(&options, &result, &err);
	free(root);
	free(agent);
	int status = result.status;
	bool is_front = result.role == RUN_FRONT;
	tell(settings, &result, &err);
	if (!is_front)
		exit(0); /* what the caller goes on with is the front's */
	if (failure)
		return 2;
	return lost ? 0 : end_like(status);
}

/* Runs, or recovers, what the words after "run" say. */
static int run_words(int argc, char **argv, const struct run_entry *lost)
{
	struct run_settings settings = {
		.outfile = DEFAULT_PROFILE,
		.cpu_percent_threshold = 1,
		.malloc_threshold = 100,
		.has_leak_detector = true,
		.has_stacks = true,
		.has_async = true,
		.has_children = true,
	};
	struct options_result parsed;
	struct target target = {.argv = NULL};
	struct err err;
	char **words = mem_zalloc((size_t)argc + 1, sizeof(*words));

	for (int i = 0; i < argc; i++)
		words[i] = argv[i];
	int status = command_read_options(&command_run, argc, argv, &settings, &parsed);
	if (status != COMMAND_GO_ON) {
		free(words);
		return status;
	}
	if (!settings.is_quiet && !lost)
		recover_remind();
	if (check_settings(&settings, &err) ||
	    target_resolve(parsed.operands, settings.python, &target, &err) ||
	    outfile_check_run(settings.outfile, target.program, &err))
		status = command_error(&err);
	else
		status = profile_target(&settings, &target, words, lost);
	target_fini(&target);
	options_result_fini(&parsed);
	free(words);
	return status;
}

static int run_run(int argc, char **argv)
{
	return run_words(argc, argv, NULL);
}

int run_recover(const struct run_entry *lost, struct err *err)
{
	char **words;
	const char *cwd;
	int count = 0;
	int status = recover_words(lost, &words, &cwd, err);

	if (status)
		return status;
	if (chdir(cwd)) {
		status = err_set_errno(err, errno, "the folder '%s' of '%s' cannot be entered", cwd,
				       lost->control->program);
		free(words);
		return status;
	}
	while (words[count])
		count++;
	status = run_words(count, words, lost);
	free(words);
	return status ? err_set(err, ERR_TARGET, "'%s' was not recovered; 'heatline recover "
						 "--discard' drops what is left of it",
				lost->control->program)
		      : 0;
}

const struct command command_run = {
	.name = "run",
	.usage = "[options] prog.py args...",
	.summary = "Profile a program: for every line, where the time went.",
	.details = "The program is a Python file, a module (-m), or any command that ends up in "
		   "Python. It runs as it would without heatline, and its exit status is "
		   "heatline's. '---' may stand before its own arguments.",
	.examples = "heatline run prog.py --size 10\tprofile a script\n"
		    "heatline run -m package.module\tprofile a module\n"
		    "heatline run pytest -x\tprofile a command\n"
		    "heatline run -o big.json --profile-only lib,app prog.py\treport some files\n",
	.options = run_options,
	.stops_at_operand = true,
	.run = run_run,
};
