/* attach_look.c - one look at one thread, and what it is booked as. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collect/attach_parts.h"
#include "collect/classify.h"
#include "collect/process.h"
#include "collect/stacks.h"
#include "collect/waits.h"
#include "remote/names.h"

/* Who has the GIL runs, as a rule; now and then the kernel is asked whether it
 * does not sit in a system call with it. */
#define GIL_TURNS 16u

#define FAR_FRAMES 16u
#define FAR_LOOKS 16u

#define COLD_NS 50000u /* a pause after which the copies are made twice */

/* ---- threads as frames ---- */

/* The code that stands for the thread, with its newest name. */
static void name_thread_frame(struct attach *attach, struct attach_process *process,
			      struct attach_thread *thread)
{
	char name[REMOTE_NAME_BYTES + 40];
	struct code_info info = {.filename = ATTACH_THREAD_FILE, .qualname = name,
				 .filename_size = sizeof(ATTACH_THREAD_FILE) - 1};
	if (thread->root_code == 0) {
		snprintf(name, sizeof(name), "thread %d", (int)thread->remote.tid);
		info.qualname_size = (uint32_t)strlen(name);
		thread->root_code = processes_add_code(attach->collector, process->process, &info);
	}
	thread->root_name = thread->thread->python_name;
	if (thread->root_name == NULL)
		return;
	snprintf(name, sizeof(name), "thread %d \"%s\"", (int)thread->remote.tid, thread->root_name);
	attach->collector->codes.items[thread->root_code].qualname =
		intern_text(attach->collector->strings, name);
}

/* Puts a frame for the thread outside of its outermost one. */
static uint32_t add_thread_frame(struct attach *attach, struct attach_process *process,
				 struct attach_thread *thread, uint32_t count)
{
	if (thread->root_code == 0 || thread->root_name != thread->thread->python_name)
		name_thread_frame(attach, process, thread);
	attach->collector->tree_frames[count] = (struct tree_frame){thread->root_code, 0};
	return count + 1;
}

/* ---- booking ---- */

/* That Python code was called from these instructions.  Callers far out are in
 * nearly every look, so some are enough. */
static void count_callers(struct collector *collector, uint32_t count)
{
	bool is_far_counted = collector->cpu_samples % FAR_LOOKS == 0;
	struct code *codes = collector->codes.items;
	const struct tree_frame *frames = collector->tree_frames;
	for (uint32_t i = 1; i < count && (i < FAR_FRAMES || is_far_counted); i++)
		codes_note_call(&codes[frames[i].code], frames[i].offset, &codes[frames[i - 1].code],
				i < FAR_FRAMES ? 1 : FAR_LOOKS);
}

/* Who works in a thread that runs: Python or native, as far as a look tells. */
static void tell_running(struct collector *collector, uint32_t count, bool has_gil, struct attach_due *due)
{
	due->kind = TIMELINE_NATIVE;
	if (count == 0)
		return;
	struct tree_frame leaf = collector->tree_frames[0];
	struct code *code = &collector->codes.items[leaf.code];
	struct code_op *op = codes_count(code, leaf.offset);
	if (!has_gil) {
		if (op != NULL)
			op->native++;
		return;
	}
	uint8_t opcode = leaf.offset < code->bytecode_size ? code->bytecode[leaf.offset] : 0;
	enum verdict verdict = classify_sample(code, leaf.offset, opcode);
	if (op != NULL)
		op->leaf++;
	count_callers(collector, count);
	due->is_open = verdict == VERDICT_OPEN;
	if (verdict == VERDICT_PYTHON || (due->is_open && !classify_is_native(code, leaf.offset)))
		due->kind = TIMELINE_PYTHON;
}

void attach_book_waiting(struct collector *collector, struct attach_thread *thread,
			 struct tree_weights *self, uint32_t node, bool is_gil, uint64_t now_ns, uint64_t ns)
{
	if (thread->thread->counts_waiting)
		self->wait_ns += ns;
	else
		self->idle_ns += ns;
	thread->thread->off_ns += ns;
	stacks_note_time(collector, thread->thread, node, TIMELINE_WAIT, now_ns, ns);
	if (!is_gil) {
		waits_vote(self, thread->thread->wait_kind, ns);
		return;
	}
	self->gil_ns += ns;
	thread->thread->gil_ns += ns;
	stacks_note_time(collector, thread->thread, node, TIMELINE_GIL, now_ns, ns);
}

static void book(struct attach *attach, struct attach_process *process, struct attach_thread *thread,
		 enum remote_activity_kind kind, bool has_gil, uint32_t count, uint64_t now_ns)
{
	struct collector *collector = attach->collector;
	uint64_t ns = now_ns - thread->look_ns;
	uint32_t node = stacks_node(collector, count);
	if (count == 0)
		node = process->process->main_node;
	else if (thread->thread->is_main)
		process->process->main_node = node;
	if (kind == ACTIVITY_RUNNING && thread->skip > 0 && ns > 2 * attach->period_ns) {
		/* It was not looked at while it waited. */
		uint64_t waited_ns = ns - attach->period_ns;
		if (!attach_tasks_waited(thread, waited_ns))
			attach_book_waiting(collector, thread, tree_weights(&collector->tree, thread->node),
					    thread->node, false, now_ns - attach->period_ns, waited_ns);
		ns = attach->period_ns;
	}
	thread->loop.is_waiting &= kind == ACTIVITY_WAITING;
	struct tree_weights *self = count == 0 && thread->thread->is_main
					    ? &collector->startup
					    : tree_weights(&collector->tree, node);
	thread->look_ns = now_ns;
	thread->node = node;
	thread->thread->samples++;
	if (count > 0)
		stacks_at_line(collector, thread->thread,
			       collector->tree_frames[stacks_line_frame(collector, count)]);
	if (kind != ACTIVITY_RUNNING) {
		collector->wait_samples++;
		collector->idle_samples += !thread->thread->counts_waiting;
		if (kind != ACTIVITY_WAITING ||
		    !attach_tasks_wait(attach, process, thread, node, count, now_ns, ns)) {
			self->samples++;
			attach_book_waiting(collector, thread, self, node, kind == ACTIVITY_GIL, now_ns, ns);
		}
		if (thread->due.count > 0)
			attach_weigh(attach, thread, now_ns);
		return;
	}
	self->samples++;
	struct attach_due due = {.time_ns = now_ns, .node = node, .is_startup = self == &collector->startup};
	tell_running(collector, count, has_gil, &due);
	collector->cpu_samples++;
	attach_add_due(attach, thread, &due, ns);
	attach_weigh(attach, thread, now_ns);
}

/* A thread that keeps waiting is looked at more and more rarely; what it waited
 * in between is booked to where it waits. */
static void plan_next(const struct attach *attach, struct attach_thread *thread, bool is_waiting)
{
	thread->wait_rounds = is_waiting ? thread->wait_rounds + 1 : 0;
	thread->skip = thread->wait_rounds < 8 ? 0 : thread->wait_rounds < 64 ? 3 : 15;
	/* Of an event loop it is to be seen how long a step holds it up. */
	uint64_t most = ATTACH_TASKS_NS / attach->period_ns;
	if (thread->thread->loop != NULL && thread->skip > most)
		thread->skip = (uint32_t)most;
	thread->skipped = 0;
}

/* What the kernel says; of very many threads the files are not kept open. */
static enum remote_activity_kind ask_kernel(struct attach_process *process, struct attach_thread *thread,
					    struct blocked_call *call)
{
	int fd = thread->thread->syscall_fd;
	if (fd >= 0)
		return remote_activity_kind(fd, &thread->gil, call);
	fd = remote_activity_open(&process->remote, thread->remote.tid);
	enum remote_activity_kind kind = remote_activity_kind(fd, &thread->gil, call);
	if (fd >= 0)
		close(fd);
	return kind;
}

/* What the kernel says, but for a thread that has been woken up and was given no CPU yet: that is
 * ready, as one that runs is, but stands where it waited, and still waits.  The turns are read
 * first, so that they are from before it was met waiting. */
static enum remote_activity_kind tell_activity(struct attach_process *process, struct attach_thread *thread,
					       uint64_t now_ns, struct blocked_call *call, bool *is_woken)
{
	uint64_t turns = attach_read_schedule(thread, now_ns) ? thread->told.turns : 0;
	enum remote_activity_kind kind = ask_kernel(process, thread, call);
	*is_woken = kind == ACTIVITY_RUNNING && turns != 0 && turns == thread->wait_turns;
	if (*is_woken)
		return thread->wait_as;
	thread->wait_turns = kind == ACTIVITY_WAITING || kind == ACTIVITY_GIL ? turns : 0;
	thread->wait_as = kind;
	thread->wait_call = kind == ACTIVITY_WAITING ? call->number : -1;
	return kind;
}

/* Whether the thread has the GIL, as its snapshot shows. */
static bool has_gil_now(struct attach_process *process, struct attach_thread *thread)
{
	if (thread->snapshot->watched_size > 0)
		gil_take(&thread->gil, thread->snapshot->watched);
	if (thread->remote.interpreter_index == 0)
		process->is_gil_held |= thread->gil.holder != 0;
	return thread->gil.start == 0 || thread->gil.holder == thread->remote.state;
}

bool attach_look(struct attach *attach, struct attach_process *process, struct attach_thread *thread,
		 uint64_t now_ns)
{
	attach_perf_drain(attach, process, thread);
	attach_tasks_look(attach, process, thread, now_ns);
	if (!attach_take(thread, now_ns))
		return false;
	bool has_gil = has_gil_now(process, thread);
	if (thread->has_others && (!has_gil || thread->gil.start == 0) && attach_follow(process, thread)) {
		if (!attach_take(thread, now_ns))
			return false;
		has_gil = has_gil_now(process, thread);
	}
	enum remote_activity_kind kind = ACTIVITY_RUNNING;
	struct blocked_call call;
	bool is_woken = false;
	if (attach->options->has_gil_only && !has_gil) {
		thread->look_ns = now_ns;
		return true;
	}
	if (!has_gil || thread->gil.start == 0 || thread->turns % GIL_TURNS == 0)
		kind = tell_activity(process, thread, now_ns, &call, &is_woken);
	if (kind == ACTIVITY_UNKNOWN)
		return false;
	if (kind == ACTIVITY_RUNNING && thread->turns == 0)
		attach_meet(attach, process, thread);
	/* The first copy after a pause takes long, since nothing of it is in a cache,
	 * and is a mix ten times as often as the next. */
	if (kind == ACTIVITY_RUNNING && (thread->turns == 0 || attach->period_ns > COLD_NS)) {
		if (!snapshot_take(thread->snapshot))
			return false;
		has_gil = has_gil_now(process, thread);
	}
	thread->turns++;
	attach->looks++;

	uint32_t count;
	bool is_gone;
	if (attach_read_stack(attach, process, thread, now_ns, &count, &is_gone)) {
		if (kind == ACTIVITY_WAITING && !is_woken)
			thread->thread->wait_kind =
				waits_of_stack(&call, &process->remote.reader, &attach->collector->codes,
					       attach->collector->tree_frames, count);
		if (attach->options->by_thread && count > 0)
			count = add_thread_frame(attach, process, thread,
						 stacks_count_own(attach->collector, count));
		book(attach, process, thread, kind, has_gil, count, now_ns);
		plan_next(attach, thread, kind != ACTIVITY_RUNNING);
	} else if (!is_gone) {
		attach->lost++;
		process->process->lost[LOST_TORN]++;
	}
	return !is_gone;
}
