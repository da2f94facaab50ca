/* test_meter.c - estimates that are right on average, and how far they err. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/meter.h"

#define WINDOW 8192u

/* What a thread's hook does with a block. */
static uint64_t pass(struct meter *meter, uint64_t *left, uint64_t size, uint64_t window,
		     uint64_t seed)
{
	if (size > *left)
		return meter_take(meter, left, size, window, seed);
	*left -= size;
	return 0;
}

/* Bytes estimated for `count` blocks of one size. */
static double estimate(uint64_t size, uint64_t count, uint64_t seed)
{
	struct meter meter = {0};
	uint64_t left = 0, sum = 0;
	for (uint64_t i = 0; i < count; i++)
		sum += pass(&meter, &left, size, WINDOW, seed);
	return (double)sum;
}

/* 5 MB in blocks of any size: near for every seed, and right on average. */
static void test_all_sizes(void **state)
{
	(void)state;
	static const uint64_t sizes[] = {1, 16, 28, 56, 500, 1000, 4096, 8191, 8192, 10000, 12287,
					 12288, 20000, 1000000};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint64_t count = 5000000 / sizes[i];
		double truth = (double)(count * sizes[i]), mean = 0;
		for (uint64_t seed = 1; seed <= 40; seed++) {
			double seen = estimate(sizes[i], count, seed * 1000003);
			assert_float_equal(seen / truth, 1, 0.05);
			mean += seen / 40;
		}
		assert_float_equal(mean / truth, 1, 0.004);
	}
}

static void test_large_blocks_are_exact(void **state)
{
	(void)state;
	struct meter meter = {0};
	uint64_t left = 0;
	assert_int_equal(pass(&meter, &left, 1 << 20, WINDOW, 7), 1 << 20); /* also the first */
	for (uint64_t size = WINDOW + WINDOW / 2; size < 100000; size += 777) {
		uint64_t before = left;
		assert_int_equal(pass(&meter, &left, size, WINDOW, 7), size);
		assert_int_equal(left, before);
	}
}

/* Many threads that allocate less than a window each. */
static void test_short_threads(void **state)
{
	(void)state;
	double sum = 0;
	for (uint64_t seed = 0; seed < 20000; seed++)
		sum += estimate(100, 10, seed * 64);
	assert_float_equal(sum / (20000.0 * 1000), 1, 0.06); /* 2400 samples: 2 % */
}

/* A line that allocates 1 block in 8, in step with seven others. */
static void test_lines_in_step(void **state)
{
	(void)state;
	static const uint64_t sizes[] = {64, 1024, 64, 64, 64, 2048, 64, 704}; /* 4 KiB a round */
	double sums[8] = {0};
	struct meter meter = {0};
	uint64_t left = 0;
	for (uint64_t i = 0; i < 8 * 50000; i++)
		sums[i % 8] += (double)pass(&meter, &left, sizes[i % 8], WINDOW, 3);
	assert_float_equal(sums[1] / (50000.0 * 1024), 1, 0.05);
	assert_float_equal(sums[5] / (50000.0 * 2048), 1, 0.04);
}

static void test_window_changes(void **state)
{
	(void)state;
	struct meter meter = {0};
	uint64_t left = 0;
	double sum = 0;
	uint64_t window = WINDOW;
	for (uint64_t i = 0; i < 2000000; i++) {
		if (i % 10007 == 0)
			window = WINDOW << (i / 10007 * 7 % 5);
		sum += (double)pass(&meter, &left, 50, window, 11);
		assert_true(left <= (WINDOW << 4) * 3 / 2);
	}
	assert_float_equal(sum / (2000000.0 * 50), 1, 0.03);
}

static void test_rate_widens_and_narrows(void **state)
{
	(void)state;
	static const struct meter_budget budget = {
		.least_window = WINDOW, .burst = 1200, .per_s = 100,
		.grace = 75};
	struct meter_rate rate = {0};
	uint64_t now_ns = 1000000000;
	for (int i = 0; i < 1200; i++)
		meter_rate_spend(&rate, &budget, 1, now_ns);
	assert_int_equal(meter_rate_window(&rate, &budget), WINDOW);
	meter_rate_spend(&rate, &budget, 1, now_ns);
	assert_int_equal(meter_rate_window(&rate, &budget), 2 * WINDOW);
	for (int i = 0; i < 100000; i++)
		meter_rate_spend(&rate, &budget, 1, now_ns);
	assert_true(meter_rate_window(&rate, &budget) >= 1024 * WINDOW);
	for (int i = 0; i < 200; i++)
		meter_rate_spend(&rate, &budget, 1, now_ns += 1000000000);
	assert_int_equal(meter_rate_window(&rate, &budget), WINDOW);
	meter_rate_raise_floor(&rate);
	for (int i = 0; i < 200; i++)
		meter_rate_spend(&rate, &budget, 1, now_ns += 1000000000);
	assert_int_equal(meter_rate_window(&rate, &budget), 2 * WINDOW);
}

/* The clock is that of a process which has just begun: the first burst is there at once. */
static void test_rate_of_a_young_process(void **state)
{
	(void)state;
	static const struct meter_budget budget = {
		.least_window = WINDOW, .burst = 100, .per_s = 1000, .grace = 10};
	struct meter_rate rate = {0};
	for (int i = 0; i < 100; i++)
		meter_rate_spend(&rate, &budget, 1, 1000);
	assert_int_equal(meter_rate_window(&rate, &budget), WINDOW);
	meter_rate_spend(&rate, &budget, 1, 1000);
	assert_int_equal(meter_rate_window(&rate, &budget), 2 * WINDOW);
}

/* What comes steadily at three times the budget is sampled at the budget. */
static void test_rate_keeps_its_budget(void **state)
{
	(void)state;
	static const struct meter_budget budget = {
		.least_window = WINDOW, .burst = 500, .per_s = 1000,
		.grace = 50};
	struct meter_rate rate = {0};
	uint64_t samples = 0, pending = 0;
	for (uint64_t ms = 1; ms <= 60000; ms++) {
		pending += 3 * WINDOW;
		while (pending >= meter_rate_window(&rate, &budget)) {
			pending -= meter_rate_window(&rate, &budget);
			samples++;
			meter_rate_spend(&rate, &budget, 1, ms * 1000000);
		}
	}
	assert_in_range(samples, 50000, 75000);
}

/* A child begins with less than a burst, and gets more as time goes by. */
static void test_rate_of_a_child(void **state)
{
	(void)state;
	static const struct meter_budget budget = {WINDOW, 100, 1000, 10};
	struct meter_rate rate = {0};
	uint64_t now_ns = 5000;
	meter_rate_begin(&rate, 25, now_ns);
	for (int i = 0; i < 25; i++)
		meter_rate_spend(&rate, &budget, 1, now_ns);
	assert_int_equal(meter_rate_window(&rate, &budget), WINDOW);
	meter_rate_spend(&rate, &budget, 1, now_ns);
	assert_int_equal(meter_rate_window(&rate, &budget), 2 * WINDOW);
	meter_rate_spend(&rate, &budget, 1, now_ns += 100000000); /* 100 more */
	assert_int_equal(meter_rate_window(&rate, &budget), WINDOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_sizes),
		cmocka_unit_test(test_large_blocks_are_exact),
		cmocka_unit_test(test_short_threads),
		cmocka_unit_test(test_lines_in_step),
		cmocka_unit_test(test_window_changes),
		cmocka_unit_test(test_rate_widens_and_narrows),
		cmocka_unit_test(test_rate_of_a_young_process),
		cmocka_unit_test(test_rate_keeps_its_budget),
		cmocka_unit_test(test_rate_of_a_child),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
