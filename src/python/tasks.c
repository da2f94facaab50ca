/* tasks.c - from a process to its tasks, from a task to its frames.
 *
 * The hard idea: what a suspended coroutine awaits lies on top of its own
 * evaluation stack, so the chain of coroutines can be followed without asking
 * anybody.  What must hold: each object's type is checked before its fields are
 * believed, and a chain has at most TASK_MAX_FRAMES hops. */
#include "python/tasks.h"

#include <stdio.h>
#include <string.h>

#include "python/asyncio_table.h"
#include "python/bits.h"
#include "python/objects.h"
#include "python/task_parts.h"

#define CORO_BYTES 512u /* a coroutine with its frame, as a rule */
#define OP_YIELD_FROM 72u /* 3.8-3.10 */
#define OP_RESUME 151u    /* 3.11, 3.12 */

/* --- where asyncio keeps them --- */

static bool read_table(const struct task_finder *finder, uint64_t *table)
{
	if (finder->files != NULL)
		return asyncio_table_search(finder->files, finder->file_count, table);
	return asyncio_table_read(finder->walker->reader->pid, table);
}

static bool learn_layout(struct task_finder *finder)
{
	const struct py_layout *layout = finder->walker->layout;
	const struct mem_reader *reader = finder->walker->reader;
	uint64_t table[ASYNCIO_TABLE_WORDS];
	const struct py_task_layout *known = py_task_layout_known(layout->version);

	if (known != NULL && layout->version < 0x030d) {
		finder->layout = *known;
		return true;
	}
	if (known == NULL && !read_table(finder, table))
		return false;
	return py_task_layout_published(reader, finder->runtime, layout,
					known == NULL ? table : NULL, &finder->layout) == 0;
}

/* The set inside a WeakSet: the attribute that its __init__ sets first. */
static py_addr weak_set_data(struct task_finder *finder, py_addr weak_set)
{
	py_addr dict = 0, values = 0;
	uint64_t word = 0;

	switch ((enum task_source)finder->layout.source) {
	case TASKS_DICT:
		dict = task_read_pointer(finder, weak_set + OBJECT_HEAD);
		break;
	case TASKS_VALUES:
		dict = task_read_pointer(finder, weak_set - 24);
		values = task_read_pointer(finder, weak_set - 32);
		break;
	case TASKS_TAGGED:
		if (!task_read_word(finder, weak_set - 24, &word))
			return 0;
		dict = (word & 1) != 0 ? 0 : word;
		values = (word & 1) != 0 ? word + 1 : 0;
		break;
	case TASKS_INLINE:
		values = weak_set + OBJECT_HEAD + 8;
		break;
	case TASKS_LIST:
		return 0;
	}
	if (dict != 0) {
		values = task_read_pointer(finder, dict + DICT_VALUES);
		if (values == 0)
			return task_dict_text(finder, dict, "data");
	}
	return task_read_pointer(finder, values);
}

static bool find_set(struct task_finder *finder, py_addr module)
{
	py_addr weak_set = task_dict_text(finder, module, "_all_tasks");

	if (weak_set == 0)
		weak_set = task_dict_text(finder, module, "_scheduled_tasks");
	finder->all_tasks = weak_set == 0 ? 0 : weak_set_data(finder, weak_set);
	finder->current_tasks = task_dict_text(finder, module, "_current_tasks");
	return task_object_kind(finder, finder->all_tasks) == OBJECT_SET &&
	       finder->current_tasks != 0;
}

/* sys.modules, if more have been loaded since it was last looked through. */
static py_addr changed_modules(struct task_finder *finder)
{
	const struct py_layout *layout = finder->walker->layout;
	uint32_t offset = py_task_layout_modules(finder->walker->reader, finder->runtime, layout);
	py_addr interp = task_read_pointer(finder,
					   finder->runtime + layout->runtime_interpreters_head);
	py_addr modules = interp == 0 || offset == PY_ABSENT
				  ? 0
				  : task_read_pointer(finder, interp + offset);
	uint64_t count;

	if (modules == 0 || !task_read_word(finder, modules + DICT_USED, &count) ||
	    count == finder->modules)
		return 0;
	finder->modules = count;
	finder->layout.has_wide_keys = layout->version < 0x030b;
	return modules;
}

bool tasks_find(struct task_finder *finder)
{
	py_addr modules, module;

	if (finder->task_type != 0)
		return true;
	modules = changed_modules(finder);
	module = modules == 0 ? 0 : task_dict_text(finder, modules, "asyncio.tasks");
	module = module == 0 ? 0 : task_read_pointer(finder, module + MODULE_DICT);
	if (module == 0)
		return false;
	if (!finder->has_layout)
		finder->has_layout = learn_layout(finder);
	if (!finder->has_layout ||
	    (finder->layout.source != TASKS_LIST && !find_set(finder, module)))
		return false;
	finder->task_type = task_dict_text(finder, module, "_CTask");
	memset(finder->types, 0, sizeof(finder->types));
	return finder->task_type != 0;
}

py_addr tasks_running_loop(struct task_finder *finder, py_addr tstate)
{
	py_addr dict, loop;

	if (finder->layout.thread_loop != PY_ABSENT)
		return task_read_pointer(finder, tstate + finder->layout.thread_loop);
	dict = task_read_pointer(finder, tstate + finder->layout.thread_dict);
	loop = dict == 0 ? 0 : task_dict_text(finder, dict, "__asyncio_running_event_loop__");
	if (loop != 0 && finder->layout.is_loop_held)
		loop = task_read_pointer(finder, loop + HOLDER_LOOP);
	return loop;
}

bool tasks_has_current(struct task_finder *finder, py_addr tstate, py_addr loop)
{
	if (finder->layout.thread_task != PY_ABSENT)
		return task_read_pointer(finder, tstate + finder->layout.thread_task) != 0;
	return task_dict_object(finder, finder->current_tasks, loop) != 0;
}

/* --- one task --- */

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
static bool read_old(struct task_finder *finder, py_addr coro, bool is_generator,
		     struct coro_view *view)
{
	const struct py_task_layout *row = &finder->layout;
	const struct py_layout *layout = finder->walker->layout;
	const struct mem_reader *reader = finder->walker->reader;
	py_addr frame = task_read_pointer(finder, coro + row->gen_frame), top;
	unsigned char at[128];
	int32_t last;

	if (frame == 0 || !reader->read(reader, frame, at, sizeof(at)))
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

/* The word of the target at addr, from a copy of `size` bytes at base where it
 * holds it. */
static uint64_t word_near(const struct task_finder *finder, py_addr addr, py_addr base,
			  const unsigned char *copy, uint32_t size)
{
	uint64_t word = 0;

	if (addr >= base && addr - base + 8 <= size)
		return load_u64(copy + (addr - base));
	return task_read_word(finder, addr, &word) ? word : 0;
}

/* 3.11 and later: the frame is within the generator. */
static bool read_new(struct task_finder *finder, py_addr coro, bool is_generator,
		     struct coro_view *view)
{
	const struct py_task_layout *row = &finder->layout;
	const struct py_layout *layout = finder->walker->layout;
	const struct mem_reader *reader = finder->walker->reader;
	unsigned char copy[CORO_BYTES];
	const unsigned char *frame = copy + row->gen_frame;
	uint32_t need = row->gen_frame + layout->frame_size, size = CORO_BYTES;
	int64_t offset;
	py_addr top, instr;
	int8_t state;

	if (need > CORO_BYTES)
		return false;
	if (!reader->read(reader, coro, copy, size)) {
		size = need; /* it lies at the end of what can be read */
		if (!reader->read(reader, coro, copy, size))
			return false;
	}
	state = (int8_t)copy[row->gen_state];
	if (state < row->state_first || state > row->state_last)
		return false;
	view->code = load_u64(frame + layout->frame_code) &
		     ~(py_addr)(layout->executable_tagged ? 7 : 0);
	instr = load_u64(frame + layout->frame_instr);
	offset = (int64_t)(instr - (view->code + layout->code_code));
	if (!is_pointer(view->code) || offset < 0 || offset > 64 << 20)
		return false;
	view->offset = (uint32_t)offset;
	if (row->source == TASKS_LIST)
		top = load_u64(frame + row->frame_depth);
	else
		top = coro + row->gen_frame + row->frame_locals +
		      8ull * (load_u32(frame + row->frame_depth) & 0xffffff);
	view->awaited = word_near(finder, top - row->awaited_back, coro, copy, size) & ~(py_addr)7;
	view->is_awaiting = row->state_awaiting != INT8_MIN ? state >= row->state_awaiting
				: !is_generator || awaits_by_opcode(finder, view, instr + 2);
	return true;
}

static bool read_coro(struct task_finder *finder, py_addr coro, enum object_kind kind,
		      struct coro_view *view)
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
		enum object_kind kind = task_object_kind(finder, object);
		struct coro_view view;

		if (kind == OBJECT_WRAPPER) {
			object = task_read_pointer(finder, object + WRAPPER_INNER);
			continue;
		}
		if ((kind != OBJECT_COROUTINE && kind != OBJECT_GENERATOR) ||
		    !read_coro(finder, object, kind, &view))
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

enum task_result task_read(struct task_finder *finder, py_addr task, py_addr loop,
			   struct task_view *view)
{
	const struct py_task_layout *row = &finder->layout;
	unsigned char head[256];
	uint32_t need = (row->task_name > row->task_coro ? row->task_name : row->task_coro) + 8;
	const struct mem_reader *reader = finder->walker->reader;
	py_addr type;

	if (!is_pointer(task) || need > sizeof(head) || !reader->read(reader, task, head, need))
		return TASK_TORN;
	type = load_u64(head + finder->walker->layout->object_type);
	if (task_type_kind(finder, type) != OBJECT_TASK)
		return TASK_TORN;
	if (load_u64(head + row->task_loop) != loop)
		return TASK_OTHER;
	view->count = follow_chain(finder, load_u64(head + row->task_coro), view->frames);
	if (view->count == 0)
		return TASK_OTHER;
	view->name = load_u64(head + row->task_name);
	for (uint32_t i = 0; i < view->count / 2; i++) {
		struct walk_frame frame = view->frames[i];

		view->frames[i] = view->frames[view->count - 1 - i];
		view->frames[view->count - 1 - i] = frame;
	}
	return TASK_WAITS;
}
