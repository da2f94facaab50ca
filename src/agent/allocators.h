/* allocators.h - Python's own allocators, wrapped.
 *
 * What comes through Python's allocators is Python's memory, and not counted
 * again where they take it from malloc or mmap.  The raw domain is plain
 * malloc and stays native. */
#ifndef HEATLINE_AGENT_ALLOCATORS_H
#define HEATLINE_AGENT_ALLOCATORS_H

#include <stdbool.h>

/* Wraps them; before the interpreter starts.  (When it has, it calls
 * memory_python_started of memory.h.) */
void allocators_start(void);

/* For a loaded agent: wraps them in a running interpreter, whose lock is held; takes the
 * wrapping off again, unless somebody else has wrapped it.  NULL, or why it is not
 * possible. */
const char *allocators_join(void);
void allocators_leave(void);

/* Whether the interpreter has begun to end: what it then gives back was kept
 * until the end.  Stays true. */
bool allocators_are_ending(void);

#endif
