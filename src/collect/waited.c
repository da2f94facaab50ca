/* waited.c - books what threads have waited.
 *
 * watch.c finds out how long a thread has waited, and where.  A thread or a child process that lives
 * for less than the pause between two looks can be gone before one: how long it waited it
 * says itself as it ends (its life less its CPU time and the time it stood ready); where, nobody saw.
 * But each look at such threads is a sample of their time, whichever it meets.  So of all that
 * the short-lived threads of a process (the short-lived children of a parent) have waited, met or not, each
 * meeting gets an equal part, some meetings at a time: those that are met stand for the others.  (When the
 * time of those that were not met went to the last that was, threads that begin together had it
 * or lost it by the order in which they end: of sleeps of 20 and 4 ms the short ones had an eighth
 * to a fifth of their time.)
 *
 * A thread that was looked at twice could not have been missed, and stands for itself only: a
 * server's listening thread does not get what those for its requests have waited. */
#include "collect/waited.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/collector.h"
#include "collect/helpers.h"
#include "collect/stacks.h"
#include "collect/waits.h"

#define SHORT_LOOKS 1u /* in the life of a thread that could have had none */
#define UNMET_MIN_NS 100000u /* less is the difference of two clocks */
#define MEETINGS 16u /* that what others waited is shared out among */

/* Where a short-lived thread was met, and for how long it waited in all. */
struct meeting {
	uint32_t node;
	uint64_t waited_ns;
	bool counts_waiting, is_nobodys, is_startup, is_at_gil;
	enum wait_kind wait_kind;
};

/* The short-lived threads of a process, or main threads of its children, since the last time that
 * was shared out. */
struct unmet {
	uint64_t ns;     /* waited by those that were not met */
	uint64_t end_ns; /* of the last of them */
	uint64_t row_ns[TIMELINE_ROWS]; /* of ns, what those on a row of the timeline waited */
	uint32_t row;    /* while it is shared out: of those before it nothing is left */
	uint32_t count;
	struct meeting meetings[MEETINGS]; /* the last stays */
	bool has_met;
};

/* A library's thread that no Python has called, a helper process, and a pool's process or a
 * manager without work wait to be given some: no line waits for that. */
static bool is_nobodys(const struct collector *collector, const struct process *process,
		       const struct thread *thread, uint32_t node)
{
	if (thread->is_at_gil)
		return false;
	if (node == TREE_ROOT && !thread->is_main)
		return true;
	return process->only_serves || helpers_wait_for_work(collector, node);
}

/* Books ns of waiting to one node; is_sample: it counts as one, too. */
static void book_part(struct collector *collector, struct process *process,
		      struct thread *thread, uint32_t node, uint64_t end_ns, uint64_t ns,
		      bool is_sample)
{
	journal_time(collector, process, thread, JOURNAL_WAITED, node, end_ns, ns);
	if (is_nobodys(collector, process, thread, node)) {
		thread->unasked_ns += ns;
		stacks_note_unasked(collector, thread, end_ns, ns);
		return;
	}
	bool is_startup = thread->is_main && node == TREE_ROOT;
	struct tree_weights *self = is_startup ? &collector->startup
					       : tree_weights(&collector->tree, node);
	if (thread->counts_waiting)
		self->wait_ns += ns;
	else
		self->idle_ns += ns;
	self->samples += is_sample;
	if (is_startup)
		return;
	stacks_note_time(collector, thread, node, TIMELINE_WAIT, end_ns, ns);
	if (!thread->is_at_gil) {
		waits_vote(self, thread->wait_kind, ns);
		return;
	}
	self->gil_ns += ns;
	thread->gil_ns += ns;
	stacks_note_time(collector, thread, node, TIMELINE_GIL, end_ns, ns);
}

/* An event loop's waiting is its tasks', in equal parts (tasks_sharing); one look is one sample,
 * whichever of them it is counted for. */
void waited_book(struct collector *collector, struct process *process, struct thread *thread,
		 uint32_t node, uint64_t end_ns)
{
	uint64_t off_ns = thread->pending_off_ns;
	uint32_t tasks;
	const struct waiting_task *sharing = tasks_sharing_wait(thread, &tasks);
	thread->pending_off_ns = 0;
	thread->least_off_ns[0] = thread->least_off_ns[1] = 0;
	thread->rest_off_ns = UINT64_MAX;
	thread->off_ns += off_ns;
	thread->wait_node = node;
	thread->is_waiting = true;
	thread->met++;
	collector->wait_samples++;
	collector->idle_samples += !thread->counts_waiting;
	if (thread->is_main)
		process->main_node = node;
	if (tasks == 0)
		book_part(collector, process, thread, node, end_ns, off_ns, true);
	for (uint32_t i = 0; i < tasks; i++) {
		uint64_t ns = off_ns / tasks + (i == 0 ? off_ns % tasks : 0);
		book_part(collector, process, thread, sharing[i].node, end_ns, ns,
			  i == collector->random % tasks);
		end_ns -= ns;
	}
}

/* --- threads that were gone before a look --- */

/* The next part of it that is a single row's, and whose; TIMELINE_NO_ROW: of those without one. */
static uint64_t next_part(struct unmet *unmet, uint64_t ns, uint32_t *row)
{
	while (unmet->row < TIMELINE_ROWS && unmet->row_ns[unmet->row] == 0)
		unmet->row++;
	*row = TIMELINE_NO_ROW;
	if (unmet->row == TIMELINE_ROWS)
		return ns;
	uint64_t *left_ns = &unmet->row_ns[unmet->row];
	uint64_t part_ns = ns < *left_ns ? ns : *left_ns;
	*row = unmet->row;
	*left_ns -= part_ns;
	return part_ns;
}

/* It stands on the rows of those that have waited it: the thread that was met would get more than
 * it has lived. */
static void book_on_rows(struct collector *collector, struct unmet *unmet,
			 const struct meeting *meeting, uint64_t ns)
{
	struct timeline *timeline = &collector->timeline;
	bool is_noted = !meeting->is_nobodys && !meeting->is_startup &&
			unmet->end_ns > collector->start_ns &&
			!stacks_is_startup_node(collector, meeting->node);
	while (ns > 0) {
		uint32_t row;
		uint64_t part_ns = next_part(unmet, ns, &row);
		ns -= part_ns;
		if (is_noted && meeting->counts_waiting)
			timeline_add_stack(timeline, &collector->tree, meeting->node, row,
					   unmet->end_ns - collector->start_ns, part_ns);
		else if (is_noted)
			timeline_add_idle(timeline, &collector->tree, meeting->node, row, part_ns);
	}
}

static void book_meeting(struct collector *collector, struct unmet *unmet,
			 const struct meeting *meeting, uint64_t ns)
{
	book_on_rows(collector, unmet, meeting, ns);
	if (meeting->is_nobodys || ns == 0)
		return;
	struct tree_weights *self = meeting->is_startup
					    ? &collector->startup
					    : tree_weights(&collector->tree, meeting->node);
	*(meeting->counts_waiting ? &self->wait_ns : &self->idle_ns) += ns;
	if (meeting->is_startup)
		return;
	if (meeting->is_at_gil)
		self->gil_ns += ns;
	else
		waits_vote(self, meeting->wait_kind, ns);
}

/* What a meeting lacks to its equal part. */
static uint64_t lacks_ns(const struct meeting *meeting, uint64_t part_ns)
{
	return part_ns > meeting->waited_ns ? part_ns - meeting->waited_ns : 0;
}

static void share_out(struct collector *collector, struct unmet *unmet)
{
	uint64_t all_ns = unmet->ns, lacking_ns = 0;
	struct meeting *meetings = unmet->meetings;
	for (uint32_t i = 0; i < unmet->count; i++)
		all_ns += meetings[i].waited_ns;
	uint64_t part_ns = unmet->count == 0 ? 0 : all_ns / unmet->count;
	for (uint32_t i = 0; i < unmet->count; i++)
		lacking_ns += lacks_ns(&meetings[i], part_ns);
	uint64_t left_ns = unmet->ns;
	for (uint32_t i = 0; i < unmet->count && lacking_ns > 0; i++) {
		uint64_t ns = (uint64_t)((double)unmet->ns * (double)lacks_ns(&meetings[i], part_ns) /
					 (double)lacking_ns);
		ns = ns < left_ns ? ns : left_ns;
		book_meeting(collector, unmet, &meetings[i], ns);
		left_ns -= ns;
	}
	if (unmet->count > 0)
		meetings[0] = meetings[unmet->count - 1];
	book_meeting(collector, unmet, &meetings[0], left_ns);
	unmet->ns = unmet->count = unmet->row = 0;
	memset(unmet->row_ns, 0, sizeof(unmet->row_ns));
}

/* The last process that bears the number and had begun before this one. */
static struct process *parent_of(const struct collector *collector, const struct process *process)
{
	struct process *parent = NULL;
	for (uint32_t i = 0; i < collector->processes.count; i++) {
		struct process *other = collector->processes.items[i];
		if (other->pid == process->parent_pid && other->start_ns <= process->start_ns &&
		    other != process && (parent == NULL || other->start_ns > parent->start_ns))
			parent = other;
	}
	return parent;
}

/* Those that the thread is one of; NULL: it is the program's main thread. */
static struct unmet *unmet_of(const struct collector *collector, struct process *process,
			      const struct thread *thread)
{
	struct process *parent = thread->is_main ? parent_of(collector, process) : process;
	if (parent == NULL)
		return NULL;
	struct unmet **unmet = thread->is_main ? &parent->unmet_children : &parent->unmet_threads;
	if (*unmet == NULL)
		*unmet = mem_zalloc(1, sizeof(**unmet));
	return *unmet;
}

/* What the thread has waited in its life, by what it said as it ended; a main thread's time ready to
 * run as far as no sample has it (see take_delay of watch.c). */
static uint64_t waited_in_life(const struct thread *thread, uint64_t end_ns)
{
	uint64_t on_ns = clock_between(thread->begin_cpu_ns, thread->end_cpu_ns) + thread->skipped_ns +
			 clock_between(thread->begin_delay_ns, thread->end_delay_ns);
	uint64_t left_ns = thread->is_main ? thread->pending_delay_ns : 0;
	return clock_between(thread->start_ns + on_ns, end_ns + left_ns);
}

/* The thread's own figures are right in any case. */
static void keep(struct collector *collector, struct unmet *unmet, struct thread *thread,
		 uint64_t end_ns)
{
	uint64_t ns = waited_in_life(thread, end_ns);
	if (ns < UNMET_MIN_NS)
		return;
	thread->off_ns += ns;
	stacks_note_unasked(collector, thread, end_ns, ns);
	unmet->ns += ns;
	unmet->end_ns = end_ns;
	if (thread->row != TIMELINE_NO_ROW)
		unmet->row_ns[thread->row] += ns;
}

static void note_meeting(struct collector *collector, const struct process *process,
			 struct unmet *unmet, const struct thread *thread, uint64_t end_ns)
{
	uint32_t tasks;
	const struct waiting_task *sharing = tasks_sharing_wait(thread, &tasks);
	uint32_t node = tasks == 0 ? thread->wait_node
				   : sharing[collector->random % tasks].node;
	unmet->has_met = true;
	unmet->meetings[unmet->count++] = (struct meeting){
		.node = node,
		.waited_ns = waited_in_life(thread, end_ns),
		.counts_waiting = thread->counts_waiting,
		.is_nobodys = is_nobodys(collector, process, thread, node),
		.is_startup = thread->is_main && node == TREE_ROOT,
		.is_at_gil = thread->is_at_gil,
		.wait_kind = thread->wait_kind,
	};
	if (unmet->count == MEETINGS)
		share_out(collector, unmet);
}

bool waited_end_short(struct collector *collector, struct process *process, struct thread *thread,
		      uint64_t end_ns)
{
	if (thread->looks > SHORT_LOOKS || thread->met > SHORT_LOOKS || thread->end_cpu_ns == 0 ||
	    collector->is_off)
		return false;
	struct unmet *unmet = unmet_of(collector, process, thread);
	if (unmet == NULL)
		return false;
	if (thread->met == 0)
		keep(collector, unmet, thread, end_ns);
	else
		note_meeting(collector, process, unmet, thread, end_ns);
	return thread->met == 0;
}

void waited_move_rows(struct process *process, const uint32_t *moved_to, uint32_t rows)
{
	struct unmet *unmet = process->unmet_threads;
	for (uint32_t i = 0; unmet != NULL && i < rows; i++) {
		if (moved_to[i] == i)
			continue;
		unmet->row_ns[moved_to[i]] += unmet->row_ns[i];
		unmet->row_ns[i] = 0;
	}
}

static uint64_t settle(struct collector *collector, struct unmet *unmet)
{
	if (unmet == NULL || unmet->ns == 0)
		return 0;
	if (!unmet->has_met)
		return unmet->ns;
	share_out(collector, unmet);
	return 0;
}

uint64_t waited_settle(struct collector *collector)
{
	uint64_t left_ns = 0;
	for (uint32_t i = 0; i < collector->processes.count; i++) {
		struct process *process = collector->processes.items[i];
		left_ns += settle(collector, process->unmet_threads);
		left_ns += settle(collector, process->unmet_children);
	}
	return left_ns;
}
