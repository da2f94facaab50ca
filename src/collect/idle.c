/* idle.c - an event loop that waits for events, and whose waiting that is; see tasks.h. */
#include <string.h>
#include <sys/syscall.h>

#include "base/text.h"
#include "collect/collector.h"
#include "collect/stacks.h"
#include "collect/tasks.h"

void idle_set_nodes(struct collector *collector, struct loop_tasks *loop)
{
	for (uint32_t i = 0; i < loop->count + loop->has_known; i++) {
		struct waiting_task *task = &loop->tasks[i];
		uint32_t count = 0;
		for (; count < task->count; count++)
			collector->tree_frames[count] = loop->frames.items[task->first + count];
		for (uint32_t k = 0; k < loop->base.count && count < WALK_MAX_FRAMES; k++)
			collector->tree_frames[count++] = loop->base.items[k];
		task->node = stacks_node(collector, count);
	}
	loop->has_nodes = true;
}

static bool is_poll(long call)
{
	static const long calls[] = {
#ifdef SYS_epoll_wait
		SYS_epoll_wait, SYS_poll, SYS_select,
#endif
		SYS_epoll_pwait, SYS_epoll_pwait2, SYS_ppoll, SYS_pselect6,
	};
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (calls[i] == call)
			return true;
	}
	return false;
}

/* asyncio's turn of the loop; all of trio's. */
static bool is_loop_code(const struct code *code)
{
	return (text_ends_with(code->qualname, "_run_once") &&
		text_ends_with(code->filename, "/asyncio/base_events.py")) ||
	       (strcmp(code->qualname, "run") == 0 &&
		text_ends_with(code->filename, "/trio/_core/_run.py"));
}

/* How many of the innermost frames are the loop's own machinery: up to the one
 * that asks for events and runs what is ready.  Loops in C have none. */
static uint32_t count_machinery(const struct collector *collector, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (is_loop_code(&collector->codes.items[collector->tree_frames[i].code]))
			return i + 1;
	}
	return 0;
}

/* Whether no step of the loop is run that waits in a poll; its stack is noted then. */
static bool is_idle_loop(struct collector *collector, struct process *process,
			 struct loop_tasks *loop, py_addr tstate, uint32_t count)
{
	struct task_loop event_loop;
	if (!tasks_running_loop(&process->tasks, tstate, &event_loop) ||
	    tasks_has_current(&process->tasks, tstate, &event_loop))
		return false;
	loop->base.count = 0;
	for (uint32_t i = count_machinery(collector, count); i < count; i++)
		vec_push(&loop->base, collector->tree_frames[i]);
	loop->has_nodes = false;
	return true;
}

bool tasks_note_wait(struct collector *collector, struct process *process, struct thread *thread,
		     py_addr tstate, long call, uint32_t node, uint32_t count)
{
	struct loop_tasks *loop = thread->loop;
	if (loop == NULL || loop->count == 0)
		return false;
	/* A step's frames would be on the stack: where it was idle, it is again. */
	loop->is_idle = is_poll(call) &&
			((node != TREE_ROOT && node == loop->idle_node) ||
			 is_idle_loop(collector, process, loop, tstate, count));
	if (!loop->is_idle)
		return false;
	loop->idle_node = node;
	if (!loop->has_nodes)
		idle_set_nodes(collector, loop);
	return true;
}

const struct waiting_task *tasks_sharing(const struct loop_tasks *loop, uint32_t *count)
{
	bool is_known = loop->count > 0 && loop->own == 0 && loop->has_known;
	*count = is_known ? 1 : loop->count > 0 && loop->own > 0 ? loop->own : loop->count;
	return &loop->tasks[is_known ? loop->count : 0];
}

const struct waiting_task *tasks_sharing_wait(const struct thread *thread, uint32_t *count)
{
	*count = 0;
	return thread->loop != NULL && thread->loop->is_idle ? tasks_sharing(thread->loop, count)
							     : NULL;
}
