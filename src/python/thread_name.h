/* thread_name.h - what threading calls a thread that it started.
 *
 * The outermost frame of such a thread is Thread._bootstrap, whose first
 * variable is the Thread, which has the name.  That is a handful of reads however many
 * threads there are, so a run asks so for each new one; remote/names.h
 * reads threading's own list of all threads. */
#ifndef HEATLINE_PYTHON_THREAD_NAME_H
#define HEATLINE_PYTHON_THREAD_NAME_H

#include "python/walk.h"

/* The name, terminated and cut to the room; place and code: of the outermost
 * frame, as the walker found them.  False when threading did not start the
 * thread, or it cannot be read. */
bool thread_name_read(const struct walker *walker, py_addr place, py_addr code, char *text, size_t size);

#endif
