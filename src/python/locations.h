/* locations.h - from an instruction to its line and columns.
 *
 * Decodes the three formats that CPython has used (lnotab, PEP 626 line
 * table, location table).  The tables come from a target process: hostile
 * bytes give some line, never a crash or an endless loop.  Pure functions. */
#ifndef HEATLINE_PYTHON_LOCATIONS_H
#define HEATLINE_PYTHON_LOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "python/layout.h"

/* Lines count from 1; columns are 0-based UTF-8 byte offsets as in
 * co_positions(); -1 where not known.  line == 0: the instruction has none. */
struct py_location {
	int32_t line, end_line, column, end_column;
};

/* The location of the instruction at byte offset `offset`. */
struct py_location py_locate(enum py_line_kind kind, const unsigned char *table, size_t size,
			     int32_t first_line, uint32_t offset);

/* A place in a table.  Tables can only be read from their start, so whoever asks
 * for many instructions keeps one: it goes on from where it stands, and begins
 * anew only for an offset that lies before that.  The answers are those of
 * py_locate.  The table is borrowed. */
struct py_locator {
	const unsigned char *table;
	uint32_t size, first_line;
	enum py_line_kind kind;
	uint32_t at;            /* bytes of the table that are read */
	uint32_t line;          /* after them */
	uint64_t begin, end;    /* of the code that the last entry read is about */
	struct py_location last; /* what that entry says */
};

void py_locator_init(struct py_locator *locator, enum py_line_kind kind, const unsigned char *table,
		     uint32_t size, int32_t first_line);
struct py_location py_locator_find(struct py_locator *locator, uint32_t offset);

/* The greatest line that any instruction has. */
uint32_t py_last_line(enum py_line_kind kind, const unsigned char *table, uint32_t size,
		      uint32_t first_line);

#endif
