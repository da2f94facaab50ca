/* test_weigh.c - weights that are fair to each clock and add up to the CPU time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/weigh.h"

#define MS 1000000u

static uint64_t sum(struct weight weight)
{
	return weight.user_ns + weight.system_ns;
}

/* A tick stands for what the kernel's tally has grown by, once. */
static void test_tick_stands_for_its_mode(void **state)
{
	(void)state;
	struct weigher weigher;
	weigher_init(&weigher, 0, (struct weight){8 * MS, 4 * MS});
	struct weight in_kernel = weigher_tick(&weigher, (struct weight){8 * MS, 8 * MS});
	assert_int_equal(in_kernel.user_ns, 0);
	assert_int_equal(in_kernel.system_ns, 4 * MS);
	struct weight in_user = weigher_tick(&weigher, (struct weight){12 * MS, 8 * MS});
	assert_int_equal(in_user.user_ns, 4 * MS);
	assert_int_equal(in_user.system_ns, 0);
}

/* What a sample weighs hardly depends on how long the last one is ago. */
static void test_weight_is_nominal(void **state)
{
	(void)state;
	struct weigher weigher;
	weigher_init(&weigher, 0, (struct weight){0, 0});
	struct weight early = weigher_take(&weigher, MS / 10, (struct weight){2 * MS, 0});
	assert_in_range(early.user_ns, 1800000, 2000000);
	struct weight late = weigher_take(&weigher, 6 * MS, (struct weight){2 * MS, 0});
	assert_in_range(late.user_ns, 2 * MS, 2300000);
	assert_int_equal(late.system_ns, 0);
}

/* Whatever the samples said, all CPU time is given out in the end. */
static void test_weights_add_up(void **state)
{
	(void)state;
	struct weigher weigher;
	weigher_init(&weigher, 1000 * MS, (struct weight){0, 0});
	uint64_t cpu_ns = 1000 * MS, given_ns = 0;
	for (unsigned i = 0; i < 5000; i++) {
		struct weight nominal = {i % 5 == 0 ? 0 : 2 * MS, i % 5 == 0 ? 4 * MS : 0};
		cpu_ns += 1 * MS + (i * 7919u) % (2 * MS);
		given_ns += sum(weigher_take(&weigher, cpu_ns, nominal));
	}
	int64_t used_ns = (int64_t)(cpu_ns - 1000 * MS);
	assert_int_equal(used_ns, (int64_t)given_ns + weigher.balance_ns);
	assert_true(weigher.balance_ns < 20 * (int64_t)MS && weigher.balance_ns > -20 * (int64_t)MS);
}

/* After signals were lost for a while, the next sample carries their time. */
static void test_lost_time_is_carried_at_once(void **state)
{
	(void)state;
	struct weigher weigher;
	struct weight nominal = {0, 4 * MS};
	weigher_init(&weigher, 0, (struct weight){0, 0});
	assert_true(weigher_is_behind(&weigher, 1000 * MS, nominal));
	weigher_hear(&weigher, (struct weight){1000 * MS, 0});
	struct weight weight = weigher_take(&weigher, 1000 * MS, nominal);
	assert_int_equal(weight.system_ns, 1000 * MS);
	assert_int_equal(weigher.balance_ns, 0);
	assert_false(weigher_is_behind(&weigher, 1004 * MS, nominal));
	/* The same where ticks have told it, of which none became a sample. */
	for (unsigned i = 1; i <= 50; i++)
		weigher_tick(&weigher, (struct weight){1000 * MS + i * 4 * MS, 0});
	weight = weigher_take(&weigher, 1200 * MS, (struct weight){2 * MS, 0});
	assert_int_equal(sum(weight), 200 * MS);
}

/* A machine that was stopped and does not know it: the CPU clock has jumped, the tally has
 * not.  No sample carries much of that. */
static void test_a_stop_is_spread(void **state)
{
	(void)state;
	struct weigher weigher;
	weigher_init(&weigher, 0, (struct weight){0, 0});
	uint64_t cpu_ns = 300 * MS, given_ns = 0;
	for (unsigned i = 1; i <= 200; i++, cpu_ns += 2 * MS) {
		struct weight nominal = {2 * MS, 0};
		weigher_tick(&weigher, (struct weight){i * 2 * MS, 0});
		if (weigher_is_behind(&weigher, cpu_ns, nominal))
			weigher_hear(&weigher, (struct weight){i * 2 * MS, 0});
		struct weight weight = weigher_take(&weigher, cpu_ns, nominal);
		assert_in_range(weight.user_ns, 2 * MS, 21 * MS);
		given_ns += weight.user_ns;
	}
	assert_in_range(given_ns, cpu_ns - 3 * MS, cpu_ns);
}

/* A weight never turns negative, and clocks that step back are borne. */
static void test_bounds(void **state)
{
	(void)state;
	struct weigher weigher;
	weigher_init(&weigher, 10 * MS, (struct weight){4 * MS, 4 * MS});
	for (unsigned i = 0; i < 100; i++) {
		struct weight weight = weigher_take(&weigher, 9 * MS, (struct weight){0, 4 * MS});
		assert_in_range(weight.system_ns, 2 * MS, 4 * MS);
	}
	assert_int_equal(sum(weigher_tick(&weigher, (struct weight){0, 0})), 0);
	assert_true(weigher_rest_ns(&weigher, 10 * MS) < 0);
}

/* A thread that ends hands over what no sample has carried. */
static void test_rest(void **state)
{
	(void)state;
	struct weigher weigher;
	weigher_init(&weigher, 5 * MS, (struct weight){0, 0});
	assert_int_equal(weigher_rest_ns(&weigher, 8 * MS), 3 * MS);
	/* Met by a tick after one of its three milliseconds: both sides add up. */
	struct weight weight = weigher_take(&weigher, 6 * MS, (struct weight){4 * MS, 0});
	assert_int_equal((int64_t)sum(weight) + weigher_rest_ns(&weigher, 8 * MS), 3 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tick_stands_for_its_mode),
		cmocka_unit_test(test_weight_is_nominal),
		cmocka_unit_test(test_weights_add_up),
		cmocka_unit_test(test_lost_time_is_carried_at_once),
		cmocka_unit_test(test_a_stop_is_spread),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_rest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
