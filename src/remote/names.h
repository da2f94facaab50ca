/* names.h - the names that a program gave to its threads.
 *
 * Python keeps them in `threading`, which is read from outside: a dictionary of
 * thread ids to objects that have a name.  Where that fails (the module was
 * never imported, the dictionary was just being changed) the kernel's name is
 * taken. */
#ifndef HEATLINE_REMOTE_NAMES_H
#define HEATLINE_REMOTE_NAMES_H

#include "remote/threads.h"

#define REMOTE_NAME_BYTES 128

/* The names of all threads of the list, in its order; each is terminated. */
void remote_names_read(const struct remote *remote, const struct remote_threads *threads,
		       char (*names)[REMOTE_NAME_BYTES]);

#endif
