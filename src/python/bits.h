/* bits.h - take apart bytes that were copied from a target. */
#ifndef HEATLINE_PYTHON_BITS_H
#define HEATLINE_PYTHON_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "python/reader.h"

static inline uint32_t load_u32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline uint64_t load_u64(const unsigned char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* Whether an object may lie there: a user address of the two architectures,
 * aligned as every object is. */
static inline bool is_pointer(py_addr addr)
{
	return addr >= 4096 && addr < (1ull << 56) && (addr & 7) == 0;
}

#endif
