/* gil.h - where an interpreter keeps its GIL.
 *
 * A thread that waits for the GIL is blocked in a futex whose address lies in
 * this structure (its condition or its mutex), so no symbol and no C stack is
 * needed to know it. */
#ifndef HEATLINE_PYTHON_GIL_H
#define HEATLINE_PYTHON_GIL_H

#include "python/walk.h"

/* The GIL that the thread state's interpreter takes: *start to *end.  False when
 * it has none or it is not known. */
bool gil_find(const struct walker *walker, py_addr runtime, py_addr tstate, py_addr *start,
	      py_addr *end);

#endif
