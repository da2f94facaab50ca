/* test_trust.c - what was seen standing still is believed, mixes are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/trust.h"

/* hot_a calls leaf_a and hot_b calls leaf_b, both called by main. */
static const struct walk_frame a[] = {{0x10, 4, 0, 0}, {0x20, 8, 0, 0}, {0x50, 12, 0, 0}};
static const struct walk_frame b[] = {{0x30, 6, 0, 0}, {0x40, 8, 0, 0}, {0x50, 16, 0, 0}};
static const struct walk_frame mixed[] = {{0x10, 4, 0, 0}, {0x40, 8, 0, 0}, {0x50, 16, 0, 0}};
static const struct walk_frame moved[] = {{0x10, 10, 0, 0}, {0x20, 8, 0, 0}, {0x50, 12, 0, 0}};

static void test_trust(void **unused)
{
	(void)unused;
	struct trust trust;
	trust_init(&trust);
	assert_false(trust_knows(&trust, a, 3));
	for (uint32_t i = 0; i < TRUST_TIMES; i++) {
		assert_false(trust_knows(&trust, a, 3));
		trust_learn(&trust, a, 3);
		trust_learn(&trust, b, 3);
	}
	assert_true(trust_knows(&trust, a, 3));
	assert_true(trust_knows(&trust, b, 3));
	assert_true(trust_knows(&trust, moved, 3)); /* elsewhere in the innermost function */
	assert_false(trust_knows(&trust, mixed, 3));
	trust_fini(&trust);
}

static void test_bounded(void **unused)
{
	(void)unused;
	struct trust trust;
	trust_init(&trust);
	for (uint32_t i = 0; i < 3 * TRUST_MAX; i++) {
		struct walk_frame frame = {0x1000 + i * 8ull, 0, 0, 0};
		trust_learn(&trust, &frame, 1);
		assert_true(trust.known.count <= TRUST_MAX + 1);
	}
	trust_fini(&trust);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trust),
		cmocka_unit_test(test_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
