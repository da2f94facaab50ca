/* instance.h - an attribute of a plain Python object, and what a thread is called.
 *
 * For objects of classes written in Python, which keep their attributes in a
 * dictionary, or in values whose keys the class has (3.11 and later).  As for
 * everything that is read from a target nothing is trusted: each step is a read
 * that can fail, and a dictionary that is being changed gives a wrong answer at
 * worst, which the caller checks for.  Not for builds without the GIL. */
#ifndef HEATLINE_PYTHON_INSTANCE_H
#define HEATLINE_PYTHON_INSTANCE_H

#include "python/objects.h"

/* Where the object keeps its attributes: the keys of a dictionary, and their values,
 * which stand beside the keys where *values is 0.  False when it has none. */
bool instance_find_keys(const struct walker *walker, py_addr object, py_addr *keys,
			py_addr *values);

/* The object that is the attribute's value, or 0. */
py_addr instance_attribute(const struct walker *walker, py_addr object, const char *name);

/* The name that threading.Thread has for the thread whose state this is, if
 * threading started it: its outermost frame is Thread._bootstrap, whose first
 * variable is the Thread.  outermost_code: the code object of that frame, as the
 * walker found it.  False when it cannot be read. */
bool instance_thread_name(const struct walker *walker, py_addr tstate, py_addr outermost_code,
			  struct object_room *room, const char **text, uint32_t *size);

#endif
