/* scope.h - is a file, or a function, one that the user wants to see?
 *
 * By default the program's own folder, without the standard library and
 * installed packages, wherever those are (a virtual environment inside the
 * project is not the project's code).  The cells of a notebook always are. */
#ifndef HEATLINE_PROFILE_SCOPE_H
#define HEATLINE_PROFILE_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

/* The rules of a run.  All pointers are borrowed but those marked. */
struct scope_rules {
	const char *program; /* path of the script: always in scope; or NULL */
	const char *folder;  /* whose files are in scope: --program-path, else the
			      * script's folder; NULL: any that is no library */
	const char *const *only; /* substrings of which one must occur; may be none */
	uint32_t only_count;
	const char *const *exclude; /* substrings of which none may occur */
	uint32_t exclude_count;
	bool profile_all;              /* every file */
	bool profile_system_libraries; /* the standard library and packages too */

	char *folder_real;  /* owned; set by scope_init: symbolic links resolved */
	char *program_real; /* owned; as above */
};

/* Call after the fields are set and before any question; scope_fini after. */
void scope_init(struct scope_rules *rules);
void scope_fini(struct scope_rules *rules);

/* path is absolute, or a pseudo file such as "<string>". */
bool scope_file(const struct scope_rules *rules, const char *path);

/* Whether the function is the user's, given that its file is in scope: the
 * methods that dataclasses and namedtuple make in "<string>" are not. */
bool scope_function(const char *path, const char *qualname);

/* Whether the path lies in a standard library or among installed packages. */
bool scope_is_library(const char *path);

#endif
