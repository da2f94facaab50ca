/* tasks.h - tasks that wait, and the lines where they do.
 *
 * A thread that runs an event loop is looked at as every thread is; beside its
 * own stack some of its tasks are read (python/tasks.h), each of which stands
 * for total / read of them.  Two things are booked:
 *
 *   await    task-seconds: for every task that waits, the time since the last
 *            look, to the innermost line in scope of its coroutines.  Summed
 *            over tasks, so it can be more than the run took.
 *   idle     the time that the loop itself waited for events: one part of the
 *            total as any waiting is, shared evenly by the tasks that wait at a
 *            line in scope; by all where none does.  A task of a library alone
 *            (a gather of asyncio.sleep) has no line that its part could be on,
 *            and the line that awaits it is another's.  Their stacks stand on
 *            that of the loop. */
#ifndef HEATLINE_COLLECT_TASKS_H
#define HEATLINE_COLLECT_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "collect/tree.h"
#include "python/tasks.h"

#define TASKS_PER_LOOK 32u
#define AWAIT_NAMES 30u

struct collector;
struct process;
struct thread;
struct profile;

/* A line (or function) at which tasks were seen waiting. */
struct await_place {
	const char *file;     /* interned */
	const char *function; /* interned; NULL: a line's place */
	uint32_t line;        /* of the function: its first */
	double await_ns;      /* task-nanoseconds */
	double active_ns;     /* time during which at least one waited */
	double peak;          /* most at once */
	double now;           /* at the current look */
	uint32_t name_count;
	const char *names[AWAIT_NAMES]; /* interned; of different tasks */
};

/* A line at which steps of a loop took long. */
struct blocking_place {
	uint32_t code, line;
	uint32_t count;
	uint64_t longest_ns, total_ns;
};

#define STEP_LINES 8u

/* The step that a loop is in. */
struct step_state {
	struct task_step step;
	uint64_t start_ns, seen_ns; /* began, as far as is known; last seen; 0: none */
	uint64_t ready_ns;          /* had no CPU meanwhile, as far as the kernel has told */
	uint64_t ran_ns;            /* it has told all of it up to here */
	struct {
		uint32_t code, line, count;
	} lines[STEP_LINES]; /* where it was seen */
};

/* All places of a run. */
struct awaits {
	VEC(struct await_place) places;
	struct map_bytes known; /* struct await_key to place */
	VEC(struct blocking_place) blocking;
	double total_ns;        /* of all tasks, wherever they waited */
	uint64_t looks;         /* at loops with tasks */
};

/* A task as it was last seen waiting. */
struct waiting_task {
	uint32_t first, count; /* frames in loop_tasks.frames, innermost first */
	uint32_t line_place, function_place; /* plus one; 0: no line in scope */
	uint32_t node;         /* where its part of the loop's idle time goes */
};

/* The event loop of a thread.  Owned by the thread. */
struct loop_tasks {
	py_addr object; /* the loop, to tell it from the next */
	struct task_sweep sweep;
	uint64_t look_ns;
	uint64_t ready_ns; /* the thread's time ready to run at the last look, of all its life */
	uint64_t next_ns; /* when tasks may be read again: they cost; and when, */
	uint64_t next_busy_ns; /* if the thread has only computed since its last wait was booked */
	struct step_state step;
	bool is_idle;     /* the loop waits for events; nodes are set */
	bool has_nodes;   /* those of the tasks as they were last read */
	uint32_t idle_node; /* of the loop's own stack when it was last met idle; 0: it was not */
	bool is_complete; /* every task was read */
	bool is_behind;   /* the thread has run since they were read */
	double weight;    /* tasks that one of these stands for */
	uint32_t count;   /* waiting tasks */
	uint32_t own;     /* of them, the first ones: those that wait at a line in scope */
	bool has_known;   /* behind them is one more, for the idle time alone: of those read
			   * none waits at a line in scope, and it does still */
	py_addr own_task; /* the one that was last seen to; 0: none was */
	uint32_t search_left; /* so many more may be read to find one */
	struct waiting_task tasks[TASKS_PER_LOOK + 1];
	VEC(struct tree_frame) frames;
	VEC(struct tree_frame) base; /* the loop's own stack, innermost first */
};

void awaits_init(struct awaits *awaits);
void awaits_fini(struct awaits *awaits);
void loop_tasks_free(struct loop_tasks *loop);

/* Whether the process has tasks to look at, as far as is known; asks now and
 * then whether it has loaded asyncio or trio.  has_run: one of its threads may have, since it was
 * last asked about that thread. */
bool tasks_are_wanted(struct collector *collector, struct process *process, uint64_t now_ns,
		      bool has_run);

/* A thread that has not run since the last look: true when all that could be seen of its loop and
 * tasks is known from then, their waiting booked up to now. */
bool tasks_go_on(struct collector *collector, struct thread *thread, uint64_t now_ns);

/* Looks at the tasks of a thread whose state is at tstate, and books their
 * waiting up to now.  has_run: it did since the last look; is_busy: and it has not waited, as
 * far as is known. */
void tasks_look(struct collector *collector, struct process *process, struct thread *thread,
		py_addr tstate, uint64_t now_ns, bool has_run, bool is_busy);

/* What was found, into a profile whose stacks have been booked. */
void tasks_build(struct collector *collector, struct profile *profile);

/* --- idle.c --- */

/* The node of each task: its own frames, below them those of the loop. */
void idle_set_nodes(struct collector *collector, struct loop_tasks *loop);

/* The thread waits in this system call with the stack in collector->tree_frames,
 * whose node this is: notes whether it is the loop that waits for events, and
 * says so.  The frames are lost. */
bool tasks_note_wait(struct collector *collector, struct process *process, struct thread *thread,
		     py_addr tstate, long call, uint32_t node, uint32_t count);

/* Those whose the loop's idle time is, in equal parts, and how many: none when no task waits.
 * Their nodes are set if loop->has_nodes. */
const struct waiting_task *tasks_sharing(const struct loop_tasks *loop, uint32_t *count);

/* The same for a thread that waits: none when it is not its loop that does, or one without
 * tasks; then the waiting is that of the thread's own stack. */
const struct waiting_task *tasks_sharing_wait(const struct thread *thread, uint32_t *count);

/* --- blocking.c --- */

/* Looks which step the thread's loop is in; notes those that take long. */
void blocking_look(struct collector *collector, struct process *process, struct thread *thread,
		   py_addr tstate, const struct task_loop *event_loop, uint64_t now_ns,
		   bool has_run);

/* The thread's loop is in no step any more. */
void blocking_end(struct collector *collector, struct thread *thread, uint64_t now_ns);

/* For tasks_build. */
void blocking_build(struct collector *collector, struct profile *profile);

#endif
