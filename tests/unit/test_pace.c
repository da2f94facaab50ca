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
		assert_in_range(pace_next_ms(i * NS_PER_S / 10000, 0, &random), PACE_MS, PACE_MS * 3 / 2);
}

/* A minute of nothing: a few rounds a second, and at no time a pause of more than
 * a small part of the quiet before it. */
static void test_rarely_while_nothing_does(void **state)
{
	(void)state;
	uint64_t random = 1, now_ns = 0;
	uint32_t rounds = 0;
	while (now_ns < 60 * NS_PER_S) {
		unsigned ms = pace_next_ms(now_ns, 0, &random);
		assert_true(ms < PACE_MS * 3 / 2 || ms <= now_ns / 1000000 * 3 / 2 / PACE_PART);
		assert_in_range(ms, PACE_MS, PACE_MAX_MS * 3 / 2);
		now_ns += ms * 1000000ull;
		rounds++;
	}
	assert_in_range(rounds, 500, 700);
}

/* Rounds that cost much take a small part of the time, however much happens. */
static void test_rarely_where_rounds_are_dear(void **state)
{
	(void)state;
	uint64_t random = 1;
	for (uint64_t cost_ns = 1000; cost_ns < PACE_MAX_MS * 1000000ull / PACE_COST_PART;
	     cost_ns += 1000) {
		unsigned ms = pace_next_ms(0, cost_ns, &random);
		assert_true((ms + 1) * 1000000ull > cost_ns * PACE_COST_PART);
		assert_true(ms < PACE_MS * 3 / 2 || ms * 2000000ull <= cost_ns * PACE_COST_PART * 3);
	}
	assert_in_range(pace_next_ms(0, NS_PER_S, &random), PACE_MAX_MS, PACE_MAX_MS * 3 / 2);
}

static void test_pauses_differ(void **state)
{
	(void)state;
	uint64_t random = 1;
	uint32_t seen[PACE_MS * 3 / 2] = {0}, different = 0;
	for (uint32_t i = 0; i < 1000; i++)
		seen[pace_next_ms(0, 0, &random)]++;
	for (uint32_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
		different += seen[i] > 0;
	assert_int_equal(different, PACE_MS / 2);
}

/* Looks for a library: often while modules come, at most a part of the time, and soon enough. */
static void test_finding(void **state)
{
	(void)state;
	assert_int_equal(pace_find_ns(0, 0), PACE_FIND_NS);
	assert_int_equal(pace_find_ns(1000, NS_PER_S), PACE_FIND_NS);
	assert_int_equal(pace_find_ns(0, 2 * NS_PER_S), 2 * NS_PER_S / PACE_PART);
	assert_int_equal(pace_find_ns(600000, 0), 600000 * PACE_FIND_PART);
	assert_int_equal(pace_find_ns(600000, 2 * NS_PER_S), 600000 * PACE_FIND_PART);
	assert_int_equal(pace_find_ns(0, 3600 * NS_PER_S), PACE_FIND_MAX_NS);
	assert_int_equal(pace_find_ns(NS_PER_S, 0), PACE_FIND_MAX_NS);
}

/* --- whether a thread calls for rounds --- */

static struct pace_look computes(uint64_t waited_ms, uint64_t since_ms)
{
	return (struct pace_look){
		.has_run = true, .waited_ns = waited_ms * 1000000, .since_ns = since_ms * 1000000};
}

static void test_computing_is_calm(void **state)
{
	(void)state;
	struct pace_look look = computes(0, 30);
	assert_false(pace_is_astir(&look));
	/* its clock lags behind by a tick or two; a little waiting is not worth a look */
	look = computes(15, 30);
	assert_false(pace_is_astir(&look));
	look = computes(39, 2000);
	assert_false(pace_is_astir(&look));
}

static void test_waiting_unseen_is_not(void **state)
{
	(void)state;
	struct pace_look look = computes(16, 30);
	assert_true(pace_is_astir(&look));
	look = computes(40, 2000);
	assert_true(pace_is_astir(&look));
}

static void test_going_on_waiting_is_calm(void **state)
{
	(void)state;
	struct pace_look look = {.was_waiting = true, .is_waiting = true, .waited_ns = NS_PER_S,
				 .since_ns = NS_PER_S};
	assert_false(pace_is_astir(&look));
}

/* A server that wakes up twice a second to see whether it is to end. */
static void test_waiting_again_is_calm_after_a_while(void **state)
{
	(void)state;
	struct pace_look look = {.has_run = true, .was_waiting = true, .is_waiting = true,
				 .waited_ns = NS_PER_S, .since_ns = NS_PER_S,
				 .settled_ns = PACE_SETTLED_NS};
	assert_false(pace_is_astir(&look));
	look.settled_ns--;
	assert_true(pace_is_astir(&look));
	look = (struct pace_look){.has_run = true, .was_waiting = true, .settled_ns = PACE_SETTLED_NS};
	assert_true(pace_is_astir(&look));
}

/* It begins to wait, ends waiting, or waits again, maybe elsewhere. */
static void test_every_change_is_not(void **state)
{
	(void)state;
	for (unsigned bits = 1; bits < 8; bits++) {
		struct pace_look look = {.has_run = (bits & 1) != 0, .was_waiting = (bits & 2) != 0,
					 .is_waiting = (bits & 4) != 0};
		bool goes_on = look.has_run ? !look.was_waiting && !look.is_waiting
					    : look.was_waiting || !look.is_waiting;
		assert_int_equal(pace_is_astir(&look), !goes_on);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_often_while_something_happens),
		cmocka_unit_test(test_rarely_while_nothing_does),
		cmocka_unit_test(test_rarely_where_rounds_are_dear),
		cmocka_unit_test(test_pauses_differ),
		cmocka_unit_test(test_finding),
		cmocka_unit_test(test_computing_is_calm),
		cmocka_unit_test(test_waiting_unseen_is_not),
		cmocka_unit_test(test_going_on_waiting_is_calm),
		cmocka_unit_test(test_waiting_again_is_calm_after_a_while),
		cmocka_unit_test(test_every_change_is_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
