/* gil.h - where an interpreter keeps its GIL, and who has it.
 *
 * A thread that waits for the GIL is blocked in a futex whose address lies in
 * this structure (its condition or its mutex), so no symbol and no C stack is
 * needed to know it. */
#ifndef HEATLINE_PYTHON_GIL_H
#define HEATLINE_PYTHON_GIL_H

#include "python/walk.h"

/* An interpreter's GIL.  From 3.12 on each may have its own. */
struct py_gil {
	py_addr start, end;   /* where it lies; 0: not known, or there is none */
	py_addr holder_place; /* where it says who has it, and how many bytes; 0: not known */
	uint32_t holder_size;
	py_addr holder;       /* the thread state that has it; 0: nobody, or not known */
};

#define GIL_HOLDER_BYTES 12u /* most of them */

/* Where it is; the holder is left 0. */
void gil_find(const struct walker *walker, py_addr runtime, py_addr interpreter, struct py_gil *gil);

/* Who has a GIL that was found before; gil_take for who has read those
 * bytes himself, along with others. */
void gil_refresh(const struct walker *walker, struct py_gil *gil);
void gil_take(struct py_gil *gil, const unsigned char *bytes);

/* The interpreter of a thread state, or 0. */
py_addr gil_interpreter(const struct walker *walker, py_addr tstate);

#endif
