/* task_parts.h - what tasks.c and its helpers share: objects of a target, read
 * field by field. */
#ifndef HEATLINE_PYTHON_TASK_PARTS_H
#define HEATLINE_PYTHON_TASK_PARTS_H

#include "python/tasks.h"

bool task_read_word(const struct task_finder *finder, py_addr addr, uint64_t *word);

/* A pointer at addr that may lead to an object; 0 when there is none. */
py_addr task_read_pointer(const struct task_finder *finder, py_addr addr);

/* What the object at addr is; OBJECT_OTHER also when it cannot be read. */
enum object_kind task_object_kind(struct task_finder *finder, py_addr addr);
enum object_kind task_type_kind(struct task_finder *finder, py_addr type);

/* The value under this (ASCII) key in a dict object, or 0. */
py_addr task_dict_text(const struct task_finder *finder, py_addr dict, const char *key);

/* The same for a dict that grows: entries that were passed are not looked at again. */
py_addr task_dict_new_text(const struct task_finder *finder, py_addr dict, const char *key,
			   struct task_passed *passed);

/* The same for a dict that is asked often and stands at `at`; *place is where the key was found
 * the last time, zero at first. */
py_addr task_dict_text_again(const struct task_finder *finder, py_addr at, const char *key,
			     struct task_place *place);

/* The value under this very object, or 0; looks at some dozens of entries. */
py_addr task_dict_object(const struct task_finder *finder, py_addr dict, py_addr key);

/* sys.modules; 0: it cannot be read. */
py_addr task_modules(struct task_finder *finder);

/* The dict of a module in it, or 0. */
py_addr task_module_dict(const struct task_finder *finder, py_addr modules, const char *name);

/* The values of these attributes (ASCII) of an object of a class written in Python; 0
 * where there is none.  False when it cannot be read, or has some dozens. */
bool task_find_attributes(const struct task_finder *finder, py_addr object,
			  const char *const *names, uint32_t count, py_addr *values);

/* --- frames of a running thread --- */

/* The innermost frame; 0: none. */
py_addr task_innermost_frame(const struct task_finder *finder, py_addr tstate);

/* The code object of the frame at *frame, which becomes the one outside of it.
 * False at the end, or when it cannot be read. */
bool task_next_frame(const struct task_finder *finder, py_addr *frame, py_addr *code);

/* The index of a variable of the code object; TASK_NO_VARIABLE: it has none. */
#define TASK_NO_VARIABLE 32u
uint32_t task_find_variable(const struct task_finder *finder, py_addr code, const char *name);

/* The value of a variable of a frame; 0: it has none now. */
py_addr task_read_variable(const struct task_finder *finder, py_addr frame, uint32_t index);

/* Whether the code object has this name. */
bool task_is_code(const struct task_finder *finder, py_addr code, const char *name);

/* --- trio, see task_trio.c --- */

bool trio_find(struct task_finder *finder, py_addr module);
void trio_running_loop(struct task_finder *finder, py_addr tstate, struct task_loop *loop);
bool trio_read_task(struct task_finder *finder, py_addr task, py_addr *coro, py_addr *name);
bool trio_read_step(struct task_finder *finder, const struct task_loop *loop,
		    struct task_step *step);

#endif
