/* attach_tasks.c - the event loop of an attached thread, and its tasks that wait.
 *
 * Tasks are looked at as in a run (tasks.h), some thirty times a second however often
 * the thread itself is: reading them costs.  What the loop waited since then is kept, and
 * shared by the tasks that are read while it waits again: tasks that were read while one of
 * them ran would leave that one out. */
#include "collect/attach_parts.h"

#define FIRST_NS 5000000u /* from the first look at a thread to the one that tells whether it ran */

/* A random part of it more than ATTACH_TASKS_NS, so as not to keep step with the program. */
static void plan_next(struct attach *attach, struct attach_thread *thread, uint64_t now_ns)
{
	uint64_t pause_ns = thread->loop.ran_ns == 0
				    ? FIRST_NS
				    : ATTACH_TASKS_NS + attach->random % (ATTACH_TASKS_NS / 2);
	thread->loop.next_ns = now_ns + pause_ns;
}

/* Gives what the loop waited to its tasks in equal parts; when they could not be read, to
 * where it waited. */
static void book_loop(struct attach *attach, struct attach_thread *thread, uint64_t now_ns)
{
	struct collector *collector = attach->collector;
	struct attach_loop *state = &thread->loop;
	const struct loop_tasks *loop = thread->thread->loop;
	const struct waiting_task *sharing = NULL;
	uint32_t tasks = 0;
	if (loop != NULL && loop->has_nodes)
		sharing = tasks_sharing(loop, &tasks);
	uint32_t parts = tasks == 0 ? 1 : tasks;
	for (uint32_t i = 0; i < parts && state->waited_ns > 0; i++) {
		uint32_t node = tasks == 0 ? state->node : sharing[i].node;
		uint64_t ns = state->waited_ns / parts + (i == 0 ? state->waited_ns % parts : 0);
		struct tree_weights *self = tree_weights(&collector->tree, node);
		self->samples += state->samples / parts + (i < state->samples % parts);
		attach_book_waiting(collector, thread, self, node, false, now_ns, ns);
		now_ns -= ns;
	}
	state->waited_ns = state->samples = 0;
}

void attach_tasks_look(struct attach *attach, struct attach_process *process, struct attach_thread *thread,
		       uint64_t now_ns)
{
	struct attach_loop *state = &thread->loop;
	struct thread *kept = thread->thread;
	state->is_new = false;
	if (now_ns < state->next_ns ||
	    !tasks_are_wanted(attach->collector, process->process, now_ns, true))
		return;
	plan_next(attach, thread, now_ns);
	bool is_told = attach_read_schedule(thread, now_ns);
	bool is_first = state->ran_ns == 0;
	bool has_run = !is_told || state->ran_ns != thread->told.ran_ns;
	if (is_told) {
		state->ran_ns = thread->told.ran_ns;
		kept->look_delay_ns = thread->told.ready_ns;
	}
	if (is_first && is_told)
		return;
	tasks_look(attach->collector, process->process, kept, thread->remote.state, now_ns, has_run, false);
	state->is_new = true;
	if (kept->loop != NULL && kept->loop->look_ns == 0)
		book_loop(attach, thread, now_ns); /* it has ended */
}

bool attach_tasks_wait(struct attach *attach, struct attach_process *process, struct attach_thread *thread,
		       uint32_t node, uint32_t count, uint64_t now_ns, uint64_t ns)
{
	struct attach_loop *state = &thread->loop;
	state->is_waiting = tasks_note_wait(attach->collector, process->process, thread->thread,
					    thread->remote.state, thread->wait_call, node, count);
	if (!attach_tasks_waited(thread, ns))
		return false;
	state->node = node;
	state->samples++;
	if (state->is_new)
		book_loop(attach, thread, now_ns);
	return true;
}

bool attach_tasks_waited(struct attach_thread *thread, uint64_t ns)
{
	if (thread->loop.is_waiting)
		thread->loop.waited_ns += ns;
	return thread->loop.is_waiting;
}

void attach_tasks_end(struct attach *attach, struct attach_thread *thread, uint64_t now_ns)
{
	struct thread *kept = thread->thread;
	if (kept->loop == NULL)
		return;
	book_loop(attach, thread, now_ns);
	blocking_end(attach->collector, kept, now_ns);
}
