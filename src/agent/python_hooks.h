/* python_hooks.h - the functions that stand in front of Python's allocators.
 *
 * Each has what was installed before as its context, and forwards to it.  There are
 * three ways, by what lies below:
 *
 *   anything   Small requests end in no malloc (pymalloc with debug hooks, mimalloc).
 *   malloc     Every request ends in malloc, where it would be counted a second time:
 *              that is paused for each.
 *   pymalloc   The usual one.  A free costs nothing: Python gives back what does not lie
 *              in its arenas by way of free(), which we stand in front of as well.  So a
 *              block that is sampled is moved out of the arenas, and the function that
 *              frees is pymalloc's own.  Nothing is paused either: what is known to end in
 *              malloc or realloc is counted there or here, and both know it.
 *
 * Blocks are moved out in all three: a way may be changed for another while they live. */
#ifndef HEATLINE_AGENT_PYTHON_HOOKS_H
#define HEATLINE_AGENT_PYTHON_HOOKS_H

#include <stdbool.h>
#include <stddef.h>

/* As in CPython's pymem.h; the same since 3.5. */
struct python_allocator {
	void *context;
	void *(*malloc)(void *context, size_t size);
	void *(*calloc)(void *context, size_t count, size_t size);
	void *(*realloc)(void *context, void *block, size_t size);
	void (*free)(void *context, void *block);
};

enum python_way { OVER_ANYTHING, OVER_MALLOC, OVER_PYMALLOC };

/* Larger requests pymalloc passes on to malloc. */
#define PYMALLOC_MOST 512u

/* What malloc gives for a request of so much, at the most: the C library's some bytes more, others
 * have blocks of 512 and 640. */
#define PYMALLOC_ROOM 640u

/* Hooks that forward to *next, which must stay where it is. */
struct python_allocator python_hooks_over(struct python_allocator *next, enum python_way way);

/* Whether these are hooks of ours. */
bool python_hooks_are(const struct python_allocator *now);

/* Whether a request still comes through ours, perhaps below another's (tracemalloc):
 * wrapping it a second time would make a circle. */
bool python_hooks_are_below(const struct python_allocator *now);

#endif
