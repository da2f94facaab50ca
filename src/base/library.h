/* library.h - a shared library that is opened when it is needed, not linked.
 *
 * For what only some commands use, or what a machine may lack.  The functions
 * that are wanted are one list, from which come the struct and the table:
 *
 *	#define LIST(X) X(start) X(stop)
 *	struct sound {
 *	#define X(name) __typeof__(&sound_##name) name;
 *		LIST(X)
 *	#undef X
 *	};
 *	static const struct library_function functions[] = {
 *	#define X(name) {"sound_" #name, offsetof(struct sound, name), false},
 *		LIST(X)
 *	#undef X
 *	};
 *	struct sound sound;
 *	const char *missing;
 *	void *library = library_open("libsound.so.1", functions, 2, &sound, &missing);
 */
#ifndef HEATLINE_BASE_LIBRARY_H
#define HEATLINE_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* Where a function's address goes. */
struct library_function {
	const char *name;
	size_t offset;    /* of the pointer, in the struct of functions */
	bool is_optional; /* NULL is stored when the library has none of this name */
};

/* Opens the library and fills the struct that `functions` points to.  Returns
 * the library, for dlclose.  NULL when it is not there, and *missing is then NULL;
 * or when it lacks a function, which *missing names: it is closed again. */
void *library_open(const char *file, const struct library_function *table, size_t count,
		   void *functions, const char **missing);

#endif
