/* fetch.h - copies of a target's memory, kept while one stack is walked.
 *
 * One system call costs much the same whatever its size up to some KB, so more
 * is copied than was asked for: whole pages, several of which are kept, and one
 * larger piece for the frame stack of 3.11 and later, which the caller chooses.
 *
 * Signal-safe: everything here. */
#ifndef HEATLINE_PYTHON_FETCH_H
#define HEATLINE_PYTHON_FETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "python/reader.h"
#include "python/walk.h"

#define FETCH_BYTES_MAX 256u /* the most that may be asked for at once */
#define FETCH_WINDOWS (WALK_PAGES + WALK_CHUNK_BYTES / WALK_PAGE_BYTES)

/* A copy of size bytes of the target at start; size 0: none. */
struct fetch_window {
	py_addr start;
	uint32_t size;
	unsigned char *bytes; /* into the caller's scratch memory */
};

struct fetch {
	const struct mem_reader *reader;
	struct fetch_window stack;                /* of the frame stack */
	struct fetch_window pages[FETCH_WINDOWS]; /* of anything else */
	uint32_t page_count, next_page;
	unsigned char odd[FETCH_BYTES_MAX];       /* what crosses two pages */
};

/* Where the target has no frame stack, its room serves for further pages. */
void fetch_init(struct fetch *fetch, const struct mem_reader *reader, struct walk_scratch *scratch,
		bool has_stack);

/* size bytes of the target at addr, valid until the next call; NULL when they
 * cannot be read. */
const unsigned char *fetch_bytes(struct fetch *fetch, py_addr addr, uint32_t size);

/* Copies a part of the frame stack, at most WALK_CHUNK_BYTES, in place of the
 * one before.  Where that fails, fetch_bytes() finds its own way. */
void fetch_stack(struct fetch *fetch, py_addr start, uint32_t size);

/* Whether these bytes are in the copied part of the frame stack, or at hand
 * without a copy. */
bool fetch_has_stack(const struct fetch *fetch, py_addr addr, uint32_t size);

#endif
