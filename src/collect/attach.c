/* attach.c - a session: its life, the loop, processes and threads. */
#include "collect/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/procfs.h"
#include "collect/attach_parts.h"
#include "collect/build.h"
#include "collect/helpers.h"
#include "collect/rescue.h"
#include "profile/model.h"
#include "remote/names.h"

#define LIST_NS 100000000u  /* between two lists of the threads */
#define AWAKE_NS 30000u     /* shorter periods are waited for awake, */
#define ATONCE_NS 10000u    /* and these not at all */
#define CPU_PART_MIN 0.02   /* less is a thread that hardly ran meanwhile */
#define NAMES_NS 2000000000u
#define SEEK_NS 2000000000u /* what a process executes has begun its interpreter by then, */
#define SEEK_PAUSE_NS 20000000u /* and is asked as often */
#define OPEN_THREADS_MAX 400u /* with files kept open */
#define SPARE_FILES 12      /* left for what has to be opened later, the profile not least */

/* ---- threads ---- */

static void close_file(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Some descriptors are left for perf clocks. */
static int keep_file(const struct attach *attach, int fd)
{
	int quarter = attach->files_max / 4;
	if (fd >= attach->files_max - (quarter < ATTACH_CLOCKS_MAX ? quarter : ATTACH_CLOCKS_MAX))
		close_file(&fd);
	return fd;
}

static void end_thread(struct attach *attach, struct attach_thread *thread)
{
	thread->thread->is_ended = true;
	attach_perf_end(attach, thread);
	close_file(&thread->thread->syscall_fd);
	close_file(&thread->thread->schedstat_fd);
	free(thread->snapshot);
	free(thread->stack);
	vec_free(&thread->due);
	free(thread);
}

/* Books what is still to be booked of a thread that has gone. */
static void settle_thread(struct attach *attach, struct attach_process *process,
			  struct attach_thread *thread, uint64_t now_ns)
{
	attach_perf_drain(attach, process, thread);
	attach_weigh_now(attach, thread, now_ns);
	attach_tasks_end(attach, thread, now_ns);
	end_thread(attach, thread);
}

static struct attach_thread *find_thread(struct attach_process *process, pid_t tid)
{
	for (uint32_t i = 0; i < process->threads.count; i++) {
		struct attach_thread *thread = process->threads.items[i];
		if (thread->remote.tid == tid)
			return thread;
	}
	return NULL;
}

/* What is to be read of the thread from now on. */
static void use_state(const struct attach_process *process, struct attach_thread *thread, py_addr state)
{
	thread->remote.state = state;
	snapshot_init(thread->snapshot, &process->remote, state);
	thread->stack->count = 0;
	thread->stack->is_marked = false;
	thread->stack->check_ns = thread->stack->whole_ns = 0;
}

static struct attach_thread *add_thread(const struct attach *attach, struct attach_process *process,
					const struct remote_thread *remote, uint64_t now_ns)
{
	struct process *owner = process->process;
	struct thread *kept = mem_zalloc(1, sizeof(*kept));
	struct attach_thread *thread = mem_zalloc(1, sizeof(*thread));
	char path[64];
	kept->tid = remote->tid;
	kept->is_main = remote->tid == process->remote.pid;
	kept->counts_waiting = kept->is_main && !owner->only_serves;
	kept->number = owner->thread_numbers++;
	kept->row = TIMELINE_NO_ROW;
	kept->start_ns = now_ns;
	kept->schedstat_fd = kept->syscall_fd = -1;
	if (process->threads.count < OPEN_THREADS_MAX) {
		kept->syscall_fd = keep_file(attach, remote_activity_open(&process->remote, remote->tid));
		snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)process->remote.pid,
			 (int)remote->tid);
		kept->schedstat_fd = keep_file(attach, open(path, O_RDONLY | O_CLOEXEC));
	}
	vec_push(&owner->threads, kept);
	thread->remote = *remote;
	thread->thread = kept;
	thread->look_ns = now_ns;
	thread->cpu_part = 1;
	thread->snapshot = mem_alloc(sizeof(*thread->snapshot));
	thread->stack = mem_alloc(sizeof(*thread->stack));
	use_state(process, thread, remote->state);
	vec_push(&process->threads, thread);
	return thread;
}

/* How much of the time that a thread is ready to run it runs, by the kernel's
 * clocks since the last time. */
static void update_cpu_part(struct attach_thread *thread, const struct procfs_schedule *now)
{
	uint64_t ran_ns = now->ran_ns - thread->listed.ran_ns;
	uint64_t stood_ns = now->ready_ns - thread->listed.ready_ns;
	if (thread->listed.ran_ns != 0 && ran_ns + stood_ns > 0)
		thread->cpu_part = (double)ran_ns / (double)(ran_ns + stood_ns);
	if (thread->cpu_part < CPU_PART_MIN)
		thread->cpu_part = CPU_PART_MIN;
	thread->listed = *now;
}

/* The GIL of the thread's interpreter, which its snapshots show from now on. */
static void find_gil(struct attach_process *process, struct attach_thread *thread)
{
	gil_find(&process->remote.walker, process->remote.runtime, thread->remote.interpreter, &thread->gil);
	snapshot_watch(thread->snapshot, thread->gil.holder_place, thread->gil.holder_size);
}

/* The main interpreter's states are told apart where it matters who has its GIL. */
static uint32_t index_of(const struct attach_process *process, py_addr interpreter)
{
	for (uint32_t i = 0; i < process->list.items.count; i++) {
		const struct remote_thread *listed = &process->list.items.items[i];
		if (listed->interpreter == interpreter)
			return listed->interpreter_index;
	}
	return UINT32_MAX;
}

bool attach_follow(struct attach_process *process, struct attach_thread *thread)
{
	const struct remote *remote = &process->remote;
	py_addr state = walk_find_thread(&remote->walker, remote->runtime, thread->remote.pthread_id,
					 thread->remote.native_id);
	if (state == 0 || state == thread->remote.state)
		return false;
	use_state(process, thread, state);
	thread->remote.interpreter = gil_interpreter(&remote->walker, state);
	thread->remote.interpreter_index = index_of(process, thread->remote.interpreter);
	find_gil(process, thread);
	return true;
}

static void read_names(struct attach *attach, struct attach_process *process, uint64_t now_ns)
{
	uint32_t count = process->list.items.count;
	char(*names)[REMOTE_NAME_BYTES] = mem_zalloc(count, REMOTE_NAME_BYTES);
	remote_names_read(&process->remote, &process->list, names);
	for (uint32_t i = 0; i < count; i++) {
		struct attach_thread *thread = find_thread(process, process->list.items.items[i].tid);
		if (thread != NULL && names[i][0] != '\0')
			thread->thread->python_name = intern_text(attach->collector->strings, names[i]);
	}
	free(names);
	process->names_ns = now_ns + NAMES_NS;
}

static void list_threads(struct attach *attach, struct attach_process *process, uint64_t now_ns)
{
	bool has_new = false;
	struct procfs_schedule now;
	process->list_ns = now_ns + LIST_NS;
	for (uint32_t i = 0; i < process->threads.count; i++)
		process->threads.items[i]->is_listed = process->threads.items[i]->has_others = false;
	remote_threads_read(&process->remote, &process->list);
	for (uint32_t i = 0; i < process->list.items.count; i++) {
		const struct remote_thread *remote = &process->list.items.items[i];
		if (remote->tid <= 0)
			continue;
		struct attach_thread *thread = find_thread(process, remote->tid);
		if (thread == NULL) {
			thread = add_thread(attach, process, remote, now_ns);
			has_new = true;
		}
		thread->has_others |= thread->remote.state != remote->state;
		thread->is_listed = true;
	}
	uint32_t kept = 0;
	for (uint32_t i = 0; i < process->threads.count; i++) {
		struct attach_thread *thread = process->threads.items[i];
		if (!thread->is_listed) {
			settle_thread(attach, process, thread, now_ns);
			continue;
		}
		if (procfs_read_schedule(thread->thread->schedstat_fd, &now)) {
			attach_perf_manage(attach, process, thread, &now);
			update_cpu_part(thread, &now);
		}
		find_gil(process, thread);
		process->threads.items[kept++] = thread;
	}
	process->threads.count = kept;
	if (has_new || now_ns >= process->names_ns)
		read_names(attach, process, now_ns);
}

/* ---- processes ---- */

/* The process as the collector knows it, without a ring. */
static struct process *new_process(struct collector *collector, const struct remote *remote, uint64_t now_ns)
{
	struct process *process = mem_zalloc(1, sizeof(*process));
	struct procfs_stat stat;
	char cwd[4096], command[512];
	process->index = collector->processes.count;
	process->statm_fd = -1;
	process->pid = remote->pid;
	process->parent_pid = procfs_stat(remote->pid, &stat) ? stat.parent_pid : 0;
	process->state = RING_ACTIVE;
	process->python = remote->layout.version;
	process->python_text = intern_text(collector->strings, remote->version_text);
	if (procfs_command(remote->pid, command, sizeof(command)))
		process->command = intern_text(collector->strings, command);
	process->only_serves = process->index > 0 && helpers_only_serves(collector, process);
	command_text_meet(&collector->text, process->pid, process->command);
	if (procfs_link(remote->pid, "cwd", cwd, sizeof(cwd)))
		process->cwd = intern_text(collector->strings, cwd);
	process->start_ns = now_ns;
	process->walker = remote->walker;
	process->tasks.walker = &process->walker;
	process->tasks.runtime = remote->runtime;
	images_init(&process->images, remote->image_start);
	map_init(&process->addresses);
	vec_push(&collector->processes, process);
	return process;
}

bool attach_add_process(struct attach *attach, pid_t pid, struct err *err)
{
	struct attach_process *process = mem_zalloc(1, sizeof(*process));
	uint64_t resident;
	if (remote_open(&process->remote, pid, attach->options->command, err) != 0) {
		free(process);
		return false;
	}
	trust_init(&process->trust);
	map_init(&process->code_index);
	attach_read_usage(process->remote.pid, &process->cpu_ticks, &resident);
	vec_push(&attach->processes, process);
	return true;
}

static void free_process(struct attach *attach, struct attach_process *process)
{
	for (uint32_t i = 0; i < process->threads.count; i++)
		end_thread(attach, process->threads.items[i]);
	vec_free(&process->threads);
	vec_free(&process->codes);
	vec_free(&process->ranges);
	map_fini(&process->code_index);
	trust_fini(&process->trust);
	remote_threads_fini(&process->list);
	free(process);
}

/* Threads that wait are asked in each round whether they have woken up, of so many at most, and no
 * more often than this: it is one read of a file each. */
#define WOKEN_THREADS 32u
#define WOKEN_NS 500000u

/* Whether a thread that was met waiting has been on a CPU since.  Left out until its turn came, the
 * beginning of what it does would be missed, and its end count for all of it: 15 points too much
 * in a thread that works for 6 ms after each 20. */
static bool has_woken(const struct attach_process *process, struct attach_thread *thread)
{
	if (thread->wait_turns == 0 || process->threads.count > WOKEN_THREADS)
		return false;
	uint64_t now_ns = clock_monotonic_ns();
	return now_ns - thread->told_ns >= WOKEN_NS && attach_read_schedule(thread, now_ns) &&
	       thread->told.turns != thread->wait_turns;
}

/* A process that executes another program keeps its number, its threads but one are gone, and clocks
 * on that one would count for the old program. */
static void end_process(struct attach *attach, struct attach_process *process, uint64_t now_ns)
{
	process->is_ended = true;
	process->process->end_ns = now_ns;
	for (uint32_t i = 0; i < process->threads.count; i++)
		settle_thread(attach, process, process->threads.items[i], now_ns);
	process->threads.count = 0;
	if (procfs_is_alive(process->remote.pid, process->remote.start_time))
		process->seek_until_ns = now_ns + SEEK_NS;
}

/* Looks whether the program that the process executes is a Python that can be looked at. */
static void seek(struct attach *attach, struct attach_process *process, uint64_t now_ns)
{
	pid_t pid = process->remote.pid;
	if (now_ns < process->seek_ns)
		return;
	process->seek_ns = now_ns + SEEK_PAUSE_NS;
	if (!procfs_is_alive(pid, process->remote.start_time) || attach_is_known(attach, pid) ||
	    attach_add_process(attach, pid, NULL)) {
		process->seek_until_ns = 0;
	} else if (now_ns >= process->seek_until_ns) {
		process->seek_until_ns = 0;
		attach->is_left = true;
	}
}

/* One round of looks at the threads of a process. */
static void look_at_process(struct attach *attach, struct attach_process *process, uint64_t now_ns)
{
	bool has_gone = false;
	if (process->process == NULL)
		process->process = new_process(attach->collector, &process->remote, now_ns);
	if (now_ns >= process->list_ns)
		list_threads(attach, process, now_ns);
	process->is_gil_held = false;
	for (uint32_t i = 0; i < process->threads.count; i++) {
		struct attach_thread *thread = process->threads.items[i];
		if (thread->skip > thread->skipped && !has_woken(process, thread)) {
			thread->skipped++;
			continue;
		}
		has_gone |= !attach_look(attach, process, thread, clock_monotonic_ns());
	}
	attach->gil_rounds += process->is_gil_held;
	/* A thread that has gone shows in the next list; the process, now. */
	if (!has_gone && process->threads.count > 0)
		return;
	process->list_ns = 0;
	if (!remote_is_alive(&process->remote))
		end_process(attach, process, now_ns);
}

/* ---- the session ---- */

static void new_collector(struct attach *attach)
{
	attach->collector = collector_new(&attach->run);
	attach->collector->start_ns = clock_monotonic_ns();
	attach->collector->start_epoch_s = clock_epoch_s();
	attach_clocks_init(&attach->clocks);
}

struct attach *attach_new(const struct attach_options *options, struct err *err)
{
	struct attach *attach = mem_zalloc(1, sizeof(*attach));
	attach->options = options;
	if (!attach_add_process(attach, options->pid, err)) {
		vec_free(&attach->processes);
		free(attach);
		return NULL;
	}
	attach_describe(attach, &attach->processes.items[0]->remote);
	attach->run = (struct run_options){
		.program = attach->program,
		.entrypoint_dir = attach->folder,
		.args = attach->args,
		.scope = options->scope,
		.cpu_percent_threshold = options->cpu_percent_threshold,
		.has_stacks = true,
		.has_async = !options->has_gil_only,
		.outfile = options->outfile,
	};
	attach->frames = mem_alloc(ATTACH_FRAMES_MAX * sizeof(*attach->frames));
	attach->saved = mem_alloc(ATTACH_FRAMES_KEPT * sizeof(*attach->saved));
	attach->places = mem_alloc(ATTACH_FRAMES_MAX * sizeof(*attach->places));
	attach->identities = mem_alloc(ATTACH_FRAMES_MAX * sizeof(*attach->identities));
	attach->period_ns = (uint64_t)(1e9 / options->rate_hz);
	attach->random = clock_monotonic_ns() | 1;
	struct rlimit files;
	attach->files_max = getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur > INT_MAX
				    ? INT_MAX
				    : (int)files.rlim_cur - SPARE_FILES;
	new_collector(attach);
	prctl(PR_SET_TIMERSLACK, 1000ul, 0ul, 0ul, 0ul); /* the default is 50 us late */
	return attach;
}

void attach_free(struct attach *attach)
{
	if (attach == NULL)
		return;
	for (uint32_t i = 0; i < attach->processes.count; i++)
		free_process(attach, attach->processes.items[i]);
	vec_free(&attach->processes);
	collector_free(attach->collector);
	attach_clocks_fini(&attach->clocks);
	for (char **arg = attach->args; *arg != NULL; arg++)
		free(*arg);
	free(attach->args);
	free(attach->program);
	free(attach->folder);
	free(attach->frames);
	free(attach->saved);
	free(attach->places);
	free(attach->identities);
	free(attach);
}

void attach_reset(struct attach *attach)
{
	for (uint32_t i = 0; i < attach->processes.count; i++) {
		struct attach_process *process = attach->processes.items[i];
		uint64_t resident;
		for (uint32_t t = 0; t < process->threads.count; t++)
			end_thread(attach, process->threads.items[t]);
		process->threads.count = 0;
		process->process = NULL;
		process->list_ns = 0;
		/* What is known of code objects are numbers of the old collector. */
		map_fini(&process->code_index);
		map_init(&process->code_index);
		process->codes.count = process->ranges.count = 0;
		attach_read_usage(process->remote.pid, &process->cpu_ticks, &resident);
	}
	collector_free(attach->collector);
	attach_clocks_fini(&attach->clocks);
	attach->looks = attach->more_looks = attach->lost = attach->elided = attach->rounds = attach->gil_rounds = 0;
	new_collector(attach);
}

uint64_t attach_random(struct attach *attach)
{
	attach->random ^= attach->random << 13;
	attach->random ^= attach->random >> 7;
	attach->random ^= attach->random << 17;
	return attach->random;
}

/* Waits a period, half to one and a half of it: a fixed one would keep step with
 * loops of the program.  To be put to sleep and woken takes 5 to 50 us and as much
 * CPU time, so shorter waits are spent awake.  False when a signal came. */
static bool wait_period(struct attach *attach, uint64_t start_ns)
{
	uint64_t ns = attach->period_ns / 2 + attach_random(attach) % (attach->period_ns + 1);
	if (attach->period_ns < ATONCE_NS)
		return true;
	if (attach->period_ns < AWAKE_NS) {
		while (clock_monotonic_ns() - start_ns < ns)
			continue;
		return true;
	}
	struct timespec pause = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
	return nanosleep(&pause, NULL) == 0;
}

bool attach_step(struct attach *attach, double seconds)
{
	uint64_t end_ns = clock_monotonic_ns() + (uint64_t)(seconds * 1e9);
	uint64_t now_ns;
	bool is_going = true;
	while (is_going && (now_ns = clock_monotonic_ns()) < end_ns) {
		uint32_t alive = 0;
		if (attach->options->has_children)
			attach_find_children(attach, now_ns);
		attach->rounds++;
		for (uint32_t i = 0; i < attach->processes.count; i++) {
			struct attach_process *process = attach->processes.items[i];
			if (!process->is_ended)
				look_at_process(attach, process, now_ns);
			else if (process->seek_until_ns != 0)
				seek(attach, process, now_ns);
			alive += !process->is_ended || process->seek_until_ns != 0;
		}
		if (alive == 0)
			return false;
		is_going = wait_period(attach, now_ns);
	}
	return true;
}

/* Books what is still to be booked; is_last: it ends here. */
static void settle_all(struct attach *attach, uint64_t now_ns, bool is_last)
{
	for (uint32_t i = 0; i < attach->processes.count; i++) {
		struct attach_process *process = attach->processes.items[i];
		for (uint32_t t = 0; t < process->threads.count; t++) {
			attach_perf_drain(attach, process, process->threads.items[t]);
			attach_weigh_now(attach, process->threads.items[t], now_ns);
			if (is_last)
				attach_tasks_end(attach, process->threads.items[t], now_ns);
		}
	}
}

struct profile *attach_profile(struct attach *attach, bool is_partial)
{
	struct profile *profile;
	char sentence[400];
	attach->collector->end_ns = clock_monotonic_ns();
	settle_all(attach, attach->collector->end_ns, !is_partial);
	profile = attach_perf_build(attach, is_partial);
	if (profile == NULL)
		return NULL;
	double elapsed_s = profile->elapsed_s > 0 ? profile->elapsed_s : 1;
	profile->quality.clock = profile_intern(profile, attach_perf_is_used(attach)
								 ? "looks from outside and perf events"
								 : "looks from outside");
	profile->quality.rate_hz = (double)attach->rounds / elapsed_s;
	profile->quality.overhead_percent = 100e-9 * (double)clock_process_cpu_ns() / elapsed_s;
	attach_perf_tell(attach, sentence, sizeof(sentence));
	build_warn(profile, sentence);
	if (attach->is_left)
		build_warn(profile, "a process became another program (exec), which runs no Python that can "
				    "be looked at: there is nothing of it here");
	if (attach->elided > 0)
		build_warn(profile, "some stacks are very deep: the middle of them is left out");
	return profile;
}

int attach_write(struct attach *attach, const struct profile *profile, struct err *err)
{
	struct write_options how = {
		.cpu_percent_threshold = attach->options->cpu_percent_threshold,
		.has_stacks = true,
	};
	if (attach->collector->cpu_samples + attach->collector->wait_samples == 0)
		return err_set(err, ERR_TARGET, "the process ended before a single sample was taken; '%s' is "
			       "left as it was", attach->options->outfile);
	char *elsewhere;
	int status = rescue_write(profile, &how, attach->options->outfile, &elsewhere, err);
	free(elsewhere);
	return status;
}

void attach_figures(struct attach *attach, struct attach_figures *figures)
{
	uint64_t ticks = 0;
	memset(figures, 0, sizeof(*figures));
	figures->looks = attach->looks;
	figures->lost = attach->lost;
	figures->wall_s = 1e-9 * (double)(clock_monotonic_ns() - attach->collector->start_ns);
	for (uint32_t i = 0; i < attach->processes.count; i++) {
		const struct attach_process *process = attach->processes.items[i];
		uint64_t used, resident;
		if (process->is_ended || !attach_read_usage(process->remote.pid, &used, &resident))
			continue;
		figures->processes++;
		figures->threads += process->threads.count;
		figures->resident_bytes += resident;
		ticks += used - process->cpu_ticks;
	}
	if (attach->rounds > 0)
		figures->gil_percent = 100.0 * (double)attach->gil_rounds / (double)attach->rounds;
	if (figures->wall_s > 0)
		figures->cpu_percent = 100.0 * (double)ticks / (double)sysconf(_SC_CLK_TCK) / figures->wall_s;
	figures->python = attach->processes.items[0]->remote.version_text;
	figures->program = attach->program;
}
