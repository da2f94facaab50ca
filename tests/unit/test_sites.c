/* test_sites.c - bytes that wait for a sample are neither lost nor doubled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/sites.h"

/* Every stretch has one sample, which stands for all of it. */
static void test_one_sample_a_stretch(void **state)
{
	(void)state;
	struct agent_site *table = calloc(SITES_ALL, sizeof(*table));
	struct agent_site *site = sites_find(table, 77);
	assert_ptr_equal(sites_find(table, 77), site);
	for (int stretch = 0; stretch < 50; stretch++) {
		uint64_t sum = 0;
		for (int i = 0; i < 1000; i += 8)
			sum += sites_add(site, 8, 1000);
		assert_int_equal(sum, 1000);
	}
	assert_int_equal(sites_add(site, 5000, 1000), 5000); /* large ones stand for themselves */
	assert_int_equal(atomic_load(&site->added), 50 * 1000 + 5000);
	free(table);
}

/* What a sample stands for, with what is owed. */
static uint64_t add_and_pay(struct agent_site *site, uint64_t bytes, uint64_t window)
{
	uint64_t weight = sites_add(site, bytes, window);
	return weight + sites_take_owed(site, weight);
}

/* What is owed is paid by the next samples, by no one of them alone. */
static void test_owed(void **state)
{
	(void)state;
	struct agent_site site = {.key = 5};
	sites_give_back(&site, 1000000);
	uint64_t paid = 0, most = 0;
	for (int i = 0; i < 1000; i++) {
		uint64_t weight = add_and_pay(&site, 2000, 1000);
		most = weight > most ? weight : most;
		paid += weight - 2000;
	}
	assert_int_equal(paid, 1000000);
	assert_int_equal(atomic_load(&site.owed), 0);
	assert_in_range(most, 4000, 2000 + 1000000 / 64);
}

/* Passing by is the same as adding without a sample: one sample a stretch still. */
static void check_passing_by(bool is_alone)
{
	struct agent_site site = {.key = 5};
	uint32_t passed = 0;
	assert_false(sites_pass_by(&site, 8, is_alone)); /* no stretch has begun */
	for (int stretch = 0; stretch < 50; stretch++) {
		uint64_t sum = 0;
		for (int i = 0; i < 1000; i += 8) {
			if (sites_pass_by(&site, 8, is_alone))
				passed++;
			else
				sum += sites_add(&site, 8, 1000);
		}
		assert_int_equal(sum, 1000);
	}
	assert_in_range(passed, 50 * 122, 50 * 123); /* of 125: not the first, the last, the sampled */
	assert_int_equal(atomic_load(&site.added), 50 * 1000);
	assert_false(site.is_busy);
}

static void test_passing_by(void **state)
{
	(void)state;
	check_passing_by(false);
	check_passing_by(true);
	struct agent_site busy = {.key = 5, .is_busy = true, .stretch = 1000, .left = 1000};
	assert_false(sites_pass_by(&busy, 8, false));
}

/* Another thread is here: this one takes a sample and does not wait. */
static void test_busy_site(void **state)
{
	(void)state;
	struct agent_site site = {.key = 5, .is_busy = true};
	assert_int_equal(sites_add(&site, 10, 1000), 10);
	assert_int_equal(atomic_load(&site.added), 10);
}

/* With a window of the user's own every mark is a sample. */
static void test_no_window(void **state)
{
	(void)state;
	struct agent_site site = {.key = 5};
	assert_int_equal(sites_add(&site, 10, 0), 10);
	sites_give_back(&site, 10);
	assert_int_equal(add_and_pay(&site, 10, 0), 20);
}

/* Over many sites, and while their windows grow, no byte is lost on average. */
static void test_right_on_average(void **state)
{
	(void)state;
	static const struct meter_budget budget = {
		.least_window = 100, .burst = 20, .per_s = 1, .grace = 5};
	double sum = 0, added = 0;
	for (uint64_t key = 1; key <= 4000; key++) {
		struct agent_site site = {.key = key * 2 + 1};
		for (uint64_t i = 0; i < 100 + key % 400; i++) {
			sum += (double)sites_add(&site, 100, sites_window(&site, &budget, 1u << 30, 0));
			added += 100;
		}
	}
	assert_true(sum > 0.997 * added && sum < 1.003 * added);
}

/* However fast a site is, what waits is little beside what it took. */
static void test_window_is_bounded(void **state)
{
	(void)state;
	static const struct meter_budget budget = {
		.least_window = 100, .burst = 20, .per_s = 1, .grace = 5};
	struct agent_site site = {0};
	uint64_t sum = 0, samples = 0;
	for (int i = 0; i < 1000000; i++) {
		uint64_t weight = sites_add(&site, 100, sites_window(&site, &budget, 0, 0));
		sum += weight;
		samples += weight > 0;
		if (weight > 0)
			meter_rate_spend(&site.rate, &budget, 1, 1000000000);
	}
	assert_true(sum >= 99000000);
	assert_in_range(samples, 500, 2500);
}

/* Temporaries are known well enough by few samples; what lives is not. */
static void test_temporaries(void **state)
{
	(void)state;
	static const struct meter_budget budget = {
		.least_window = 8192, .burst = 1u << 30, .per_s = 1, .grace = 5};
	for (uint32_t lives = 0; lives < 2; lives++) {
		struct agent_site site = {.key = 77};
		double sum = 0, added = 0;
		uint32_t samples = 0;
		for (int i = 0; i < 10000; i++) {
			uint64_t weight = sites_add(&site, 8192, sites_window(&site, &budget, 0, 0));
			sum += (double)weight;
			added += 8192;
			samples += weight > 0;
			if (weight > 0)
				sites_begin_sample(&site);
			if (weight > 0 && (lives == 0 || samples % 16 != 0))
				sites_end_sample(&site);
		}
		assert_true(sum > 0.99 * added && sum < 1.01 * added);
		assert_true(lives == 0 ? samples < 700 : samples == 10000);
	}
}

/* Others take so much that the window of all is wide: a small site is sampled
 * all the same, and little of it waits. */
static void test_small_site_beside_large_ones(void **state)
{
	(void)state;
	static const struct meter_budget budget = {
		.least_window = 100, .burst = 20, .per_s = 1, .grace = 5};
	struct agent_site site = {0};
	uint64_t sum = 0, samples = 0;
	for (int i = 0; i < 1000; i++) {
		uint64_t weight = sites_add(&site, 100, sites_window(&site, &budget, 1u << 30, 0));
		sum += weight;
		samples += weight > 0;
	}
	assert_true(sum >= 93000);
	assert_in_range(samples, 50, 200);
}

/* Where the others take all: the more a site took, the better it is known, and better
 * still when its blocks live. */
static void test_longest_stretch(void **state)
{
	(void)state;
	static const struct meter_budget budget = {
		.least_window = 8192, .burst = 1u << 30, .per_s = 1, .grace = 5};
	static const struct {
		uint64_t added, window, live_window;
	} rows[] = {
		{400u << 10, 32768, 8192},
		{5u << 20, 256u << 10, 16384},
		{64u << 20, 1u << 20, 256u << 10},
		{1u << 30, 4u << 20, 4u << 20},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct agent_site site = {.key = 5, .added = rows[i].added, .taken = 40};
		assert_int_equal(sites_window(&site, &budget, 1u << 30, 0), rows[i].window);
		site.alive = 8;
		assert_int_equal(sites_window(&site, &budget, 1u << 30, 0), rows[i].live_window);
	}
}

/* What is slight beside all that the program took needs no stretch of its own, budget or not. */
static void test_slight_stretch(void **state)
{
	(void)state;
	static const struct meter_budget budget = {
		.least_window = 8192, .burst = 1u << 30, .per_s = 1, .grace = 5};
	struct agent_site site = {.key = 5, .added = 100000, .taken = 10, .alive = 10};
	assert_int_equal(sites_window(&site, &budget, 0, 0), 8192);
	assert_int_equal(sites_window(&site, &budget, 0, 70000), 65536);
	assert_int_equal(sites_window(&site, &budget, 1u << 30, 70000), 4 * 65536);
	assert_int_equal(sites_window(&site, &budget, 100000, 70000), 65536);
	site.added = 1u << 30;
	assert_int_equal(sites_window(&site, &budget, 1u << 30, 70000), 4u << 20);
}

static void test_keys_have_their_own_sites(void **state)
{
	(void)state;
	struct agent_site *table = calloc(SITES_ALL, sizeof(*table));
	uint64_t seen = 0;
	for (uint64_t key = 0; key < 2000; key++) {
		struct agent_site *site = sites_find(table, key * 2);
		seen += atomic_load(&site->added) != 0;
		sites_add(site, 1, 100);
	}
	assert_in_range(seen, 0, 5); /* those that found no place of their own */
	free(table);
}

/* More keys than places: they share, and nothing is lost. */
static void test_full_table(void **state)
{
	(void)state;
	struct agent_site *table = calloc(SITES_ALL, sizeof(*table));
	uint64_t sum = 0;
	for (uint64_t key = 0; key < 10 * SITES_COUNT; key++) {
		struct agent_site *site = sites_find(table, key * 7919);
		assert_in_range(site - table, 0, SITES_ALL - 1);
		sites_add(site, 1, 3);
	}
	for (uint32_t i = 0; i < SITES_ALL; i++)
		sum += atomic_load(&table[i].added);
	assert_int_equal(sum, 10 * SITES_COUNT);
	free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_sample_a_stretch),
		cmocka_unit_test(test_owed),
		cmocka_unit_test(test_passing_by),
		cmocka_unit_test(test_busy_site),
		cmocka_unit_test(test_no_window),
		cmocka_unit_test(test_right_on_average),
		cmocka_unit_test(test_window_is_bounded),
		cmocka_unit_test(test_temporaries),
		cmocka_unit_test(test_small_site_beside_large_ones),
		cmocka_unit_test(test_longest_stretch),
		cmocka_unit_test(test_slight_stretch),
		cmocka_unit_test(test_keys_have_their_own_sites),
		cmocka_unit_test(test_full_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
