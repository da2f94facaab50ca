/* values.h - local variables of a frame, as short texts.
 *
 * Read from outside while the program runs: a value may change or be freed in
 * the middle of it, and then some text comes out, never a crash.  Nothing is
 * called in the program, so an object of its own classes is shown by its
 * type's name. */
#ifndef HEATLINE_REMOTE_VALUES_H
#define HEATLINE_REMOTE_VALUES_H

#include "base/buf.h"
#include "remote/remote.h"

#define REMOTE_LOCALS_MAX 100u
#define REMOTE_VALUE_BYTES 200u

struct remote_local {
	char name[80];
	char value[REMOTE_VALUE_BYTES + 4]; /* one line of text */
};

/* The variables that have a value, of the frame at `place` that runs the code
 * object at `code`; returns how many (at most REMOTE_LOCALS_MAX). */
uint32_t remote_locals_read(const struct remote *remote, py_addr code, py_addr place,
			    struct remote_local *locals);

/* The value of any object, cut at the buffer's maximum. */
void remote_value_put(const struct remote *remote, py_addr object, struct buf *text);

#endif
