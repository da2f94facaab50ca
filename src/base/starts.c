/* starts.c - see starts.h. */
#include "base/starts.h"

#include <stdlib.h>
#include <string.h>

static uint64_t start_of(const void *item)
{
	uint64_t start;

	memcpy(&start, item, sizeof(start));
	return start;
}

static int by_start(const void *left, const void *right)
{
	uint64_t a = start_of(left), b = start_of(right);

	return a < b ? -1 : a > b;
}

void starts_sort(void *items, uint32_t count, size_t item_size)
{
	if (count > 0)
		qsort(items, count, item_size, by_start);
}

uint32_t starts_until(const void *items, uint32_t count, size_t item_size, uint64_t at)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (start_of((const char *)items + middle * item_size) <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
