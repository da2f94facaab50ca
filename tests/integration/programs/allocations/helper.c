/* Every way to get memory that ctypes does not have at hand. */
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

void *get_posix_memalign(size_t size)
{
	void *block = NULL;
	return posix_memalign(&block, 4096, size) == 0 ? block : NULL;
}

void *get_aligned_alloc(size_t size)
{
	return aligned_alloc(64, size);
}

void *get_memalign(size_t size)
{
	return memalign(64, size);
}

void *get_valloc(size_t size)
{
	return valloc(size);
}

void *get_reallocarray(size_t size)
{
	return reallocarray(NULL, size / 1024, 1024);
}

void *get_strdup(size_t size)
{
	char *text = malloc(size);
	memset(text, 'x', size - 1);
	text[size - 1] = '\0';
	char *copy = strdup(text);
	free(text);
	return copy;
}

static void *take(void *block)
{
	free(block);
	return NULL;
}

/* Gives a block back from a thread that Python knows nothing of. */
void give_back_elsewhere(void *block)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, take, block) == 0)
		pthread_join(thread, NULL);
}

static void *make(void *size)
{
	return malloc(*(size_t *)size);
}

/* The first thing that a thread does is to allocate. */
void *get_in_thread(size_t size)
{
	pthread_t thread;
	void *block = NULL;
	if (pthread_create(&thread, NULL, make, &size) == 0)
		pthread_join(thread, &block);
	return block;
}
