/* objects.h - copy str and bytes objects out of a target.
 *
 * Signal-safe: everything here. */
#ifndef HEATLINE_PYTHON_OBJECTS_H
#define HEATLINE_PYTHON_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "python/walk.h"

#define OBJECT_STR_MAX 1000u /* bytes of a text; longer ones are cut between characters */

/* What is left of the caller's buffer.  Each copy takes from its front. */
struct object_room {
	unsigned char *at;
	size_t left;
};

/* Copies the str object at addr as UTF-8; what cannot be said in UTF-8 is
 * replaced by U+FFFD.  False when it is none or cannot be read. */
bool object_copy_str(const struct walker *walker, py_addr addr, struct object_room *room,
		     const char **text, uint32_t *size);

/* Copies what the bytes object at addr holds.  False also when it does not fit. */
bool object_copy_bytes(const struct walker *walker, py_addr addr, struct object_room *room,
		       const unsigned char **data, uint32_t *size);

/* Copies size bytes at addr. */
bool object_copy_memory(const struct walker *walker, py_addr addr, uint64_t size,
			struct object_room *room, const unsigned char **data, uint32_t *data_size);

#endif
