/* run.c - a profiling run from start to end.
 *
 * One loop: sleep some thirty milliseconds, drain the rings, look at waiting
 * threads, until the program has ended.  Ctrl-C comes to the whole process
 * group, so the program gets it too; a signal that was sent to us alone is
 * passed on. */
#include "collect/run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/collector.h"
#include "collect/folder.h"
#include "collect/launch.h"
#include "profile/model.h"
#include "profile/write.h"

/* Between two rounds; the jitter keeps them out of step with the program. */
#define ROUND_NS 30000000u
#define ROUND_JITTER_NS 12000000u
#define LIST_MAX 64u

/* --- the collector's life --- */

static uint32_t split_list(const char *list, const char **items, char **copy)
{
	uint32_t count = 0;
	*copy = list == NULL ? NULL : mem_copy_text(list);
	char *rest = NULL;
	for (char *item = *copy == NULL ? NULL : strtok_r(*copy, ",", &rest);
	     item != NULL && count < LIST_MAX; item = strtok_r(NULL, ",", &rest))
		items[count++] = item;
	return count;
}

/* The lists of the scope, split once for the whole run. */
struct scope_lists {
	const char *only[LIST_MAX], *exclude[LIST_MAX];
	char *only_copy, *exclude_copy; /* owned */
};

static void init_scope(struct collector *collector, struct scope_lists *lists)
{
	const struct run_options *options = collector->options;
	const struct run_scope *scope = &options->scope;
	collector->scope = (struct scope_rules){
		.program = options->program,
		.folder = scope->program_path != NULL ? scope->program_path
						      : options->entrypoint_dir,
		.only = lists->only,
		.only_count = split_list(scope->only, lists->only, &lists->only_copy),
		.exclude = lists->exclude,
		.exclude_count = split_list(scope->exclude, lists->exclude, &lists->exclude_copy),
		.profile_all = scope->is_all,
		.profile_system_libraries = scope->has_system_libraries,
	};
	scope_init(&collector->scope);
}

static void collector_init(struct collector *collector, const struct run_options *options)
{
	memset(collector, 0, sizeof(*collector));
	collector->options = options;
	collector->strings = intern_new();
	codes_init(&collector->codes, collector->strings);
	tree_init(&collector->tree);
	heap_init(&collector->heap);
	map_init(&collector->moment_index);
	collector->random = clock_monotonic_ns() | 1;
	collector->scratch = mem_alloc(RECORD_MAX_BYTES);
	collector->walk_scratch = mem_alloc(sizeof(*collector->walk_scratch));
	collector->walk_frames = mem_zalloc(WALK_MAX_FRAMES, sizeof(*collector->walk_frames));
	collector->tree_frames = mem_zalloc(WALK_MAX_FRAMES, sizeof(*collector->tree_frames));
	collector->identities = mem_zalloc(WALK_MAX_FRAMES, sizeof(*collector->identities));
}

static void free_process(struct process *process)
{
	if (process->ring != NULL)
		munmap(process->ring, sizeof(*process->ring));
	for (uint32_t i = 0; i < process->threads.count; i++)
		free(process->threads.items[i]);
	vec_free(&process->threads);
	vec_free(&process->ids);
	map_fini(&process->addresses);
	images_fini(&process->images);
	free(process->ring_path);
	free(process);
}

static void collector_fini(struct collector *collector)
{
	for (uint32_t i = 0; i < collector->processes.count; i++)
		free_process(collector->processes.items[i]);
	vec_free(&collector->processes);
	vec_free(&collector->moments);
	map_fini(&collector->moment_index);
	codes_fini(&collector->codes);
	tree_fini(&collector->tree);
	heap_fini(&collector->heap);
	intern_free(collector->strings);
	scope_fini(&collector->scope);
	free(collector->scratch);
	free(collector->walk_scratch);
	free(collector->walk_frames);
	free(collector->tree_frames);
	free(collector->identities);
	folder_remove(collector->folder, collector->control);
}

/* --- writing --- */

static int write_profile(const struct run_options *options, const struct profile *profile,
			 struct err *err)
{
	struct write_options how = {
		.is_reduced = options->is_reduced,
		.cpu_percent_threshold = options->cpu_percent_threshold,
		.malloc_threshold = options->malloc_threshold,
		.has_stacks = options->has_stacks,
	};
	return profile_write(profile, &how, options->outfile, err);
}

/* A profile without a single sample must not replace one that has some. */
static bool would_lose(const struct collector *collector)
{
	return collector->cpu_samples == 0 && collector->wait_samples == 0 &&
	       access(collector->options->outfile, F_OK) == 0;
}

static void write_in_between(struct collector *collector)
{
	processes_drain(collector);
	struct profile *profile = build_profile(collector, true);
	/* A failure shows at the end again, where it can be told. */
	if (profile != NULL && !would_lose(collector))
		write_profile(collector->options, profile, NULL);
	profile_free(profile);
}

static void finish(struct collector *collector, struct run_result *result, struct err *err)
{
	processes_finish(collector);
	result->profile = build_profile(collector, false);
	if (result->profile == NULL && collector->processes.count > 0) {
		const struct process *first = collector->processes.items[0];
		err_set(err, ERR_UNSUPPORTED,
			"the program ran, but its Python %s was not profiled: %s; try another with "
			"--python",
			first->python_text, first->note);
	} else if (result->profile == NULL) {
		err_set(err, ERR_TARGET,
			"the program ran, but it started no Python that could be profiled; give the "
			"command that starts Python, or the script itself");
	} else if (would_lose(collector)) {
		err_set(err, ERR_TARGET,
			"the program ran too short for a single sample; '%s' is left as it was",
			collector->options->outfile);
	} else {
		result->is_written = write_profile(collector->options, result->profile, err) == 0;
	}
}

/* --- the loop --- */

/* What a supervisor may send to the process it knows, which is ours. */
static void watched_signals(sigset_t *set)
{
	static const int numbers[] = {SIGCHLD, SIGINT,  SIGTERM,  SIGHUP,
				      SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};
	sigemptyset(set);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaddset(set, numbers[i]);
}

static bool is_to_end(int signal)
{
	return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

/* Whether somebody sent it to us alone; the terminal sends to the whole group. */
static bool is_for_us_alone(const siginfo_t *info)
{
	return info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL;
}

static void loop(struct collector *collector, pid_t pid, const sigset_t *watched,
		 struct run_result *result)
{
	uint64_t interval_ns = (uint64_t)(collector->options->profile_interval_s * 1e9);
	uint64_t next_write_ns = collector->start_ns + interval_ns;
	for (;;) {
		collector->random = collector->random * 6364136223846793005ull + 1442695040888963407ull;
		struct timespec pause = {
			.tv_nsec = (long)(ROUND_NS - ROUND_JITTER_NS / 2 +
					  (collector->random >> 33) % ROUND_JITTER_NS)};
		siginfo_t info;
		int signal = sigtimedwait(watched, &info, &pause);
		if (signal == SIGCHLD && waitpid(pid, &result->status, WNOHANG) == pid)
			return;
		if (signal > 0 && signal != SIGCHLD) {
			result->is_interrupted |= is_to_end(signal);
			if (is_for_us_alone(&info))
				kill(pid, signal);
		}
		processes_discover(collector);
		processes_drain(collector);
		watch_round(collector);
		memory_round(collector);
		if (interval_ns != 0 && clock_monotonic_ns() >= next_write_ns) {
			write_in_between(collector);
			next_write_ns = clock_monotonic_ns() + interval_ns;
		}
	}
}

int collect_run(const struct run_options *options, struct run_result *result, struct err *err)
{
	struct collector collector;
	struct scope_lists lists = {0};
	sigset_t watched, before;
	memset(result, 0, sizeof(*result));
	collector_init(&collector, options);
	init_scope(&collector, &lists);
	int status = folder_new(&collector.folder, &collector.control, err);
	if (status != 0)
		goto out;
	collector.control->interval_ns = (uint64_t)(options->sampling_interval_s * 1e9);
	collector.control->memory_window = options->memory_window_bytes;

	watched_signals(&watched);
	sigprocmask(SIG_BLOCK, &watched, &before);
	collector.start_ns = clock_monotonic_ns();
	collector.start_epoch_s = clock_epoch_s();
	char *agent = folder_agent_path(collector.folder, options->agent);
	pid_t pid = launch(options, collector.folder, agent, &before, err);
	free(agent);
	if (pid > 0) {
		loop(&collector, pid, &watched, result);
		collector.end_ns = clock_monotonic_ns();
		finish(&collector, result, err);
	}
	status = pid < 0 ? pid : 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
out:
	collector_fini(&collector);
	free(lists.only_copy);
	free(lists.exclude_copy);
	return status;
}

void run_result_fini(struct run_result *result)
{
	profile_free(result->profile);
	result->profile = NULL;
}
