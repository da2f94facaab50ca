/* instructions.h - where the instructions lie that a frame runs.
 *
 * Since 3.11 they end the code object itself.  Without the GIL (3.14 and later)
 * only the first thread runs those: each other has a copy of its own, since the
 * interpreter rewrites them as it learns.  The frame says which, and the code
 * object leads to a table of them.
 *
 * A frame's place is therefore asked for, never reckoned from the code object's
 * address, and where a copy begins is never kept: it goes when its thread does.
 *
 * Signal-safe: everything here. */
#ifndef HEATLINE_PYTHON_INSTRUCTIONS_H
#define HEATLINE_PYTHON_INSTRUCTIONS_H

#include <stdbool.h>

#include "python/bits.h"
#include "python/layout.h"
#include "python/reader.h"

/* Which copy a frame runs; frame: its first layout->frame_size bytes. */
static inline uint32_t instructions_copy(const struct py_layout *layout, const unsigned char *frame)
{
	return layout->has_copies ? load_u32(frame + layout->frame_copy) : 0;
}

/* Where this copy of the code object's instructions begins: two reads, or none where it is
 * the code object's own.  False when it cannot be found. */
bool instructions_find(const struct mem_reader *reader, const struct py_layout *layout, py_addr code,
		       uint32_t copy, py_addr *start);

#endif
