/* trust.c - see trust.h. */
#include "collect/trust.h"

void trust_init(struct trust *trust)
{
	map_init(&trust->known);
}

void trust_fini(struct trust *trust)
{
	map_fini(&trust->known);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 31;
}

/* A frame, its caller and that one's caller; the outermost have none. */
static uint64_t key_of(const struct walk_frame *frames, uint32_t count, uint32_t at)
{
	uint64_t hash = mix(count == 1 ? 3 : 7, frames[at].code);
	for (uint32_t i = at + 1; i < at + 3; i++) {
		hash = mix(hash, i < count ? frames[i].code : 1);
		hash = mix(hash, i < count ? frames[i].offset : 1);
	}
	return hash;
}

void trust_learn(struct trust *trust, const struct walk_frame *frames, uint32_t count)
{
	if (trust->known.count > TRUST_MAX) {
		map_fini(&trust->known);
		map_init(&trust->known);
	}
	for (uint32_t i = 0; i < count; i++)
		++*map_put(&trust->known, key_of(frames, count, i), NULL);
}

bool trust_knows(const struct trust *trust, const struct walk_frame *frames, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t *times = map_get(&trust->known, key_of(frames, count, i));
		if (times == NULL || *times < TRUST_TIMES)
			return false;
	}
	return true;
}
