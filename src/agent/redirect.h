/* redirect.h - what a loaded agent puts into the libraries' tables (tables.h).
 *
 * A preloaded agent stands in front of the C library by itself and needs none of
 * this. */
#ifndef HEATLINE_AGENT_REDIRECT_H
#define HEATLINE_AGENT_REDIRECT_H

#include <stdbool.h>

/* New threads, and with has_memory allocations and copies, come through our
 * functions; also those of libraries that the interpreter loads from now on.
 * Returns 0 or -errno. */
int redirect_start(bool has_memory);

/* The function that the libraries' calls of this name lead to; NULL: there is none. */
void *redirect_find(const char *name);

/* One more, of which the caller knows the real one; no more than six.  Any thread. */
void redirect_add(const char *name, void *ours, void *real);

/* Everything as it was. */
void redirect_stop(void);

#endif
