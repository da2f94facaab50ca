/* tables.h - calls of loaded libraries, redirected to our functions and back.
 *
 * A library calls another through a table of addresses that the loader has
 * filled in (its GOT).  An agent that is loaded into a running process is behind
 * the C library for all of them; it writes its own functions into the tables,
 * of all libraries but itself and the loader.
 *
 * An entry is one aligned word, so another thread calls either the old function
 * or ours.  What has copied an address elsewhere is not redirected.
 *
 * Not for signal handlers; one thread at a time. */
#ifndef HEATLINE_AGENT_TABLES_H
#define HEATLINE_AGENT_TABLES_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

/* An entry is redirected when it leads to the real function, or was not asked for
 * yet (lazy binding); one that leads elsewhere is a library's private business. */
struct table_hook {
	const char *name;
	void *ours, *real;
	void *only_in; /* an address in the only library that is meant; NULL: all */
};

/* Redirects the calls of all libraries that are loaded now; those that have been
 * redirected already are passed over.  Returns how many entries were changed. */
size_t tables_redirect(const struct table_hook *hooks, size_t count);

/* Everything as it was. */
void tables_restore(const struct table_hook *hooks, size_t count);

/* Whoever asks for a function by its name (dlsym) is told by the library's own list of names; the
 * entry leads to ours from now on.  base: where the library lies.  The entry is one aligned word. */
bool tables_rename(void *base, ElfW(Sym) *symbol, const void *ours);

/* The same for the function of this name that lies at real, in whichever library that is. */
void tables_replace(const char *name, const void *real, const void *ours);

#endif
