/* memory.h - standing in for allocators and copies (memory.c, allocators.c).
 *
 * Only in the agent that also profiles memory: elsewhere all of these are NULL. */
#ifndef HEATLINE_AGENT_MEMORY_H
#define HEATLINE_AGENT_MEMORY_H

#include <stdint.h>

/* Returns 0 or -errno. */
int memory_start(void) __attribute__((weak));

/* Looks the real functions up, before there are threads that could ask for them at the
 * same time. */
void memory_prepare(void) __attribute__((weak));
void memory_after_fork(void) __attribute__((weak));

/* The process is about to end. */
void memory_end(void) __attribute__((weak));

/* For a loaded agent, after memory_start and the tables: Python's own allocators
 * too.  NULL, or why that cannot be.  memory_leave: as they were. */
const char *memory_join(void) __attribute__((weak));
void memory_leave(void) __attribute__((weak));

/* Python has come so far that its allocators are chosen. */
void memory_python_started(void) __attribute__((weak));

/* While a handler runs its own copies are not the program's.  [handler] */
uint64_t memory_pause(void) __attribute__((weak));
void memory_resume(uint64_t paused) __attribute__((weak));

/* What the calling thread allocates in between is not the program's. */
void memory_hide(uint64_t saved[2]) __attribute__((weak));
void memory_show(const uint64_t saved[2]) __attribute__((weak));

#endif
