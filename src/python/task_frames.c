/* task_frames.c - frames of a running thread, and their variables. */
#include <string.h>

#include "python/bits.h"
#include "python/objects.h"
#include "python/task_parts.h"

static bool is_text(const struct task_finder *finder, py_addr object, const char *name)
{
	unsigned char bytes[64];
	struct object_room room = { bytes, sizeof(bytes) };
	const char *text;
	uint32_t size;

	return object_copy_str(finder->walker, object, &room, &text, &size) &&
	       size == strlen(name) && memcmp(text, name, size) == 0;
}

bool task_is_code(const struct task_finder *finder, py_addr code, const char *name)
{
	return is_text(finder, task_read_pointer(finder, code + finder->walker->layout->code_name),
		       name);
}

uint32_t task_find_variable(const struct task_finder *finder, py_addr code, const char *name)
{
	py_addr tuple = task_read_pointer(finder, code + finder->layout.code_names);
	uint64_t size;

	if (!task_read_word(finder, tuple + TUPLE_SIZE, &size))
		return TASK_NO_VARIABLE;
	for (uint32_t i = 0; i < size && i < TASK_NO_VARIABLE; i++) {
		py_addr at = tuple + finder->layout.tuple_items + 8ull * i;

		if (is_text(finder, task_read_pointer(finder, at), name))
			return i;
	}
	return TASK_NO_VARIABLE;
}

py_addr task_read_variable(const struct task_finder *finder, py_addr frame, uint32_t index)
{
	uint64_t word = 0;

	task_read_word(finder, frame + finder->layout.frame_locals + 8ull * index, &word);
	return word & ~(py_addr)7;
}

py_addr task_innermost_frame(const struct task_finder *finder, py_addr tstate)
{
	const struct py_layout *layout = finder->walker->layout;
	py_addr frame = task_read_pointer(finder, tstate + layout->thread_frame);

	if (layout->frame_kind == PY_FRAME_CFRAME && frame != 0)
		frame = task_read_pointer(finder, frame + layout->cframe_current_frame);
	return frame;
}

bool task_next_frame(const struct task_finder *finder, py_addr *frame, py_addr *code)
{
	const struct py_layout *layout = finder->walker->layout;
	const struct mem_reader *reader = finder->walker->reader;
	unsigned char copy[256];

	if (!is_pointer(*frame) || layout->frame_size > sizeof(copy) ||
	    !reader->read(reader, *frame, copy, layout->frame_size))
		return false;
	*code = load_u64(copy + layout->frame_code);
	if (layout->executable_tagged)
		*code &= ~(py_addr)7;
	*frame = load_u64(copy + layout->frame_previous);
	return true;
}
