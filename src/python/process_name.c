/* process_name.c - see process_name.h. */
#include "python/process_name.h"

#include <string.h>

#include "python/inspect.h"
#include "python/objects.h"
#include "python/task_parts.h"

static bool read_name(const struct task_finder *finder, py_addr modules, const char *module,
		      char text[TASK_NAME_BYTES])
{
	struct object_room room = { (unsigned char *)text, TASK_NAME_BYTES - 1 };
	py_addr dict = task_module_dict(finder, modules, module);
	py_addr process = dict == 0 ? 0 : task_dict_text(finder, dict, "_current_process");
	py_addr name = process == 0 ? 0 : inspect_attribute(finder->walker, process, "_name");
	const char *start;
	uint32_t size;

	if (name == 0 || !object_copy_str(finder->walker, name, &room, &start, &size) || size == 0)
		return false;
	text[size] = '\0';
	return strcmp(text, "MainProcess") != 0;
}

bool process_name_read(struct task_finder *finder, char text[TASK_NAME_BYTES])
{
	py_addr modules = task_modules(finder);

	return modules != 0 && (read_name(finder, modules, "multiprocessing.process", text) ||
				read_name(finder, modules, "billiard.process", text));
}
