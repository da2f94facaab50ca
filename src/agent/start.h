/* start.h - finds the interpreter, makes the ring and begins to measure.
 *
 *	start_prepare, start_sampling if that says nothing, start_publish with what was said
 *
 * Called by our constructor, before the interpreter runs, or by a session, while it does.  A ring
 * that is made is published in any case, so that the user hears why there is no profile. */
#ifndef HEATLINE_AGENT_START_H
#define HEATLINE_AGENT_START_H

#include <stddef.h>
#include <stdint.h>

struct ring;

/* Finds the interpreter and makes the ring in the run's folder.  NULL, or why it
 * cannot be; *ring: NULL when this process has nothing to do with a run. */
const char *start_prepare(const char *folder, struct ring **ring);

/* Starts measuring with what start_prepare has found.  NULL, or why not. */
const char *start_sampling(void);

/* The collector sees the ring from now on.  why: NULL, or what is wrong. */
void start_publish(struct ring *ring, const char *why);

/* For a loaded agent: the ring is the collector's alone from now on.  What a thread
 * still writes goes nowhere. */
void start_leave_ring(void);

/* The run's folder. */
const char *start_folder(void);

/* A word of the program for the timeline; as much of it as fits. */
void start_push_mark(const char *text, size_t size);

/* Where the code of the library or executable lies that has this address;
 * 0 and 0 when there is none. */
void start_find_code(uint64_t inside, uint64_t *start, uint64_t *end);

/* A process of the program executes another Python, which will not be able to report. */
void start_note_unreachable(int error);

#endif
