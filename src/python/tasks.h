/* tasks.h - the tasks of an event loop, read from outside.
 *
 * asyncio keeps all live tasks (up to 3.13 in a WeakSet, from 3.14 on in a
 * linked list per thread, those that are written in Python in a WeakSet still),
 * trio has a set for each run, and a task has its coroutine; a coroutine that
 * waits has what it awaits on top of its evaluation stack.  So the stack of a
 * waiting task is the chain of its coroutines, down to the innermost.
 *
 * The target runs on meanwhile.  Nothing read is trusted: types are checked, every
 * loop is bounded, and what does not fit together is skipped.
 *
 * The cost does not grow with the number of tasks: a caller gets some of them,
 * chosen evenly, and how many there are.
 *
 * Not signal-safe. */
#ifndef HEATLINE_PYTHON_TASKS_H
#define HEATLINE_PYTHON_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "python/task_layout.h"
#include "python/walk.h"

#define TASK_MAX_FRAMES 128u /* of one task's chain; deeper is cut inside */
#define TASK_NAME_BYTES 96u
#define TASK_TYPES 64u       /* power of two */

/* What an object is to us, by its type. */
enum object_kind {
	OBJECT_OTHER = 1,
	OBJECT_COROUTINE, /* or an asynchronous generator: suspended only by await */
	OBJECT_GENERATOR,
	OBJECT_WRAPPER,   /* stands for another that it points to */
	OBJECT_TASK,        /* asyncio's, in C */
	OBJECT_PYTHON_TASK, /* asyncio's, in Python */
	OBJECT_TRIO_TASK,
	OBJECT_SET,
	OBJECT_INT,
	OBJECT_STR,
	OBJECT_FLOAT,
	OBJECT_NONE,
	OBJECT_MEMBER, /* a descriptor of a slot */
};

/* What is known of trio once its task_type is. */
struct trio_facts {
	py_addr task_type, runner_type;
	py_addr run, unrolled_run;         /* code objects */
	uint32_t runner_index, task_index; /* variables of theirs, in this order */
	uint32_t runner_tasks, task_coro, task_name, task_points; /* offsets of slots */
};

/* How far a dict has been searched for a key that it did not have; it has other entries when
 * its table is another. */
struct task_passed {
	py_addr entries;
	uint32_t count;
};

/* Where a dict was found to have a key: as long as it has the same table, and that the same
 * object at this place, the key need not be looked for again. */
struct task_place {
	py_addr dict, keys, entry, key;
};

/* One process's tasks.  The caller sets walker, runtime and pid; the rest is
 * zero until tasks_find. */
struct task_finder {
	const struct walker *walker;
	py_addr runtime;
	char *const *files; /* borrowed; those that the program has mapped; NULL: it runs, ask */
	uint32_t file_count;
	struct py_task_layout layout;
	uint64_t modules;   /* how many there were when asyncio was last looked for, */
	struct task_passed no_asyncio, no_trio; /* among them */
	py_addr modules_dict; /* and the dict that has them: an interpreter's is one for ever; 0: none */
	py_addr task_type;  /* _asyncio.Task; 0: there is no asyncio */
	py_addr python_task_type; /* asyncio.tasks._PyTask */
	py_addr all_tasks;  /* the set in the WeakSet */
	struct task_place loop_place; /* where the last thread that was asked has its running loop */
	py_addr last_loop;  /* and one that is an object, not None */
	py_addr current_tasks; /* dict of loop to the task that runs, if the thread does not know */
	py_addr run_once;   /* code object of the loop's turn, and two of its variables */
	uint32_t time_index, handle_index;
	struct trio_facts trio;
	struct {
		py_addr type;
		uint8_t kind; /* enum object_kind */
	} types[TASK_TYPES];
};

/* How far one thread's list has been gone through.  Zero to begin with. */
struct task_sweep {
	py_addr cursor;  /* the next node; 0: begin anew */
	uint32_t passed; /* since the beginning */
	uint32_t total;  /* as far as is known: by the last time round, or by this one */
	py_addr last;    /* the newest node at the last call, */
	py_addr counted; /* and when they were last counted to the end */
};

/* The event loop of a thread. */
struct task_loop {
	py_addr object;     /* asyncio's loop, or trio's runner */
	bool is_trio;
	py_addr step_frame; /* trio: the frame that runs a task's step; 0: none is run */
};

/* Looks whether the process has asyncio or trio loaded and where they keep their
 * tasks; true once it is known of one.  Some 100 us for a few hundred modules, and
 * next to nothing when none has been loaded since the last time. */
bool tasks_find(struct task_finder *finder);

/* The event loop that runs in the thread; false: none does.  asyncio has to have its
 * module in C, and trio to run by itself (not as a guest of another loop). */
bool tasks_running_loop(struct task_finder *finder, py_addr tstate, struct task_loop *loop);

/* Whether a task's step is being run by the loop now. */
bool tasks_has_current(struct task_finder *finder, py_addr tstate, const struct task_loop *loop);

/* Up to room tasks of the thread's loop, evenly chosen among all.  Returns how many;
 * *total is how many there are (with asyncio before 3.14 done ones and those of
 * other loops included).  random is advanced. */
uint32_t tasks_sample(struct task_finder *finder, py_addr tstate, const struct task_loop *loop,
		      struct task_sweep *sweep, uint64_t *random, py_addr *tasks, uint32_t room,
		      uint32_t *total);

/* What the loop of a thread is running. */
struct task_step {
	py_addr handle;   /* 0: nothing, it waits for events */
	uint64_t turn;    /* tells this step from others with the same handle */
	uint64_t turn_ns; /* when it began to run what was ready, on the monotonic clock; 0: not known */
};

/* False when it cannot be told (torn, or a loop of somebody else's). */
bool tasks_read_step(struct task_finder *finder, py_addr tstate, const struct task_loop *loop,
		     struct task_step *step);

enum task_result {
	TASK_WAITS, /* suspended by an await */
	TASK_OTHER, /* runs, is done, has not begun, is another loop's or the loop's own */
	TASK_TORN,  /* could not be read */
};

struct task_view {
	uint32_t count;               /* of frames */
	struct walk_frame frames[TASK_MAX_FRAMES]; /* innermost first */
	py_addr name;                 /* for task_read_name */
};

/* Reads one task of this loop. */
enum task_result task_read(struct task_finder *finder, py_addr task, const struct task_loop *loop,
			   struct task_view *view);

/* The name of a task that was just read, terminated and cut between characters. */
bool task_read_name(struct task_finder *finder, const struct task_view *view,
		    char text[TASK_NAME_BYTES]);

#endif
