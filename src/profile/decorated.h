/* decorated.h - functions that carry a bare @profile, as line_profiler and Scalene
 * have taught people to mark what they want to see.
 *
 * Told from the source alone.  A file whose `profile` is something else (imported from
 * another library, or defined at its top level) has none; a definition inside an "if" or
 * "try" is the usual stand-in for when no profiler is there, and does not count. */
#ifndef HEATLINE_PROFILE_DECORATED_H
#define HEATLINE_PROFILE_DECORATED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/model.h"

struct decorated {
	struct function_range *functions; /* owned; from the first decorator to the last line */
	uint32_t count;
	bool needs_name; /* there are some, and `profile` is not imported */
};

/* text is as source_load gives it. */
void decorated_find(struct decorated *decorated, const char *text, size_t size);
void decorated_fini(struct decorated *decorated);

/* A program to search: its script (NULL: not known), its arguments (end with NULL; or NULL), the
 * folder of its files. */
struct decorated_program {
	const char *script;
	char *const *args;
	const char *folder;
};

/* Whether any file of the program has such functions: the script itself, and the Python files of
 * its folder, as far as a moment's search goes (a few hundred files; no environments, no
 * hidden folders).  *needs_name as above, for any of them that the program may import: its name, or
 * that of a folder that it is in, is a word of the script, of its arguments, or of another such file.
 * Of a program that is no Python file, that is all of them. */
bool decorated_search(const struct decorated_program *program, bool *needs_name);

#endif
