/* tasks.c - from a process to its tasks. */
#include "python/tasks.h"

#include <string.h>

#include "python/asyncio_table.h"
#include "python/inspect.h"
#include "python/task_parts.h"

/* What the module publishes, from the files that the program has mapped. */
static bool read_table(const struct task_finder *finder, uint64_t *table)
{
	if (finder->files != NULL)
		return asyncio_table_search(finder->files, finder->file_count, table);
	return asyncio_table_read(finder->walker->reader->pid, table);
}

/* Coroutines are laid out as the interpreter says; from 3.14 on asyncio's tasks as
 * its own module does, which need not be there. */
static bool learn_layout(struct task_finder *finder, bool has_asyncio)
{
	const struct py_layout *layout = finder->walker->layout;
	const struct mem_reader *reader = finder->walker->reader;
	uint64_t table[ASYNCIO_TABLE_WORDS];
	const struct py_task_layout *known = py_task_layout_known(layout->version);

	if (known != NULL && layout->version < 0x030d) {
		finder->layout = *known;
		return true;
	}
	has_asyncio = has_asyncio && known == NULL;
	if (has_asyncio && !read_table(finder, table))
		return false;
	return py_task_layout_published(reader, finder->runtime, layout, has_asyncio ? table : NULL,
					&finder->layout) == 0;
}

py_addr task_modules(struct task_finder *finder)
{
	const struct py_layout *layout = finder->walker->layout;
	uint32_t offset = py_task_layout_modules(finder->walker->reader, finder->runtime, layout);
	py_addr interp = task_read_pointer(finder,
					   finder->runtime + layout->runtime_interpreters_head);

	return interp == 0 || offset == PY_ABSENT ? 0 : task_read_pointer(finder, interp + offset);
}

/* sys.modules, if more have been loaded since it was last looked through. */
static py_addr changed_modules(struct task_finder *finder)
{
	uint64_t count;

	if (finder->modules_dict != 0 &&
	    task_read_word(finder, finder->modules_dict + DICT_USED, &count) &&
	    count == finder->modules)
		return 0;

	py_addr modules = task_modules(finder);
	if (modules == 0 || !task_read_word(finder, modules + DICT_USED, &count) ||
	    count == finder->modules)
		return 0;
	finder->modules = count;
	finder->modules_dict = modules;
	return modules;
}

/* The dict of a module that may have been loaded since it was last looked for, or 0. */
static py_addr new_module_dict(const struct task_finder *finder, py_addr modules,
			       const char *name, struct task_passed *passed)
{
	py_addr module = task_dict_new_text(finder, modules, name, passed);

	return module == 0 ? 0 : task_read_pointer(finder, module + MODULE_DICT);
}

py_addr task_module_dict(const struct task_finder *finder, py_addr modules, const char *name)
{
	struct task_passed passed = { 0 };

	return new_module_dict(finder, modules, name, &passed);
}

/* --- asyncio --- */

/* All live tasks; from 3.14 on only those of the type that is written in Python. */
static bool find_set(struct task_finder *finder, py_addr module)
{
	py_addr weak_set = task_dict_text(finder, module, "_all_tasks");

	if (weak_set == 0)
		weak_set = task_dict_text(finder, module, "_scheduled_tasks");
	finder->all_tasks = weak_set == 0 ? 0 : inspect_attribute(finder->walker, weak_set, "data");
	finder->current_tasks = task_dict_text(finder, module, "_current_tasks");
	return task_object_kind(finder, finder->all_tasks) == OBJECT_SET &&
	       finder->current_tasks != 0;
}

static void find_asyncio(struct task_finder *finder, py_addr modules)
{
	py_addr module = new_module_dict(finder, modules, "asyncio.tasks", &finder->no_asyncio);

	if (module == 0 || !learn_layout(finder, true) || !find_set(finder, module))
		return;
	finder->python_task_type = task_dict_text(finder, module, "_PyTask");
	finder->task_type = task_dict_text(finder, module, "_CTask");
	memset(finder->types, 0, sizeof(finder->types));
}

/* --- either --- */

bool tasks_find(struct task_finder *finder)
{
	bool has_trio = finder->trio.task_type != 0;

	if (finder->task_type == 0 || !has_trio) {
		py_addr modules = changed_modules(finder), module = 0;

		if (modules != 0 && finder->task_type == 0)
			find_asyncio(finder, modules);
		if (modules != 0 && !has_trio)
			module = new_module_dict(finder, modules, "trio._core._run",
						 &finder->no_trio);
		if (module != 0 && (finder->task_type != 0 || learn_layout(finder, false)))
			has_trio = trio_find(finder, module);
	}
	return finder->task_type != 0 || has_trio;
}

/* A thread whose loop has ended, and the child of a fork, have None in its place. */
static py_addr asyncio_running_loop(struct task_finder *finder, py_addr tstate)
{
	py_addr loop;

	if (finder->layout.thread_loop != PY_ABSENT)
		return task_read_pointer(finder, tstate + finder->layout.thread_loop);
	loop = task_dict_text_again(finder, tstate + finder->layout.thread_dict,
				    "__asyncio_running_event_loop__", &finder->loop_place);
	if (loop != 0 && finder->layout.is_loop_held)
		loop = task_read_pointer(finder, loop + HOLDER_LOOP);
	if (loop == 0 || loop == finder->last_loop) /* None is always the same object */
		return loop;
	if (task_object_kind(finder, loop) == OBJECT_NONE)
		return 0;
	finder->last_loop = loop;
	return loop;
}

bool tasks_running_loop(struct task_finder *finder, py_addr tstate, struct task_loop *loop)
{
	*loop = (struct task_loop){ 0 };
	if (finder->task_type != 0)
		loop->object = asyncio_running_loop(finder, tstate);
	if (loop->object == 0 && finder->trio.task_type != 0)
		trio_running_loop(finder, tstate, loop);
	return loop->object != 0;
}

bool tasks_has_current(struct task_finder *finder, py_addr tstate, const struct task_loop *loop)
{
	if (loop->is_trio)
		return loop->step_frame != 0;
	if (finder->layout.thread_task != PY_ABSENT &&
	    task_read_pointer(finder, tstate + finder->layout.thread_task) != 0)
		return true;
	return task_dict_object(finder, finder->current_tasks, loop->object) != 0;
}
