/* mem.c - allocation that ends the process in one sentence when it fails. */
#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void mem_exhausted(size_t size)
{
	fprintf(stderr, "heatline: out of memory (could not get %zu bytes)\n", size);
	abort();
}

void *mem_alloc(size_t size)
{
	void *block = malloc(size ? size : 1);
	if (!block)
		mem_exhausted(size);
	return block;
}

void *mem_zalloc(size_t count, size_t size)
{
	void *block = calloc(count ? count : 1, size ? size : 1);
	if (!block)
		mem_exhausted(count * size);
	return block;
}

void *mem_resize(void *block, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		mem_exhausted(SIZE_MAX);
	size_t bytes = count * size;
	void *grown = realloc(block, bytes ? bytes : 1);
	if (!grown)
		mem_exhausted(bytes);
	return grown;
}

char *mem_copy_text(const char *text)
{
	return mem_copy_bytes(text, strlen(text));
}

char *mem_copy_bytes(const void *bytes, size_t size)
{
	char *copy = mem_alloc(size + 1);
	if (size)
		memcpy(copy, bytes, size);
	copy[size] = '\0';
	return copy;
}
