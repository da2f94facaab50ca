/* map.c - the hash maps. */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MAP_FIRST_SLOTS 16u

uint64_t map_hash_bytes(const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	uint64_t hash = size;
	for (; size >= 8; at += 8, size -= 8) {
		uint64_t word;
		memcpy(&word, at, 8);
		hash = map_hash_number(hash ^ word);
	}
	uint64_t word = 0;
	if (size)
		memcpy(&word, at, size);
	return map_hash_number(hash ^ word);
}

/* Three quarters full is when probing begins to hurt. */
static bool is_crowded(uint32_t count, uint32_t mask)
{
	return mask == 0 || (uint64_t)(count + 1) * 4 > ((uint64_t)mask + 1) * 3;
}

static uint32_t next_slot_count(uint32_t mask)
{
	if (mask >= UINT32_MAX / 2)
		mem_exhausted(SIZE_MAX);
	return mask ? (mask + 1) * 2 : MAP_FIRST_SLOTS;
}

void map_init(struct map *map)
{
	memset(map, 0, sizeof(*map));
}

void map_fini(struct map *map)
{
	free(map->slots);
	memset(map, 0, sizeof(*map));
}

static struct map_slot *map_probe(const struct map *map, uint64_t key)
{
	uint32_t at = (uint32_t)map_hash_number(key) & map->mask;
	while (map->slots[at].key && map->slots[at].key != key)
		at = (at + 1) & map->mask;
	return &map->slots[at];
}

static void map_grow(struct map *map)
{
	struct map old = *map;
	uint32_t slots = next_slot_count(old.mask);
	map->slots = mem_zalloc(slots, sizeof(*map->slots));
	map->mask = slots - 1;
	for (uint32_t i = 0; old.slots && i <= old.mask; i++) {
		if (old.slots[i].key)
			*map_probe(map, old.slots[i].key) = old.slots[i];
	}
	free(old.slots);
}

uint64_t *map_get(const struct map *map, uint64_t key)
{
	if (key == 0)
		return map->has_zero ? (uint64_t *)&map->zero_value : NULL;
	if (!map->slots)
		return NULL;
	struct map_slot *slot = map_probe(map, key);
	return slot->key ? &slot->value : NULL;
}

uint64_t *map_put(struct map *map, uint64_t key, bool *is_new)
{
	bool dummy;
	if (!is_new)
		is_new = &dummy;
	if (key == 0) {
		*is_new = !map->has_zero;
		map->has_zero = true;
		return &map->zero_value;
	}
	if (is_crowded(map->count, map->mask))
		map_grow(map);
	struct map_slot *slot = map_probe(map, key);
	*is_new = slot->key == 0;
	if (*is_new) {
		slot->key = key;
		map->count++;
	}
	return &slot->value;
}

void map_bytes_init(struct map_bytes *map)
{
	memset(map, 0, sizeof(*map));
}

void map_bytes_fini(struct map_bytes *map)
{
	free(map->slots);
	free(map->keys);
	memset(map, 0, sizeof(*map));
}

static struct map_bytes_slot *map_bytes_probe(const struct map_bytes *map, uint64_t hash,
					      const void *key, size_t size)
{
	uint32_t at = (uint32_t)hash & map->mask;
	for (;; at = (at + 1) & map->mask) {
		struct map_bytes_slot *slot = &map->slots[at];
		if (slot->hash == 0)
			return slot;
		if (slot->hash == hash && slot->size == size &&
		    (size == 0 || memcmp(map->keys + slot->offset, key, size) == 0))
			return slot;
	}
}

static void map_bytes_grow(struct map_bytes *map)
{
	struct map_bytes_slot *old = map->slots;
	uint32_t old_mask = map->mask;
	uint32_t slots = next_slot_count(old_mask);
	map->slots = mem_zalloc(slots, sizeof(*map->slots));
	map->mask = slots - 1;
	for (uint32_t i = 0; old && i <= old_mask; i++) {
		if (!old[i].hash)
			continue;
		uint32_t at = (uint32_t)old[i].hash & map->mask;
		while (map->slots[at].hash)
			at = (at + 1) & map->mask;
		map->slots[at] = old[i];
	}
	free(old);
}

static uint32_t keep_key(struct map_bytes *map, const void *key, size_t size)
{
	if (map->key_size + size >= UINT32_MAX)
		mem_exhausted(SIZE_MAX);
	if (map->key_size + size > map->key_room) {
		size_t room = (map->key_size + size) * 2;
		map->keys = mem_resize(map->keys, room, 1);
		map->key_room = room;
	}
	uint32_t offset = (uint32_t)map->key_size;
	if (size)
		memcpy(map->keys + offset, key, size);
	map->key_size += size;
	return offset;
}

uint32_t *map_bytes_get(const struct map_bytes *map, const void *key, size_t size)
{
	if (!map->slots)
		return NULL;
	struct map_bytes_slot *slot =
		map_bytes_probe(map, map_hash_bytes(key, size), key, size);
	return slot->hash ? &slot->value : NULL;
}

uint32_t *map_bytes_put(struct map_bytes *map, const void *key, size_t size, bool *is_new)
{
	if (is_crowded(map->count, map->mask))
		map_bytes_grow(map);
	uint64_t hash = map_hash_bytes(key, size);
	struct map_bytes_slot *slot = map_bytes_probe(map, hash, key, size);
	if (is_new)
		*is_new = slot->hash == 0;
	if (slot->hash == 0) {
		slot->hash = hash;
		slot->offset = keep_key(map, key, size);
		slot->size = (uint32_t)size;
		map->count++;
	}
	return &slot->value;
}
