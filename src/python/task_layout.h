/* task_layout.h - where CPython keeps tasks and coroutines: a row per version.
 *
 * Beside the rows of layout.h, for the collector only.  3.8-3.13 are rows of a
 * table; 3.14 and later publish a part at the start of _PyRuntime and the rest
 * in a section of the file that holds the _asyncio module (_AsyncioDebug).
 * Both are checked before a row is made of them. */
#ifndef HEATLINE_PYTHON_TASK_LAYOUT_H
#define HEATLINE_PYTHON_TASK_LAYOUT_H

#include "python/layout.h"

/* Where the live tasks are kept. */
enum task_source {
	TASKS_SET,  /* up to 3.13: a WeakSet */
	TASKS_LIST, /* 3.14+: a linked list per thread; the WeakSet for tasks that are written in Python */
};

/* How a suspended frame is known. */
enum task_state {
	STATE_STACKTOP, /* 3.8, 3.9: its evaluation stack is put away */
	STATE_FRAME,    /* 3.10: f_state of the frame object */
	STATE_GENERATOR, /* 3.11+: beside the frame in the generator */
};

/* Offsets in bytes, PY_ABSENT where the version has no such field. */
struct py_task_layout {
	uint16_t version;
	uint8_t source;        /* enum task_source */
	uint8_t state;         /* enum task_state */
	int8_t state_first, state_last; /* values that mean suspended */
	int8_t state_awaiting; /* from here on: by await or yield from; INT8_MIN: not told */
	uint8_t awaited_back;  /* bytes from the evaluation stack's end to what is awaited */
	bool is_loop_held;     /* the running loop is kept in a holder object (before 3.12) */

	uint32_t interp_modules;
	uint32_t thread_dict /* holds the running loop, before 3.13 */, thread_loop, thread_task,
		thread_tasks /* head of the list */;
	uint32_t task_loop, task_coro, task_name, task_node;
	uint32_t gen_frame /* pointer to it, from 3.11 on the frame itself */, gen_state;
	uint32_t frame_stack /* 3.8-3.10: the evaluation stack's start */,
		frame_depth /* entries on it; 3.8, 3.9: pointer to its end; 3.11-3.13: from
			       the variables on; 3.14+: pointer to its end */,
		frame_state;
	uint32_t frame_locals; /* variables of a frame */
	uint32_t function_code;
	uint32_t code_names;   /* their names, a tuple */
	uint32_t tuple_items;
};

/* The row for a released version before 3.14, or NULL.  Static storage. */
const struct py_task_layout *py_task_layout_known(unsigned version);

/* The row for 3.13 and later, some of which is read from the runtime.  table is
 * what the _asyncio module publishes (asyncio_table.h), NULL for 3.13 or where
 * it is not there: a row for coroutines only, then.
 * Returns 0, or -1 when it makes no sense; *made is then untouched. */
int py_task_layout_published(const struct mem_reader *reader, py_addr runtime,
			     const struct py_layout *layout, const uint64_t *table,
			     struct py_task_layout *made);

/* Where the interpreter keeps sys.modules: all that is needed to see whether
 * there is asyncio.  PY_ABSENT when it is not known. */
uint32_t py_task_layout_modules(const struct mem_reader *reader, py_addr runtime,
				const struct py_layout *layout);

/* What does not differ from one version to another. */
enum {
	OBJECT_HEAD = 16,
	MODULE_DICT = 16,
	DICT_USED = 16,
	SET_USED = 24,
	SET_MASK = 32,
	SET_TABLE = 40,
	WEAKREF_OBJECT = 16,
	WRAPPER_INNER = 16, /* coroutine_wrapper, async_generator_asend, ... */
	HOLDER_LOOP = 16,
	TUPLE_SIZE = 16,
	FLOAT_VALUE = 16,
	INT_TAG = 16, /* from 3.12 on */
	INT_DIGIT = 24,
	TYPE_NAME = 24,
	TYPE_FLAGS = 168,
	TYPE_BASE = 256,
	TYPE_DICT = 264,
	MEMBER_DEFINITION = 40, /* of a descriptor: pointer to it */
	DEFINITION_OFFSET = 16,
};

#endif
