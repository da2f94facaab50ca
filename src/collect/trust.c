/* trust.c - see trust.h. */
#include "collect/trust.h"

void trust_init(struct trust *trust)
{
	map_init(&trust->known);
	trust->notes = 0;
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

/* The keys of three frames: the innermost's, its two callers', and all.  The
 * outermost have no callers. */
struct keys {
	uint64_t inner, outer, all;
};

static struct keys keys_of(const struct walk_frame *frames, uint32_t count, uint32_t at)
{
	struct keys keys = {.inner = mix(3, frames[at].code), .outer = count == 1 ? 5 : 7};
	for (uint32_t i = at + 1; i < at + 3; i++) {
		keys.outer = mix(keys.outer, i < count ? frames[i].code : 1);
		keys.outer = mix(keys.outer, i < count ? frames[i].offset : 1);
	}
	keys.all = mix(keys.outer, keys.inner);
	return keys;
}

/* Halves what is kept; what was met once is forgotten in effect. */
static void fade(struct trust *trust)
{
	struct map *known = &trust->known;
	trust->notes = 0;
	if (known->count > TRUST_MAX) {
		map_fini(known);
		map_init(known);
		return;
	}
	for (uint32_t i = 0; known->slots != NULL && i <= known->mask; i++)
		known->slots[i].value /= 2;
}

void trust_learn(struct trust *trust, const struct walk_frame *frames, uint32_t count, uint32_t changed)
{
	for (uint32_t i = 0; i < count && i < changed; i++) {
		struct keys keys = keys_of(frames, count, i);
		if (++trust->notes > TRUST_FADE || trust->known.count > TRUST_MAX)
			fade(trust);
		++*map_put(&trust->known, keys.inner, NULL);
		++*map_put(&trust->known, keys.outer, NULL);
		++*map_put(&trust->known, keys.all, NULL);
	}
}

static uint64_t times(const struct trust *trust, uint64_t key)
{
	const uint64_t *found = map_get(&trust->known, key);
	return found == NULL ? 0 : *found;
}

bool trust_believes(const struct trust *trust, const struct walk_frame *frames, uint32_t count,
		    uint32_t changed, bool stood_still)
{
	for (uint32_t i = 0; i < count && i < changed; i++) {
		struct keys keys = keys_of(frames, count, i);
		uint64_t met = times(trust, keys.all);
		uint64_t inner = times(trust, keys.inner), outer = times(trust, keys.outer);
		if (!stood_still && met < TRUST_TIMES)
			return false;
		/* This time counts too, if it stood still. */
		if ((met + stood_still) * TRUST_RARE < (inner < outer ? inner : outer))
			return false;
	}
	return true;
}
