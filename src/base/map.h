/* map.h - hash maps: numbers to numbers, and bytes to small numbers.
 *
 * Open addressing with linear probing; nothing is ever removed but all at
 * once.  The hash is seeded by nothing: keys come from our own run, and a
 * hostile profile file can at worst make reading it slow. */
#ifndef HEATLINE_BASE_MAP_H
#define HEATLINE_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key, value;
};

/* u64 to u64.  Zero-filled is a valid empty map. */
struct map {
	struct map_slot *slots; /* owned; a slot with key 0 is free */
	uint32_t mask;          /* slots - 1; slots is a power of two */
	uint32_t count;         /* keys other than 0 */
	bool has_zero;          /* the key 0 is kept apart */
	uint64_t zero_value;
};

void map_init(struct map *map);
void map_fini(struct map *map);

/* The place of the key's value, or NULL; valid until the next map_put. */
uint64_t *map_get(const struct map *map, uint64_t key);

/* The place of the key's value, made with value 0 when missing; *is_new (may
 * be NULL) says which.  Valid until the next map_put. */
uint64_t *map_put(struct map *map, uint64_t key, bool *is_new);

struct map_bytes_slot {
	uint64_t hash; /* 0: free */
	uint32_t offset, size;
	uint32_t value;
};

/* Bytes to u32.  Zero-filled is a valid empty map. */
struct map_bytes {
	struct map_bytes_slot *slots; /* owned */
	uint32_t mask, count;
	char *keys; /* owned; all keys, one after the other */
	size_t key_size, key_room;
};

void map_bytes_init(struct map_bytes *map);
void map_bytes_fini(struct map_bytes *map);

/* As map_get and map_put; the key is copied. */
uint32_t *map_bytes_get(const struct map_bytes *map, const void *key, size_t size);
uint32_t *map_bytes_put(struct map_bytes *map, const void *key, size_t size, bool *is_new);

/* Well mixed; never 0. */
uint64_t map_hash_bytes(const void *bytes, size_t size);

static inline uint64_t map_hash_number(uint64_t number)
{
	/* The finaliser of SplitMix64: every input bit reaches every output bit. */
	number += 0x9e3779b97f4a7c15u;
	number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
	number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
	number ^= number >> 31;
	return number ? number : 1;
}

#endif
