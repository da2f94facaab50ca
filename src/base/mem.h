/* mem.h - memory for the collector and the reports, which never comes back NULL.
 *
 * When memory is exhausted the process ends with one sentence, through one
 * function.  The agent, which lives in the user's process, must not use this
 * module: it drops and counts instead. */
#ifndef HEATLINE_BASE_MEM_H
#define HEATLINE_BASE_MEM_H

#include <stddef.h>

/* Says that memory is exhausted (size: what was asked for) and aborts. */
_Noreturn void mem_exhausted(size_t size);

/* Like malloc, calloc and realloc, but never NULL, also for size 0; a product
 * that overflows counts as exhausted.  Release with free(). */
void *mem_alloc(size_t size);
void *mem_zalloc(size_t count, size_t size);
void *mem_resize(void *block, size_t count, size_t size);

/* Copies on the heap; the bytes variant adds a terminating zero. */
char *mem_copy_text(const char *text);
char *mem_copy_bytes(const void *bytes, size_t size);

#endif
