/* forbidden.h - a program that forbids itself system calls, and us with it.
 *
 * A seccomp filter that lets a call of ours fail does no harm: all of them may fail.  One that
 * ends the program for it would show that we are there.  So what the program installs is
 * looked at before the kernel gets it, and if it may end one of our calls we leave the process
 * first: from then on nothing of ours calls the kernel.
 *
 * Seen is what goes through the C library, prctl() and syscall(), found by the loader or by
 * name; not what a library does by instructions of its own. */
#ifndef HEATLINE_AGENT_FORBIDDEN_H
#define HEATLINE_AGENT_FORBIDDEN_H

#include <stdbool.h>

/* From our constructor, in every process. */
void forbidden_prepare(void);

/* Once the process has a Python that is measured: those who look the functions up by name in
 * the C library find ours too. */
void forbidden_start(void);

/* Whether such a filter is, or is about to be, in force: what the program starts is under it
 * too. */
bool forbidden_is_deadly(void);

#endif
