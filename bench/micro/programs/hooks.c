/* Loops that do nothing but call what the agent stands in front of. */
#include <stdlib.h>
#include <string.h>

void pairs(long count, size_t size)
{
	for (long i = 0; i < count; i++) {
		void *volatile block = malloc(size);
		free(block);
	}
}

void copies(long count, size_t size)
{
	static char from[65536], to[65536];
	void *(*volatile copy)(void *, const void *, size_t) = memcpy;
	for (long i = 0; i < count; i++)
		copy(to, from, size);
}
