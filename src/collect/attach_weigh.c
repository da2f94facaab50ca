/* attach_weigh.c - what looks at a running thread stand for.
 *
 * By the CPU time that it took: a thread that is ready and has no CPU stands at
 * one place, and would be met there again and again.  The kernel tells another
 * process's CPU time only when its tick updates it or the thread leaves the CPU:
 * in jumps of some milliseconds.  Given to the look that finds it, a jump made
 * one look in four stand for all (250 a second at any rate: shares were wrong by
 * 1 to 3 points after 3 s).  So looks are kept until the next jump, which belongs
 * to all of them.
 *
 * Not quite to all: leaving the CPU makes a jump too.  So between two jumps the
 * thread first waited for a CPU, if it did, and then ran, for just as long as the
 * second one says.  Looks before that met it where it stood.
 *
 * The time that it stood goes to all that it does, in proportion. */
#include <string.h>

#include "base/procfs.h"
#include "base/vec.h"
#include "collect/attach_parts.h"
#include "collect/stacks.h"

#define CLOCK_NS 200000u    /* between two readings of the CPU clock */
#define SPREAD_NS 50000000u /* over which time is spread that no look stands for by itself */
#define DUE_MAX 4096u       /* looks that are kept: 10 ms of the fastest, which no running thread is
			       without a jump */

/* A look stands for the time since the one before: where they follow each other
 * at once, a costly one would count for too little.  But not for more than two
 * periods, nor this: then we had no CPU ourselves. */
#define PART_NS 20000u

bool attach_read_schedule(struct attach_thread *thread, uint64_t now_ns)
{
	if (thread->told_ns == now_ns)
		return true;
	if (!procfs_read_schedule(thread->thread->schedstat_fd, &thread->told))
		return false;
	thread->told_ns = now_ns;
	return true;
}

static void book_one(struct attach *attach, struct attach_thread *thread, const struct attach_due *due,
		     uint64_t ns, uint64_t cpu_ns)
{
	struct collector *collector = attach->collector;
	struct tree_weights *self = due->is_startup ? &collector->startup
						    : tree_weights(&collector->tree, due->node);
	if (due->is_open)
		self->open_ns += ns;
	else if (due->kind == TIMELINE_PYTHON)
		self->python_ns += ns;
	else
		self->native_ns += ns;
	self->cpu_ns += cpu_ns;
	/* The profile is split when it is made; the timeline takes what is known by now. */
	uint64_t system_ns = due->node == TREE_ROOT || thread->perf == NULL
				     ? 0
				     : (uint64_t)(split_system_share(&attach->clocks.split, &collector->codes,
								     tree_frame(&collector->tree, due->node)) *
						  (double)ns);
	stacks_note_time(collector, thread->thread, due->node, due->kind, due->time_ns, ns - system_ns);
	stacks_note_time(collector, thread->thread, due->node, TIMELINE_SYSTEM, due->time_ns, system_ns);
}

/* Gives the CPU time to the looks that were taken since `since_ns`. */
static void settle(struct attach *attach, struct attach_thread *thread, uint64_t since_ns, uint64_t now_ns,
		   uint64_t cpu_ns)
{
	uint64_t interval_ns = now_ns - thread->settled_ns;
	double part = interval_ns < SPREAD_NS / 4 ? (double)interval_ns / SPREAD_NS : 0.25;
	uint32_t first = 0;
	thread->settled_ns = now_ns;
	thread->spare_cpu_ns += cpu_ns;
	if (thread->due.count == 0)
		return;
	while (first + 1 < thread->due.count && thread->due.items[first].time_ns < since_ns)
		first++;
	uint64_t whole_ns = 1;
	for (uint32_t i = first; i < thread->due.count; i++)
		whole_ns += thread->due.items[i].part_ns;
	uint64_t ns = (uint64_t)((double)thread->spare_cpu_ns / thread->cpu_part + (double)thread->owed_ns * part);
	if (ns > thread->owed_ns)
		ns = thread->owed_ns;
	cpu_ns = thread->spare_cpu_ns < ns ? thread->spare_cpu_ns : ns;
	thread->owed_ns -= ns;
	/* A thread that is mostly met waiting owes what it ran unseen; not for ever. */
	thread->spare_cpu_ns -= cpu_ns;
	if (thread->spare_cpu_ns > SPREAD_NS)
		thread->spare_cpu_ns = SPREAD_NS;
	for (uint32_t i = first; i < thread->due.count; i++) {
		double share = (double)thread->due.items[i].part_ns / (double)whole_ns;
		book_one(attach, thread, &thread->due.items[i], (uint64_t)(share * (double)ns),
			 (uint64_t)(share * (double)cpu_ns));
	}
	thread->thread->cpu_ns += cpu_ns;
	attach->collector->sampled_cpu_ns += cpu_ns;
	thread->due.count = 0;
}

void attach_add_due(struct attach *attach, struct attach_thread *thread, struct attach_due *due, uint64_t ns)
{
	uint64_t most_ns = 2 * attach->period_ns > PART_NS ? 2 * attach->period_ns : PART_NS;
	due->part_ns = (uint32_t)(ns < most_ns ? ns : most_ns) + 1;
	thread->owed_ns += ns;
	if (thread->due.count == DUE_MAX) {
		thread->due.count = DUE_MAX / 2;
		memmove(thread->due.items, thread->due.items + DUE_MAX / 2,
			DUE_MAX / 2 * sizeof(*thread->due.items));
	}
	vec_push(&thread->due, *due);
}

void attach_weigh(struct attach *attach, struct attach_thread *thread, uint64_t now_ns)
{
	uint64_t last_ns = thread->clock_read_ns;
	if (thread->settled_ns == 0)
		thread->settled_ns = now_ns;
	if (now_ns - last_ns < CLOCK_NS)
		return;
	thread->clock_read_ns = now_ns;
	if (!attach_read_schedule(thread, now_ns) || thread->told.ran_ns == 0) {
		settle(attach, thread, 0, now_ns, now_ns - thread->settled_ns);
		return;
	}
	uint64_t clock_ns = thread->told.ran_ns;
	uint64_t ran_ns = thread->clock_ns == 0 ? 0 : clock_ns - thread->clock_ns;
	thread->clock_ns = clock_ns;
	/* What was booked before the clock told is not booked again. */
	uint64_t ahead_ns = thread->ahead_ns < ran_ns ? thread->ahead_ns : ran_ns;
	thread->ahead_ns -= ahead_ns;
	if (ran_ns > 0)
		settle(attach, thread, last_ns > ran_ns ? last_ns - ran_ns : 0, now_ns, ran_ns - ahead_ns);
}

void attach_weigh_now(struct attach *attach, struct attach_thread *thread, uint64_t now_ns)
{
	uint64_t ns = now_ns - thread->settled_ns;
	if (thread->due.count == 0)
		return;
	thread->ahead_ns += ns;
	settle(attach, thread, 0, now_ns, ns);
}
