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

/* The value under this very object, or 0; looks at some dozens of entries. */
py_addr task_dict_object(const struct task_finder *finder, py_addr dict, py_addr key);

#endif
