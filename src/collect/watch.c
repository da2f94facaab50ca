/* watch.c - threads that wait, seen from outside.
 *
 * A waiting thread uses no CPU, so its clock is silent.  The collector looks at
 * it a few dozen times a second instead.  The kernel tells exactly how long
 * the thread was off the CPU since the last look (its run time and the time it
 * stood ready are in /proc); the look tells where it waits now.  Time that
 * passed in waits too short to be met is kept and booked with the next one
 * that is met, so the sum is exact and lines get it in proportion.
 *
 * waited.c books it.  The thread is not disturbed: its frames are read by process_vm_readv. */
#include "collect/watch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/procfs.h"
#include "collect/collector.h"
#include "collect/helped.h"
#include "collect/pace.h"
#include "collect/process.h"
#include "collect/samples.h"
#include "collect/stacks.h"
#include "collect/threads.h"
#include "collect/waited.h"
#include "collect/waits.h"
#include "python/gil.h"

/* Looks of a round, at most: their number, and from LOOKS_UNCOUNTED on the CPU time
 * that they may take.  Who is not looked at is first in the next round; a thread that was
 * never looked at has no name yet and may soon be gone. */
#define LOOKS_PER_ROUND 64u
#define LOOKS_UNCOUNTED 8u
#define LOOKS_NS 400000u
#define YOUNG_LOOKS 8u /* in which a thread gets its name; rounds with such looks are never too dear */
#define COST_SHARE 8u /* the last round's part (1/n) in what rounds are said to cost */
#define OFF_MIN_NS 100000u     /* less is the difference of two clocks */
#define OFF_END_MIN_NS 8000000u /* of a thread that ran last: two ticks of its clock */
#define UNSEEN_MIN_NS 250000000u /* longer than from one look to the next, or until a killed collector is replaced */
#define OPEN_THREADS_MAX 200u /* with files kept open */

static int open_task_file(const struct process *process, const struct thread *thread,
			  const char *name)
{
	char path[80];
	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)process->pid, (int)thread->tid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Run time and time ready to run, in nanoseconds. */
static bool read_times(const struct process *process, struct thread *thread, uint64_t *cpu_ns,
		       uint64_t *delay_ns)
{
	struct procfs_schedule told;
	if (thread->schedstat_fd < 0)
		thread->schedstat_fd = open_task_file(process, thread, "schedstat");
	if (!procfs_read_schedule(thread->schedstat_fd, &told))
		return false;
	*cpu_ns = told.ran_ns;
	*delay_ns = told.ready_ns;
	return true;
}

/* Whether the thread is blocked now, and in which system call. */
static bool is_blocked(const struct process *process, struct thread *thread,
		       struct blocked_call *call)
{
	char text[200];
	if (thread->syscall_fd < 0)
		thread->syscall_fd = open_task_file(process, thread, "syscall");
	ssize_t got = thread->syscall_fd < 0 ? -1 : pread(thread->syscall_fd, text, sizeof(text) - 1, 0);
	if (got <= 0)
		return false;
	text[got] = '\0';
	return blocked_call_parse(text, call);
}

/* What a look at a waiting thread found; its frames are in tree_frames. */
struct sight {
	py_addr state;  /* the thread's state; 0: it has none */
	uint32_t count; /* frames */
	uint32_t node;
};

/* Reads the stack of a waiting thread whose state is known; false when it could
 * not be read whole. */
static bool read_stack(struct collector *collector, struct process *process,
		       struct thread *thread, struct sight *sight)
{
	uint32_t count = 0;
	if (sight->state != 0 &&
	    walk_thread(&process->walker, sight->state, collector->walk_scratch,
			collector->walk_frames, &count) == WALK_TORN)
		return false;
	if (!stacks_from_walk(collector, process, count, &sight->count))
		return false;
	sight->node = stacks_node(collector, sight->count);
	if (sight->count > 0)
		stacks_at_line(collector, thread,
			       collector->tree_frames[stacks_line_frame(collector, sight->count)]);
	return true;
}

/* What the thread waits for: the GIL, or what the call and the innermost
 * functions say. */
static void note_reason(const struct collector *collector, const struct process *process,
			struct thread *thread, const struct blocked_call *call,
			const struct sight *sight)
{
	struct py_gil gil = {.start = 0};
	if (sight->state != 0 && blocked_call_is_futex(call, 0, UINT64_MAX))
		gil_find(&process->walker, process->ring->runtime,
			 gil_interpreter(&process->walker, sight->state), &gil);
	thread->is_at_gil = blocked_call_is_futex(call, gil.start, gil.end);
	if (thread->is_at_gil)
		return;
	thread->wait_kind = waits_of_stack(call, &process->reader, &collector->codes, collector->tree_frames,
					   sight->count);
	if (thread->wait_kind == WAIT_SOCKET || thread->wait_kind == WAIT_EVENTS || thread->wait_kind == WAIT_QUEUE)
		thread->asked++;
}

/* How long the thread was ready to run is told when it gets a CPU.  Until then it looks like waiting: what
 * was booked as such is of the wait, and not of the main thread's samples, too. */
static void hear_delay(struct collector *collector, struct process *process, struct thread *thread,
		       uint64_t delay_ns)
{
	uint64_t ready_ns = clock_between(thread->look_delay_ns, delay_ns);
	uint64_t on_ns = thread->look_cpu_ns + delay_ns + thread->off_ns + thread->skipped_ns;
	uint64_t wall_ns = thread->look_ns - thread->start_ns + thread->before_ns;
	uint64_t booked_ns = thread->is_main ? clock_lesser(clock_between(wall_ns, on_ns), ready_ns) : 0;
	thread->look_delay_ns = delay_ns;
	thread->before_ns += booked_ns;
	ready_ns -= booked_ns;
	if (ready_ns == 0)
		return;
	thread->pending_delay_ns += ready_ns;
	journal_time(collector, process, thread, JOURNAL_READY, TREE_ROOT, thread->look_ns, ready_ns);
}

/* Both heatlines may be killed and a third come much later, to recover what there is.  What a thread
 * has waited in between, nobody knows where, is on no line: where it is met then, or had its last sample,
 * may be another place altogether.  look_ns: when it was last looked at; off_ns: what it has waited and is not
 * booked, of which the skipped part is returned. */
static uint64_t skip_unseen(struct collector *collector, struct process *process,
			    struct thread *thread, uint64_t look_ns, uint64_t now_ns,
			    uint64_t off_ns)
{
	uint64_t unseen_ns = clock_between(collector->seen_ns, now_ns);
	if (!collector->is_second || look_ns > collector->seen_ns || unseen_ns < UNSEEN_MIN_NS)
		return 0;
	uint64_t ns = clock_lesser(unseen_ns, off_ns);
	journal_time(collector, process, thread, JOURNAL_PAUSED, TREE_ROOT, now_ns, ns);
	thread->skipped_ns += ns;
	if (thread->counts_waiting)
		collector->unseen_wait_ns += ns;
	return ns;
}

/* Brings the thread's times up to now.  Sums are kept, not differences: the
 * kernel updates a running thread's clock on its tick only, and what is
 * missing now comes with the next look. */
static bool update_times(struct collector *collector, struct process *process,
			 struct thread *thread, uint64_t now_ns, bool *has_run)
{
	uint64_t cpu_ns, delay_ns;
	if (!read_times(process, thread, &cpu_ns, &delay_ns))
		return false;
	*has_run = cpu_ns != thread->look_cpu_ns;
	thread->look_cpu_ns = cpu_ns;
	uint64_t last_ns = thread->look_ns;
	thread->look_ns = now_ns;
	hear_delay(collector, process, thread, delay_ns);
	uint64_t on_ns = cpu_ns + delay_ns + thread->off_ns + thread->skipped_ns;
	uint64_t wall_ns = now_ns - thread->start_ns + thread->before_ns;
	thread->pending_off_ns = clock_between(on_ns, wall_ns);
	thread->pending_off_ns -= skip_unseen(collector, process, thread, last_ns, now_ns,
					      thread->pending_off_ns);
	if (*has_run) {
		thread->least_off_ns[1] = thread->least_off_ns[0];
		thread->least_off_ns[0] = thread->pending_off_ns + 1;
		thread->rest_off_ns = clock_lesser(thread->rest_off_ns, thread->pending_off_ns);
	}
	return true;
}

/* The tasks of a thread that may run an event loop; returns its state, or 0. */
static py_addr look_at_tasks(struct collector *collector, struct process *process,
			     struct thread *thread, uint64_t now_ns, bool has_run)
{
	if (!process->has_layout || !tasks_are_wanted(collector, process, now_ns, has_run) ||
	    (!has_run && tasks_go_on(collector, thread, now_ns)))
		return 0;
	py_addr state = threads_find_state(process, thread);
	tasks_look(collector, process, thread, state, now_ns, has_run,
		   has_run && thread->pending_off_ns < OFF_END_MIN_NS);
	return state;
}

/* Whether it holds up its event loop: for how long, is seen by looking. */
static bool is_in_step(const struct thread *thread)
{
	return thread->loop != NULL && thread->loop->look_ns != 0 && !thread->loop->is_idle;
}

/* What a thread was off the CPU that was not met waiting.  The time for which it is
 * ready at a look is told by the kernel when it is over: until then it looks like
 * waiting.  (A program that only computes waited for an eighth of its time when it had
 * stood in the run queue at the last look.) */
static uint64_t sure_off_ns(const struct thread *thread)
{
	uint64_t off_ns = thread->pending_off_ns;
	for (int i = 0; i < 2; i++) {
		if (thread->least_off_ns[i] != 0 && thread->least_off_ns[i] < off_ns)
			off_ns = thread->least_off_ns[i];
	}
	return off_ns;
}

/* What the thread has waited since it was last found astir, as far as it is not booked. */
static uint64_t waited_since_astir(const struct thread *thread)
{
	uint64_t off_ns = sure_off_ns(thread);
	return off_ns > thread->astir_off_ns ? off_ns - thread->astir_off_ns : 0;
}

/* Whether what the thread does calls for more rounds; look has what was found before it was
 * met. */
static void note_astir(struct collector *collector, struct thread *thread, struct pace_look *look,
		       uint64_t now_ns)
{
	look->is_waiting = thread->is_waiting;
	look->since_ns = now_ns - thread->astir_ns;
	if (pace_is_astir(look)) {
		thread->astir_ns = now_ns;
		thread->astir_off_ns = sure_off_ns(thread);
	} else if (!is_in_step(thread)) {
		return;
	}
	processes_note_astir(collector);
}

/* A main thread that wakes up and waits again (a loop that polls) stands ready after each wait,
 * and has no samples that this could be of: it is part of the wait. */
static uint64_t take_delay(struct thread *thread)
{
	uint64_t ns = thread->is_main ? thread->pending_delay_ns : 0;
	thread->before_ns += ns; /* it is in look_delay_ns, too */
	thread->pending_delay_ns -= ns;
	return ns;
}

/* Books all that the thread has waited to where it was met. */
static void book_met(struct collector *collector, struct process *process, struct thread *thread,
		     uint32_t node, uint64_t now_ns)
{
	thread->pending_off_ns += take_delay(thread);
	helped_settle(collector, process, thread, node, now_ns);
	waited_book(collector, process, thread, node, now_ns);
}

/* It may have started another program: then what we know of its memory is wrong.  Asked once
 * a round. */
static bool is_same_program(const struct collector *collector, struct process *process)
{
	if (process->same_turn == collector->watch_turn)
		return process->end_ns == 0;
	process->same_turn = collector->watch_turn;
	return processes_have_made(&process->reader, process->ring);
}

/* A thread whose times have been brought up to now: what it waits for, if it does. */
static void meet(struct collector *collector, struct process *process, struct thread *thread,
		 uint64_t now_ns, bool has_run)
{
	struct sight sight = {
		.state = look_at_tasks(collector, process, thread, now_ns, has_run)};
	if (has_run)
		thread->is_waiting = false;
	if (thread->pending_off_ns < OFF_MIN_NS)
		return;
	if (thread->is_waiting) {
		book_met(collector, process, thread, thread->wait_node, now_ns);
		return;
	}
	struct blocked_call call;
	if (!is_blocked(process, thread, &call))
		return;
	if (!is_same_program(collector, process)) {
		process->end_ns = now_ns;
		thread->pending_off_ns = 0;
		return;
	}
	if (sight.state == 0)
		sight.state = threads_find_state(process, thread);
	if (read_stack(collector, process, thread, &sight)) {
		note_reason(collector, process, thread, &call, &sight);
		tasks_note_wait(collector, process, thread, sight.state, call.number, sight.node,
				sight.count);
		book_met(collector, process, thread, sight.node, now_ns);
	}
}

static void look(struct collector *collector, struct process *process, struct thread *thread,
		 uint64_t now_ns)
{
	struct pace_look found = {.was_waiting = thread->is_waiting};
	uint32_t node = thread->wait_node;
	bool was_at_gil = thread->is_at_gil;
	threads_learn_name(collector, process, thread);
	collector->has_met_young |= thread->looks <= YOUNG_LOOKS;
	if (now_ns <= thread->start_ns ||
	    !update_times(collector, process, thread, now_ns, &found.has_run))
		return;
	found.waited_ns = waited_since_astir(thread);
	process->has_moved |= found.has_run;
	if (thread->is_main) {
		samples_book_delay(collector, process, thread, false);
		helped_limit(process, thread);
	}
	meet(collector, process, thread, now_ns, found.has_run);
	/* An event loop waits at its poll, whoever waits for whatever: that is in its tasks. */
	if (thread->wait_node != node || thread->is_at_gil != was_at_gil ||
	    (thread->loop != NULL && thread->loop->is_idle && thread->loop->count > 0))
		thread->moved_ns = now_ns;
	found.settled_ns = now_ns - thread->moved_ns;
	note_astir(collector, thread, &found, now_ns);
}

static void close_files(struct thread *thread)
{
	if (thread->schedstat_fd >= 0)
		close(thread->schedstat_fd);
	if (thread->syscall_fd >= 0)
		close(thread->syscall_fd);
	thread->schedstat_fd = thread->syscall_fd = -1;
}

static bool is_watched(const struct process *process)
{
	return process->ring != NULL && process->end_ns == 0 && process->state == RING_ACTIVE &&
	       process->threads.count > 0;
}

/* The other threads of a process, some of them each round, until the CPU time that the round
 * may take is used; returns how many of the round's looks that took. */
static uint32_t look_at_others(struct collector *collector, struct process *process,
			       uint32_t looks, uint64_t until_ns)
{
	uint32_t others = process->threads.count - 1;
	uint32_t left = others < looks ? others : looks;
	for (uint32_t i = 0; i < left; i++) {
		uint32_t turn = (process->watch_turn + 1) % others;
		struct thread *thread = process->threads.items[1 + turn];
		if (i % LOOKS_UNCOUNTED == LOOKS_UNCOUNTED - 1 && thread->looks > 0 &&
		    clock_thread_cpu_ns() > until_ns)
			return looks;
		process->watch_turn = turn;
		if (thread->is_ended)
			continue;
		look(collector, process, thread, clock_monotonic_ns());
		if (others > OPEN_THREADS_MAX)
			close_files(thread);
	}
	return left;
}

static void look_around(struct collector *collector, uint64_t until_ns)
{
	uint32_t looks = LOOKS_PER_ROUND;
	uint32_t processes = collector->processes.count;
	collector->watch_turn++;
	for (uint32_t i = 0; i < processes && looks > 0; i++) {
		uint32_t at = (collector->watch_turn + i) % processes;
		struct process *process = collector->processes.items[at];
		if (!is_watched(process))
			continue;
		struct thread *main = process->threads.items[0];
		if (!main->is_ended)
			look(collector, process, main, clock_monotonic_ns());
		looks--;
		looks -= look_at_others(collector, process, looks, until_ns);
	}
}

void watch_round(struct collector *collector)
{
	if (collector->options->is_virtual_time)
		return;
	uint64_t begin_ns = clock_thread_cpu_ns();
	collector->has_met_young = false;
	look_around(collector, begin_ns + LOOKS_NS);
	uint64_t took_ns = collector->has_met_young ? 0 : clock_thread_cpu_ns() - begin_ns;
	collector->watch_cost_ns += took_ns / COST_SHARE - collector->watch_cost_ns / COST_SHARE;
}

/* --- after another collector, see journal.h --- */

void watch_book_again(struct collector *collector, struct process *process, struct thread *thread,
		      uint32_t node, uint64_t end_ns, uint64_t ns)
{
	take_delay(thread); /* ns has it */
	thread->pending_off_ns = ns;
	waited_book(collector, process, thread, node, end_ns);
	thread->is_waiting = false;
}

void watch_ready_again(struct collector *collector, struct process *process,
		       struct thread *thread, uint64_t ns)
{
	thread->pending_delay_ns += ns;
	thread->look_delay_ns += ns;
	if (thread->is_main)
		samples_book_delay(collector, process, thread, false);
}

/* --- suspended --- */

static void each_living(struct collector *collector,
			void (*act)(struct collector *, struct process *, struct thread *))
{
	for (uint32_t i = 0; i < collector->processes.count; i++) {
		struct process *process = collector->processes.items[i];
		for (uint32_t t = 0; is_watched(process) && t < process->threads.count; t++) {
			if (!process->threads.items[t]->is_ended)
				act(collector, process, process->threads.items[t]);
		}
	}
}

static void pause_thread(struct collector *collector, struct process *process,
			 struct thread *thread)
{
	look(collector, process, thread, clock_monotonic_ns());
	thread->is_waiting = false;
	thread->pending_off_ns = thread->pending_delay_ns = 0;
}

/* What it waited since the pause began, or before it, is nobody's. */
static void skip_pause(struct collector *collector, struct process *process, struct thread *thread)
{
	bool has_run;
	uint64_t now_ns = clock_monotonic_ns();
	if (!update_times(collector, process, thread, now_ns, &has_run))
		return;
	journal_time(collector, process, thread, JOURNAL_PAUSED, TREE_ROOT, now_ns,
		     thread->pending_off_ns);
	thread->skipped_ns += thread->pending_off_ns;
	thread->pending_off_ns = thread->pending_delay_ns = 0;
}

void watch_suspend(struct collector *collector)
{
	collector->watch_turn++;
	if (!collector->options->is_virtual_time)
		each_living(collector, pause_thread);
}

void watch_resume(struct collector *collector)
{
	if (!collector->options->is_virtual_time)
		each_living(collector, skip_pause);
}

/* --- the end of a thread --- */

/* Since the last look, as the process said itself. */
static void hear_last_delay(const struct process *process, struct thread *thread, uint64_t end_ns)
{
	uint64_t delay_ns = process->exit_delay_ns;
	if (delay_ns > thread->look_delay_ns && end_ns > thread->look_ns &&
	    delay_ns - thread->look_delay_ns <= end_ns - thread->look_ns)
		thread->pending_delay_ns += delay_ns - thread->look_delay_ns;
}

/* What a thread that ends has waited and is not booked.  A thread that waited at the last look may
 * have run since: that is no waiting. */
static uint64_t left_off_ns(const struct collector *collector, const struct thread *thread, uint64_t end_ns)
{
	uint64_t cpu_ns = clock_larger(thread->end_cpu_ns, thread->look_cpu_ns);
	uint64_t delay_ns = clock_larger(thread->end_delay_ns, thread->look_delay_ns);
	if (thread->end_cpu_ns != 0 && thread->end_delay_ns != 0 && !collector->is_off)
		return clock_between(thread->start_ns + cpu_ns + delay_ns + thread->off_ns + thread->skipped_ns,
			       end_ns + thread->before_ns);
	if (!thread->is_waiting)
		return sure_off_ns(thread);
	return thread->pending_off_ns + clock_between(thread->look_ns + (cpu_ns - thread->look_cpu_ns), end_ns);
}

/* What it has waited since it was last met: the rest of that wait stands where this was met.  So does
 * more than a thread that computes may wait, as there it does wait.  Less is of what
 * it computed; for what, nobody saw. */
static void book_left(struct collector *collector, struct process *process, struct thread *thread,
		      uint64_t end_ns)
{
	uint32_t node = thread->is_main ? process->main_node : thread->wait_node;
	uint64_t least_ns = thread->is_waiting ? OFF_MIN_NS : OFF_END_MIN_NS;
	uint64_t left_ns = left_off_ns(collector, thread, end_ns);
	uint64_t rest_ns = thread->is_waiting ? left_ns : clock_lesser(thread->rest_off_ns, left_ns);
	uint64_t may_ns = clock_between(thread->start_ns, end_ns) / PACE_WAITED_PART + PACE_WAITED_NS;
	bool is_met = thread->met > 0 && thread->wait_node != TREE_ROOT;
	if (is_met && left_ns - rest_ns > may_ns)
		rest_ns = left_ns;
	if (is_met && rest_ns >= OFF_MIN_NS) {
		thread->pending_off_ns = rest_ns;
		waited_book(collector, process, thread, thread->wait_node, end_ns);
		left_ns -= rest_ns;
	}
	if (left_ns < least_ns)
		return;
	thread->wait_kind = WAIT_OTHER;
	thread->is_at_gil = false;
	thread->pending_off_ns = left_ns;
	waited_book(collector, process, thread, node, end_ns);
}

void watch_end(struct collector *collector, struct process *process, struct thread *thread,
	       uint64_t end_ns)
{
	if (thread->is_ended)
		return;
	thread->is_ended = true;
	close_files(thread);
	if (collector->options->is_virtual_time)
		return;
	if (thread->loop != NULL)
		blocking_end(collector, thread, end_ns);
	if (collector->is_off) /* what passed since the pause began is nobody's */
		return;
	if (thread->is_main) {
		hear_last_delay(process, thread, end_ns);
		samples_book_delay(collector, process, thread, true);
	}
	skip_unseen(collector, process, thread, thread->look_ns, end_ns,
		    left_off_ns(collector, thread, end_ns));
	if (waited_end_short(collector, process, thread, end_ns))
		return;
	book_left(collector, process, thread, end_ns);
}
