/* Rounds come often while something happens, and rarely while nothing does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/pace.h"

#define NS_PER_S 1000000000ull

static void test_often_while_something_happens(void **state)
{
	(void)state;
	uint64_t random = 1;
	for (uint32_t i = 0; i < 1000; i++)
		assert_in_range(pace_next_ms(i * NS_PER_S / 10000, &random), PACE_MS, PACE_MS * 3 / 2);
}

/* A minute of nothing: a few rounds a second, and at no time a pause of more than
 * a small part of the quiet before it. */
static void test_rarely_while_nothing_does(void **state)
{
	(void)state;
	uint64_t random = 1, now_ns = 0;
	uint32_t rounds = 0;
	while (now_ns < 60 * NS_PER_S) {
		unsigned ms = pace_next_ms(now_ns, &random);
		assert_true(ms < PACE_MS * 3 / 2 || ms <= now_ns / 1000000 * 3 / 2 / PACE_PART);
		assert_in_range(ms, PACE_MS, PACE_MAX_MS * 3 / 2);
		now_ns += ms * 1000000ull;
		rounds++;
	}
	assert_in_range(rounds, 500, 700);
}

static void test_pauses_differ(void **state)
{
	(void)state;
	uint64_t random = 1;
	uint32_t seen[PACE_MS * 3 / 2] = {0}, different = 0;
	for (uint32_t i = 0; i < 1000; i++)
		seen[pace_next_ms(0, &random)]++;
	for (uint32_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
		different += seen[i] > 0;
	assert_int_equal(different, PACE_MS / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_often_while_something_happens),
		cmocka_unit_test(test_rarely_while_nothing_does),
		cmocka_unit_test(test_pauses_differ),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
