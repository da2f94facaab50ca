/* task_trio.c - the tasks of trio.
 *
 * trio.run() keeps its Runner in a variable, so the frame of that function on a
 * thread's stack leads to it; the Runner has the set of its tasks, a Task its
 * coroutine and its name.  Both classes have slots, and a slot's descriptor in the
 * class knows where it lies.  Steps are run by the generator unrolled_run(), so
 * that is on the stack above run() just while a task runs.
 *
 * Everything is found by name when trio has been loaded; where a name is missing or
 * is something else, this trio is not read at all. */
#include <string.h>

#include "python/bits.h"
#include "python/objects.h"
#include "python/task_parts.h"

#define HOPS_MAX 256u
#define SLOT_MAX 4096u

/* The code object of a function of the module that has this name, or 0. */
static py_addr find_code(const struct task_finder *finder, py_addr module, const char *name)
{
	py_addr function = task_dict_text(finder, module, name);
	py_addr code = function == 0 ? 0
				     : task_read_pointer(finder, function +
									 finder->layout.function_code);

	return code != 0 && task_is_code(finder, code, name) ? code : 0;
}

/* Where objects of the class keep this slot; 0: nowhere. */
static uint32_t find_slot(struct task_finder *finder, py_addr type, const char *name)
{
	py_addr dict = task_read_pointer(finder, type + TYPE_DICT);
	py_addr member = dict == 0 ? 0 : task_dict_text(finder, dict, name), definition;
	uint64_t offset;

	if (member == 0 || task_object_kind(finder, member) != OBJECT_MEMBER)
		return 0;
	definition = task_read_pointer(finder, member + MEMBER_DEFINITION);
	if (definition == 0 || !task_read_word(finder, definition + DEFINITION_OFFSET, &offset) ||
	    offset < OBJECT_HEAD || offset > SLOT_MAX || offset % 8 != 0)
		return 0;
	return (uint32_t)offset;
}

bool trio_find(struct task_finder *finder, py_addr module)
{
	struct trio_facts trio = {
		.task_type = task_dict_text(finder, module, "Task"),
		.runner_type = task_dict_text(finder, module, "Runner"),
		.run = find_code(finder, module, "run"),
		.unrolled_run = find_code(finder, module, "unrolled_run"),
	};

	if (trio.task_type == 0 || trio.runner_type == 0 || trio.run == 0 || trio.unrolled_run == 0)
		return false;
	trio.runner_index = task_find_variable(finder, trio.run, "runner");
	trio.task_index = task_find_variable(finder, trio.unrolled_run, "task");
	trio.runner_tasks = find_slot(finder, trio.runner_type, "tasks");
	trio.task_coro = find_slot(finder, trio.task_type, "coro");
	trio.task_name = find_slot(finder, trio.task_type, "name");
	trio.task_points = find_slot(finder, trio.task_type, "_schedule_points");
	if (trio.runner_index == TASK_NO_VARIABLE || trio.task_index == TASK_NO_VARIABLE ||
	    trio.runner_tasks == 0 || trio.task_coro == 0 || trio.task_name == 0 ||
	    trio.task_points == 0)
		return false;
	finder->trio = trio;
	memset(finder->types, 0, sizeof(finder->types));
	return true;
}

static bool is_runner(const struct task_finder *finder, py_addr object)
{
	return is_pointer(object) &&
	       task_read_pointer(finder, object + finder->walker->layout->object_type) ==
		       finder->trio.runner_type;
}

void trio_running_loop(struct task_finder *finder, py_addr tstate, struct task_loop *loop)
{
	py_addr frame = task_innermost_frame(finder, tstate), step_frame = 0, code;

	for (uint32_t i = 0; i < HOPS_MAX; i++) {
		py_addr here = frame;

		if (!task_next_frame(finder, &frame, &code))
			return;
		if (code == finder->trio.unrolled_run)
			step_frame = here;
		if (code != finder->trio.run)
			continue;
		py_addr runner = task_read_variable(finder, here, finder->trio.runner_index);

		if (is_runner(finder, runner))
			*loop = (struct task_loop){ runner, true, step_frame };
		return;
	}
}

/* trio's own tasks have names in angle brackets; they wait as long as it runs. */
static bool is_own(const struct task_finder *finder, py_addr name)
{
	unsigned char bytes[TASK_NAME_BYTES];
	struct object_room room = { bytes, sizeof(bytes) };
	const char *text;
	uint32_t size;

	return object_copy_str(finder->walker, name, &room, &text, &size) && size > 0 &&
	       text[0] == '<';
}

bool trio_read_task(struct task_finder *finder, py_addr task, py_addr *coro, py_addr *name)
{
	*coro = task_read_pointer(finder, task + finder->trio.task_coro);
	*name = task_read_pointer(finder, task + finder->trio.task_name);
	if (*coro == 0 || *name == 0)
		return false;
	if (is_own(finder, *name))
		*coro = 0;
	return true;
}

bool trio_read_step(struct task_finder *finder, const struct task_loop *loop,
		    struct task_step *step)
{
	const struct mem_reader *reader = finder->walker->reader;
	uint32_t digit;
	py_addr points;

	if (loop->step_frame == 0)
		return true;
	step->handle = task_read_variable(finder, loop->step_frame, finder->trio.task_index);
	if (step->handle == 0 || task_object_kind(finder, step->handle) != OBJECT_TRIO_TASK) {
		step->handle = 0; /* between two of them */
		return true;
	}
	points = task_read_pointer(finder, step->handle + finder->trio.task_points);
	if (task_object_kind(finder, points) != OBJECT_INT ||
	    !reader->read(reader, points + INT_DIGIT, &digit, sizeof(digit)))
		return false;
	step->turn = digit; /* how many steps it has taken */
	return true;
}
