/* task_read.c - from a task to its frames.
 *
 * The hard idea: what a suspended coroutine awaits lies on top of its own
 * evaluation stack, so the chain of coroutines can be followed without asking
 * anybody.  What must hold: each object's type is checked before its fields are
 * believed, and a chain has at most TASK_MAX_FRAMES hops. */
#include <stdio.h>
#include <string.h>

#include "python/bits.h"
#include "python/instructions.h"
#include "python/objects.h"
#include "python/task_parts.h"

#define OBJECT_BYTES 512u /* a coroutine with its frame, as a rule */
#define HEAD_BYTES (WRAPPER_INNER + 8u)
#define OP_YIELD_FROM 72u /* 3.8-3.10 */
#define OP_RESUME 151u    /* 3.11, 3.12 */

/* An object with as much behind it as may be of use: one read tells its type and its fields. */
struct object_copy {
	py_addr addr;
	uint32_t size;
	unsigned char bytes[OBJECT_BYTES];
};

static bool copy_bytes(const struct task_finder *finder, struct object_copy *copy, uint32_t size)
{
	const struct mem_reader *reader = finder->walker->reader;

	copy->size = size;
	return size >= HEAD_BYTES && size <= OBJECT_BYTES &&
	       reader->read(reader, copy->addr, copy->bytes, size);
}

/* What the object is.  It may lie at the end of what can be read, so less is copied where it
 * must be: so many bytes as it has if it is what is looked for, or its head. */
static enum object_kind copy_object(struct task_finder *finder, py_addr object, uint32_t least,
				    struct object_copy *copy)
{
	uint32_t type_at = finder->walker->layout->object_type;

	copy->addr = object;
	if (!is_pointer(object) || type_at + 8 > HEAD_BYTES ||
	    (!copy_bytes(finder, copy, OBJECT_BYTES) && !copy_bytes(finder, copy, least) &&
	     !copy_bytes(finder, copy, HEAD_BYTES)))
		return OBJECT_OTHER;
	return task_type_kind(finder, load_u64(copy->bytes + type_at));
}

static uint32_t coro_bytes(const struct task_finder *finder)
{
	return finder->layout.gen_frame +
	       (finder->layout.state == STATE_GENERATOR ? finder->walker->layout->frame_size : 8);
}

static uint32_t task_bytes(const struct task_finder *finder)
{
	const struct py_task_layout *row = &finder->layout;

	return (row->task_name > row->task_coro ? row->task_name : row->task_coro) + 8;
}

/* A generator, coroutine or asynchronous generator that is suspended. */
struct coro_view {
	py_addr code;
	uint32_t offset;
	py_addr awaited; /* 0: none, or not known */
	bool is_awaiting; /* by await or yield from, as far as its state tells */
};

/* Whether the instruction after the last is that of yield from or await; only
 * generators need asking. */
static bool awaits_by_opcode(const struct task_finder *finder, const struct coro_view *view,
			     py_addr next)
{
	const struct mem_reader *reader = finder->walker->reader;
	uint8_t unit[2];

	if (finder->layout.state != STATE_GENERATOR) {
		py_addr bytes = task_read_pointer(finder,
						  view->code + finder->walker->layout->code_code);

		next = bytes + finder->walker->layout->bytes_data + view->offset + 2;
		return bytes != 0 && reader->read(reader, next, unit, sizeof(unit)) &&
		       unit[0] == OP_YIELD_FROM;
	}
	return reader->read(reader, next, unit, sizeof(unit)) && unit[0] == OP_RESUME &&
	       (unit[1] & 3) >= 2;
}

/* 3.8 to 3.10: the frame is an object of its own. */
static bool read_old(const struct task_finder *finder, const struct object_copy *coro,
		     bool is_generator, struct coro_view *view)
{
	const struct py_task_layout *row = &finder->layout;
	const struct py_layout *layout = finder->walker->layout;
	const struct mem_reader *reader = finder->walker->reader;
	py_addr frame, top;
	unsigned char at[128];
	int32_t last;

	if (coro->size < coro_bytes(finder))
		return false;
	frame = load_u64(coro->bytes + row->gen_frame);
	if (!is_pointer(frame) || !reader->read(reader, frame, at, sizeof(at)))
		return false;
	memcpy(&last, at + layout->frame_instr, sizeof(last));
	if (row->state == STATE_STACKTOP) {
		top = load_u64(at + row->frame_depth);
	} else {
		uint32_t depth = load_u32(at + row->frame_depth);

		if ((int8_t)at[row->frame_state] != row->state_first || depth > 1u << 20)
			return false;
		top = load_u64(at + row->frame_stack) + 8ull * depth;
	}
	view->code = load_u64(at + layout->frame_code);
	if (last < 0 || !is_pointer(top) || !is_pointer(view->code))
		return false;
	view->offset = (uint32_t)last * layout->lasti_scale;
	view->awaited = top > load_u64(at + row->frame_stack)
				? task_read_pointer(finder, top - row->awaited_back)
				: 0;
	view->is_awaiting = !is_generator || awaits_by_opcode(finder, view, 0);
	return true;
}

/* The word of the target at addr, from the copy where it holds it. */
static uint64_t word_near(const struct task_finder *finder, py_addr addr,
			  const struct object_copy *copy)
{
	uint64_t word = 0;

	if (addr >= copy->addr && addr - copy->addr + 8 <= copy->size)
		return load_u64(copy->bytes + (addr - copy->addr));
	return task_read_word(finder, addr, &word) ? word : 0;
}

/* 3.11 and later: the frame is within the generator. */
static bool read_new(const struct task_finder *finder, const struct object_copy *coro,
		     bool is_generator, struct coro_view *view)
{
	const struct py_task_layout *row = &finder->layout;
	const struct py_layout *layout = finder->walker->layout;
	const unsigned char *frame = coro->bytes + row->gen_frame;
	int64_t offset;
	py_addr top, instr, start;
	int8_t state;

	if (coro->size < coro_bytes(finder) || row->gen_state >= coro->size)
		return false;
	state = (int8_t)coro->bytes[row->gen_state];
	if (state < row->state_first || state > row->state_last)
		return false;
	view->code = load_u64(frame + layout->frame_code) &
		     ~(py_addr)(layout->executable_tagged ? 7 : 0);
	instr = load_u64(frame + layout->frame_instr);
	if (!is_pointer(view->code) ||
	    !instructions_find(finder->walker->reader, layout, view->code,
			       instructions_copy(layout, frame), &start))
		return false;
	offset = (int64_t)(instr - start);
	if (offset < 0 || offset > 64 << 20)
		return false;
	view->offset = (uint32_t)offset;
	if (row->source == TASKS_LIST)
		top = load_u64(frame + row->frame_depth);
	else
		top = coro->addr + row->gen_frame + row->frame_locals +
		      8ull * (load_u32(frame + row->frame_depth) & 0xffffff);
	view->awaited = word_near(finder, top - row->awaited_back, coro) & ~(py_addr)7;
	view->is_awaiting = row->state_awaiting != INT8_MIN ? state >= row->state_awaiting
				: !is_generator || awaits_by_opcode(finder, view, instr + 2);
	return true;
}

static bool read_coro(const struct task_finder *finder, const struct object_copy *coro,
		      enum object_kind kind, struct coro_view *view)
{
	bool is_generator = kind == OBJECT_GENERATOR;

	return finder->layout.state == STATE_GENERATOR ? read_new(finder, coro, is_generator, view)
						       : read_old(finder, coro, is_generator, view);
}

/* Follows the chain of what is awaited; the frames come outermost first. */
static uint32_t follow_chain(struct task_finder *finder, py_addr object, struct walk_frame *frames)
{
	uint32_t count = 0;

	for (uint32_t hops = 0; hops < 2 * TASK_MAX_FRAMES && count < TASK_MAX_FRAMES; hops++) {
		struct object_copy copy;
		enum object_kind kind = copy_object(finder, object, coro_bytes(finder), &copy);
		struct coro_view view;

		if (kind == OBJECT_WRAPPER) {
			object = load_u64(copy.bytes + WRAPPER_INNER);
			continue;
		}
		if ((kind != OBJECT_COROUTINE && kind != OBJECT_GENERATOR) ||
		    !read_coro(finder, &copy, kind, &view))
			break;
		frames[count++] = (struct walk_frame){ .code = view.code, .offset = view.offset };
		if (!view.is_awaiting)
			break;
		object = view.awaited;
	}
	return count;
}

/* A name that was not asked for is kept as a number from 3.12 on. */
bool task_read_name(struct task_finder *finder, const struct task_view *view,
		    char text[TASK_NAME_BYTES])
{
	py_addr name = view->name;
	enum object_kind kind = task_object_kind(finder, name);
	struct object_room room = { (unsigned char *)text, TASK_NAME_BYTES - 1 };
	const char *start;
	uint64_t digits[2];
	uint32_t size;

	if (kind == OBJECT_STR && object_copy_str(finder->walker, name, &room, &start, &size)) {
		text[size] = '\0';
		return true;
	}
	if (kind != OBJECT_INT || finder->layout.version < 0x030c ||
	    !finder->walker->reader->read(finder->walker->reader, name + INT_TAG, digits,
					  sizeof(digits)) ||
	    digits[0] >> 3 > 1)
		return false;
	snprintf(text, TASK_NAME_BYTES, "Task-%u", (unsigned)(digits[1] & 0x3fffffff));
	return true;
}

/* --- the three kinds of tasks --- */

/* What is known of a task before its coroutine is read. */
struct task_head {
	py_addr loop, coro, name;
};

/* asyncio's own type, in C. */
static bool read_native(const struct task_finder *finder, const struct object_copy *task,
			struct task_head *head)
{
	const struct py_task_layout *row = &finder->layout;

	if (task->size < task_bytes(finder))
		return false;
	head->loop = load_u64(task->bytes + row->task_loop);
	head->coro = load_u64(task->bytes + row->task_coro);
	head->name = load_u64(task->bytes + row->task_name);
	return true;
}

/* The same written in Python. */
static bool read_python(const struct task_finder *finder, py_addr task, struct task_head *head)
{
	static const char *const names[] = { "_loop", "_coro", "_name" };
	py_addr values[3];

	if (!task_find_attributes(finder, task, names, 3, values))
		return false;
	*head = (struct task_head){ values[0], values[1], values[2] };
	return true;
}

static bool read_head(struct task_finder *finder, py_addr task, const struct task_loop *loop,
		      struct task_head *head)
{
	struct object_copy copy;
	enum object_kind kind = copy_object(finder, task, task_bytes(finder), &copy);

	if (kind == OBJECT_TRIO_TASK && loop->is_trio) {
		head->loop = loop->object; /* the set has no others */
		return trio_read_task(finder, task, &head->coro, &head->name);
	}
	if (kind == OBJECT_PYTHON_TASK)
		return read_python(finder, task, head);
	return kind == OBJECT_TASK && read_native(finder, &copy, head);
}

enum task_result task_read(struct task_finder *finder, py_addr task, const struct task_loop *loop,
			   struct task_view *view)
{
	struct task_head head;

	if (!read_head(finder, task, loop, &head))
		return TASK_TORN;
	if (head.loop != loop->object || head.coro == 0)
		return TASK_OTHER;
	view->count = follow_chain(finder, head.coro, view->frames);
	if (view->count == 0)
		return TASK_OTHER;
	view->name = head.name;
	for (uint32_t i = 0; i < view->count / 2; i++) {
		struct walk_frame frame = view->frames[i];

		view->frames[i] = view->frames[view->count - 1 - i];
		view->frames[view->count - 1 - i] = frame;
	}
	return TASK_WAITS;
}
