/* task_step.c - which step an event loop is running.
 *
 * asyncio's loops run what is ready in BaseEventLoop._run_once, whose variables
 * tell: end_time is when this turn began, handle what is being run. */
#include <string.h>

#include "python/bits.h"
#include "python/code.h"
#include "python/objects.h"
#include "python/task_parts.h"

#define HOPS_MAX 256u
#define NAMES_MAX 32u

/* The index of a variable of the code object, or NAMES_MAX. */
static uint32_t find_variable(const struct task_finder *finder, py_addr code, const char *name)
{
	py_addr tuple = task_read_pointer(finder, code + finder->layout.code_names);
	uint64_t size;

	if (!task_read_word(finder, tuple + TUPLE_SIZE, &size) || size > NAMES_MAX)
		return NAMES_MAX;
	for (uint32_t i = 0; i < size; i++) {
		py_addr item = task_read_pointer(finder, tuple + finder->layout.tuple_items + 8ull * i);
		unsigned char bytes[64];
		struct object_room room = { bytes, sizeof(bytes) };
		const char *text;
		uint32_t length;

		if (object_copy_str(finder->walker, item, &room, &text, &length) &&
		    length == strlen(name) && memcmp(text, name, length) == 0)
			return i;
	}
	return NAMES_MAX;
}

/* Whether the code object is that of _run_once; what is known of it is kept. */
static bool is_run_once(struct task_finder *finder, py_addr code)
{
	unsigned char bytes[64];
	struct object_room room = { bytes, sizeof(bytes) };
	const char *name;
	uint32_t size;

	if (finder->run_once != 0)
		return code == finder->run_once;
	py_addr text = task_read_pointer(finder, code + finder->walker->layout->code_name);
	if (!object_copy_str(finder->walker, text, &room, &name, &size) || size != 9 ||
	    memcmp(name, "_run_once", 9) != 0)
		return false;
	finder->time_index = find_variable(finder, code, "end_time");
	finder->handle_index = find_variable(finder, code, "handle");
	finder->run_once = code;
	return true;
}

static py_addr innermost_frame(const struct task_finder *finder, py_addr tstate)
{
	const struct py_layout *layout = finder->walker->layout;
	py_addr frame = task_read_pointer(finder, tstate + layout->thread_frame);

	if (layout->frame_kind == PY_FRAME_CFRAME && frame != 0)
		frame = task_read_pointer(finder, frame + layout->cframe_current_frame);
	return frame;
}

/* The frame of _run_once on the thread's stack, or 0. */
static py_addr find_frame(struct task_finder *finder, py_addr tstate)
{
	const struct py_layout *layout = finder->walker->layout;
	const struct mem_reader *reader = finder->walker->reader;
	py_addr frame = innermost_frame(finder, tstate);
	unsigned char copy[256];

	for (uint32_t i = 0; i < HOPS_MAX && is_pointer(frame); i++) {
		py_addr code;

		if (layout->frame_size > sizeof(copy) ||
		    !reader->read(reader, frame, copy, layout->frame_size))
			return 0;
		code = load_u64(copy + layout->frame_code);
		if (layout->executable_tagged)
			code &= ~(py_addr)7;
		if (is_pointer(code) && is_run_once(finder, code))
			return frame;
		frame = load_u64(copy + layout->frame_previous);
	}
	return 0;
}

static py_addr read_variable(const struct task_finder *finder, py_addr frame, uint32_t index)
{
	uint64_t word = 0;

	task_read_word(finder, frame + finder->layout.frame_locals + 8ull * index, &word);
	return word & ~(py_addr)7;
}

bool tasks_read_step(struct task_finder *finder, py_addr tstate, struct task_step *step)
{
	const struct mem_reader *reader = finder->walker->reader;
	py_addr frame = find_frame(finder, tstate), time;
	double seconds;

	*step = (struct task_step){ 0 };
	if (frame == 0 || finder->time_index == NAMES_MAX || finder->handle_index == NAMES_MAX)
		return false;
	time = read_variable(finder, frame, finder->time_index);
	step->handle = read_variable(finder, frame, finder->handle_index);
	if (task_object_kind(finder, step->handle) == OBJECT_NONE)
		step->handle = 0;
	if (step->handle == 0)
		return true;
	if (task_object_kind(finder, time) != OBJECT_FLOAT ||
	    !reader->read(reader, time + FLOAT_VALUE, &seconds, sizeof(seconds)) ||
	    !(seconds > 0 && seconds < 1e9))
		return false;
	step->turn_ns = (uint64_t)(seconds * 1e9);
	return true;
}
