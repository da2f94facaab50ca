/* intern.c - string interning: a hash table of pointers into blocks of text.
 *
 * Blocks are never resized, which is why the strings never move. */
#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

#define BLOCK_BYTES 16384u
#define FIRST_SLOTS 64u

struct block {
	struct block *next;
	char text[];
};

struct slot {
	const char *text; /* NULL: free */
	uint64_t hash;
	size_t size;
};

struct intern {
	struct slot *slots; /* owned */
	uint32_t mask, count;
	struct block *blocks; /* owned; the first is the one being filled */
	size_t block_left;    /* bytes free in the first block */
	char *block_at;       /* where they begin */
};

struct intern *intern_new(void)
{
	struct intern *intern = mem_zalloc(1, sizeof(*intern));
	intern->slots = mem_zalloc(FIRST_SLOTS, sizeof(*intern->slots));
	intern->mask = FIRST_SLOTS - 1;
	return intern;
}

void intern_free(struct intern *intern)
{
	if (!intern)
		return;
	for (struct block *block = intern->blocks, *next; block; block = next) {
		next = block->next;
		free(block);
	}
	free(intern->slots);
	free(intern);
}

static char *take_room(struct intern *intern, size_t size)
{
	if (size > intern->block_left) {
		size_t room = size > BLOCK_BYTES ? size : BLOCK_BYTES;
		struct block *block = mem_alloc(sizeof(*block) + room);
		block->next = intern->blocks;
		intern->blocks = block;
		intern->block_at = block->text;
		intern->block_left = room;
	}
	char *at = intern->block_at;
	intern->block_at += size;
	intern->block_left -= size;
	return at;
}

static struct slot *find_slot(const struct intern *intern, uint64_t hash, const void *bytes,
			      size_t size)
{
	uint32_t at = (uint32_t)hash & intern->mask;
	for (;; at = (at + 1) & intern->mask) {
		struct slot *slot = &intern->slots[at];
		if (!slot->text)
			return slot;
		if (slot->hash == hash && slot->size == size &&
		    (size == 0 || memcmp(slot->text, bytes, size) == 0))
			return slot;
	}
}

static void grow_slots(struct intern *intern)
{
	struct slot *old = intern->slots;
	uint32_t old_mask = intern->mask;
	intern->mask = old_mask * 2 + 1;
	intern->slots = mem_zalloc((size_t)intern->mask + 1, sizeof(*intern->slots));
	for (uint32_t i = 0; i <= old_mask; i++) {
		if (!old[i].text)
			continue;
		uint32_t at = (uint32_t)old[i].hash & intern->mask;
		while (intern->slots[at].text)
			at = (at + 1) & intern->mask;
		intern->slots[at] = old[i];
	}
	free(old);
}

const char *intern_bytes(struct intern *intern, const void *bytes, size_t size)
{
	if ((uint64_t)intern->count * 4 > (uint64_t)intern->mask * 3)
		grow_slots(intern);
	uint64_t hash = map_hash_bytes(bytes, size);
	struct slot *slot = find_slot(intern, hash, bytes, size);
	if (!slot->text) {
		char *copy = take_room(intern, size + 1);
		if (size)
			memcpy(copy, bytes, size);
		copy[size] = '\0';
		*slot = (struct slot){.text = copy, .hash = hash, .size = size};
		intern->count++;
	}
	return slot->text;
}

const char *intern_text(struct intern *intern, const char *text)
{
	return text ? intern_bytes(intern, text, strlen(text)) : NULL;
}
