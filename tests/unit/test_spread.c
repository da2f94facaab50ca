/* test_spread.c - program counters that move about, and those that stand still. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/spread.h"

#define BASE 0x7f0000001000ull

/* So many samples at so many places in turn. */
static struct spread take(uint32_t samples, uint32_t places)
{
	struct spread spread = {.seen = 0};
	for (uint32_t i = 0; i < samples; i++)
		spread_add(&spread, BASE + (uint64_t)i * 7919 % places * 4);
	return spread;
}

static void test_few_samples_say_nothing(void **state)
{
	(void)state;
	struct spread still = take(15, 1), moving = take(15, 50), none = {.seen = 0};
	assert_int_equal(spread_kind(&none), SPREAD_UNKNOWN);
	assert_int_equal(spread_kind(&still), SPREAD_UNKNOWN);
	assert_int_equal(spread_kind(&moving), SPREAD_UNKNOWN);
}

static void test_moving_and_standing(void **state)
{
	(void)state;
	struct spread still = take(16, 1), two = take(100, 2), many = take(100, 50);
	assert_int_equal(spread_kind(&still), SPREAD_STANDS);
	assert_int_equal(spread_kind(&two), SPREAD_STANDS);
	assert_int_equal(spread_kind(&many), SPREAD_MOVES);
}

/* An access to a dictionary waits at two places, and is met elsewhere now and then. */
static void test_mostly_standing(void **state)
{
	(void)state;
	struct spread spread = {.seen = 0};
	for (uint32_t i = 0; i < 200; i++)
		spread_add(&spread, BASE + (i % 5 == 0 ? 1000 + i : i % 2));
	assert_int_equal(spread_kind(&spread), SPREAD_STANDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few_samples_say_nothing),
		cmocka_unit_test(test_moving_and_standing),
		cmocka_unit_test(test_mostly_standing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
