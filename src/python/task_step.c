/* task_step.c - which step an event loop is running.
 *
 * asyncio's loops run what is ready in BaseEventLoop._run_once, whose variables
 * tell: end_time is when this turn began, handle what is being run. */
#include "python/task_parts.h"

#define HOPS_MAX 256u

/* Whether the code object is that of _run_once; what is known of it is kept. */
static bool is_run_once(struct task_finder *finder, py_addr code)
{
	if (finder->run_once != 0)
		return code == finder->run_once;
	if (!task_is_code(finder, code, "_run_once"))
		return false;
	finder->time_index = task_find_variable(finder, code, "end_time");
	finder->handle_index = task_find_variable(finder, code, "handle");
	finder->run_once = code;
	return true;
}

/* The frame of _run_once on the thread's stack, or 0. */
static py_addr find_frame(struct task_finder *finder, py_addr tstate)
{
	py_addr frame = task_innermost_frame(finder, tstate), code;

	for (uint32_t i = 0; i < HOPS_MAX; i++) {
		py_addr here = frame;

		if (!task_next_frame(finder, &frame, &code))
			return 0;
		if (code != 0 && is_run_once(finder, code))
			return here;
	}
	return 0;
}

static bool read_asyncio(struct task_finder *finder, py_addr tstate, struct task_step *step)
{
	const struct mem_reader *reader = finder->walker->reader;
	py_addr frame = find_frame(finder, tstate), time;
	double seconds;

	if (frame == 0 || finder->time_index == TASK_NO_VARIABLE ||
	    finder->handle_index == TASK_NO_VARIABLE)
		return false;
	time = task_read_variable(finder, frame, finder->time_index);
	step->handle = task_read_variable(finder, frame, finder->handle_index);
	if (task_object_kind(finder, step->handle) == OBJECT_NONE)
		step->handle = 0;
	if (step->handle == 0)
		return true;
	if (task_object_kind(finder, time) != OBJECT_FLOAT ||
	    !reader->read(reader, time + FLOAT_VALUE, &seconds, sizeof(seconds)) ||
	    !(seconds > 0 && seconds < 1e9))
		return false;
	step->turn = step->turn_ns = (uint64_t)(seconds * 1e9);
	return true;
}

bool tasks_read_step(struct task_finder *finder, py_addr tstate, const struct task_loop *loop,
		     struct task_step *step)
{
	*step = (struct task_step){ 0 };
	return loop->is_trio ? trio_read_step(finder, loop, step)
			     : read_asyncio(finder, tstate, step);
}
