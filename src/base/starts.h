/* starts.h - things in a row by where each begins: ranges of memory, pieces of a file.
 *
 * Each item of the row is a struct that begins with its start, a uint64_t.  Where it ends, and
 * whether what lies between two of them belongs to anything, is the row's owner to know. */
#ifndef HEATLINE_BASE_STARTS_H
#define HEATLINE_BASE_STARTS_H

#include <stddef.h>
#include <stdint.h>

/* Puts the items in order; of the same start, in any. */
void starts_sort(void *items, uint32_t count, size_t item_size);

/* How many begin at `at` or before: in a sorted row the last of these is the only one that can
 * have it, if no two overlap. */
uint32_t starts_until(const void *items, uint32_t count, size_t item_size, uint64_t at);

#endif
