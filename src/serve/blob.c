/* blob.c - count the holders. */
#include "serve/blob.h"

#include <stdlib.h>

#include "base/mem.h"

struct blob *blob_new(char *data, size_t size)
{
	struct blob *blob = mem_alloc(sizeof(*blob));

	blob->data = data;
	blob->size = size;
	atomic_init(&blob->holders, 1);
	return blob;
}

struct blob *blob_hold(struct blob *blob)
{
	atomic_fetch_add(&blob->holders, 1);
	return blob;
}

void blob_drop(struct blob *blob)
{
	if (!blob || atomic_fetch_sub(&blob->holders, 1) != 1)
		return;
	free(blob->data);
	free(blob);
}
