/* test_trust.c - what was seen standing still is believed, mixes are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/trust.h"

#define FRAME(code, offset) {(code), (offset), 0, WALK_FRAME_CALLS, 0}

/* hot_a calls leaf_a and hot_b calls leaf_b, both called by main. */
static const struct walk_frame a[] = {FRAME(0x10, 4), FRAME(0x20, 8), FRAME(0x50, 12)};
static const struct walk_frame b[] = {FRAME(0x30, 6), FRAME(0x40, 8), FRAME(0x50, 16)};
static const struct walk_frame mixed[] = {FRAME(0x10, 4), FRAME(0x40, 8), FRAME(0x50, 16)};
static const struct walk_frame rare[] = {FRAME(0x60, 4), FRAME(0x40, 8), FRAME(0x50, 16)};
static const struct walk_frame elsewhere[] = {FRAME(0x10, 4), FRAME(0x70, 8), FRAME(0x50, 20)};
static const struct walk_frame moved[] = {FRAME(0x10, 10), FRAME(0x20, 8), FRAME(0x50, 12)};

static void test_trust(void **unused)
{
	(void)unused;
	struct trust trust;
	trust_init(&trust);
	assert_false(trust_believes(&trust, a, 3, 3, false));
	assert_true(trust_believes(&trust, a, 3, 3, true)); /* new, and nothing speaks against it */
	for (uint32_t i = 0; i < TRUST_TIMES; i++) {
		assert_false(trust_believes(&trust, a, 3, 3, false));
		trust_learn(&trust, a, 3, 3);
		trust_learn(&trust, b, 3, 3);
	}
	assert_true(trust_believes(&trust, a, 3, 3, false));
	assert_true(trust_believes(&trust, b, 3, 3, false));
	assert_true(trust_believes(&trust, moved, 3, 3, false)); /* elsewhere in the innermost function */
	assert_false(trust_believes(&trust, mixed, 3, 3, false));
	assert_true(trust_believes(&trust, mixed, 3, 0, false)); /* none of it changed */
	trust_fini(&trust);
}

/* Both halves of a mix are met all the time, with something else. */
static void test_mix(void **unused)
{
	(void)unused;
	struct trust trust;
	trust_init(&trust);
	for (uint32_t i = 0; i < 1000; i++) {
		trust_learn(&trust, a, 3, 3);
		trust_learn(&trust, b, 3, 3);
		if (i % 100 == 50)
			trust_learn(&trust, mixed, 3, 3);
	}
	assert_false(trust_believes(&trust, mixed, 3, 3, true));
	assert_false(trust_believes(&trust, mixed, 3, 3, false));
	assert_true(trust_believes(&trust, a, 3, 3, false));
	/* A function that nobody else calls, and a caller that calls nothing else,
	 * are rare but no mix. */
	assert_true(trust_believes(&trust, rare, 3, 3, true));
	assert_true(trust_believes(&trust, elsewhere, 3, 3, true));
	trust_fini(&trust);
}

/* What used to be a mix is believed once the program does it for a while. */
static void test_phases(void **unused)
{
	(void)unused;
	struct trust trust;
	trust_init(&trust);
	for (uint32_t i = 0; i < 100000; i++) {
		trust_learn(&trust, a, 3, 3);
		trust_learn(&trust, b, 3, 3);
	}
	assert_false(trust_believes(&trust, mixed, 3, 3, true));
	for (uint32_t i = 0; i < TRUST_FADE / TRUST_RARE; i++)
		trust_learn(&trust, mixed, 3, 3);
	assert_true(trust_believes(&trust, mixed, 3, 3, true));
	trust_fini(&trust);
}

static void test_bounded(void **unused)
{
	(void)unused;
	struct trust trust;
	trust_init(&trust);
	for (uint32_t i = 0; i < 3 * TRUST_MAX; i++) {
		struct walk_frame frame = FRAME(0x1000 + i * 8ull, 0);
		trust_learn(&trust, &frame, 1, 1);
		assert_true(trust.known.count <= TRUST_MAX + 3);
	}
	trust_fini(&trust);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trust),
		cmocka_unit_test(test_mix),
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
