/* regions.h - where the loops, functions and imports of a Python source are.
 *
 * A small tokenizer, not a parser: it knows strings (also nested f-strings),
 * comments, brackets, continuation lines and indentation, which is enough to
 * find where blocks begin and end.  Source that no Python would accept gives
 * some answer, never a failure; time and memory are linear in its size. */
#ifndef HEATLINE_PROFILE_REGIONS_H
#define HEATLINE_PROFILE_REGIONS_H

#include <stddef.h>
#include <stdint.h>

#include "profile/model.h"

#define REGIONS_MAX_IMPORTS 200u
#define REGIONS_MAX_DEPTH 100u /* nested blocks, as in CPython; deeper ones are not told apart */

struct regions {
	struct line_region *lines; /* owned; [n - 1] is line n */
	uint32_t line_count;
	char **imports; /* owned; owned statements, on one line each: "from a import b, c" */
	uint32_t import_count;
};

/* text is as source_load gives it. */
void regions_find(struct regions *regions, const char *text, size_t size);
void regions_fini(struct regions *regions);

/* The region of line n; of itself alone when the source has no such line. */
struct line_region regions_line(const struct regions *regions, uint32_t line);

#endif
