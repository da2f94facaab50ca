/* test_price.c - the cost of a perf signal, read off the clock's jumps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wire/price.h"

#define US 1000u
#define READING_NS 40u
#define DELIVERY_US 8u /* what the loop does not see */

/* A loop that reads the clock until the next interrupt, which takes so long. */
static uint64_t read_until(struct price_gaps *gaps, uint64_t from_ns, uint64_t at_ns, uint64_t takes_ns)
{
	while (from_ns < at_ns) {
		price_see(gaps, from_ns, from_ns + READING_NS);
		from_ns += READING_NS;
	}
	price_see(gaps, from_ns, from_ns + takes_ns);
	return from_ns + takes_ns;
}

static void test_is_what_an_event_takes(void **state)
{
	(void)state;
	struct price_gaps gaps = {.count = 0};
	uint64_t now_ns = 0;
	for (uint64_t i = 1; i <= 6; i++)
		now_ns = read_until(&gaps, now_ns, i * 150 * US, 5 * US);
	assert_int_equal(gaps.count, 6);
	assert_int_equal(price_of(&gaps), (5 + DELIVERY_US) * US);
}

/* The timer's interrupt and the one that sends the signal are one event. */
static void test_both_interrupts_count(void **state)
{
	(void)state;
	struct price_gaps gaps = {.count = 0};
	uint64_t now_ns = 0;
	for (uint64_t i = 1; i <= 6; i++) {
		now_ns = read_until(&gaps, now_ns, i * 150 * US, 30 * US);
		now_ns = read_until(&gaps, now_ns, now_ns + US, 20 * US);
	}
	assert_int_equal(gaps.count, 6);
	assert_int_equal(price_of(&gaps), (50 + DELIVERY_US) * US);
}

/* Losing the CPU once, or another interrupt, does not change it. */
static void test_others_do_not_count(void **state)
{
	(void)state;
	struct price_gaps gaps = {.count = 0};
	uint64_t now_ns = 0;
	for (uint64_t i = 1; i <= 5; i++)
		now_ns = read_until(&gaps, now_ns, now_ns + 150 * US, i == 3 ? 4000 * US : 8 * US);
	now_ns = read_until(&gaps, now_ns, now_ns + 70 * US, 2 * US);
	assert_int_equal(price_of(&gaps), (8 + DELIVERY_US) * US);
}

/* A host that is busy makes most of them longer. */
static void test_busy_host(void **state)
{
	(void)state;
	struct price_gaps gaps = {.count = 0};
	uint64_t now_ns = 0;
	for (uint64_t i = 1; i <= 7; i++)
		now_ns = read_until(&gaps, now_ns, now_ns + 150 * US, i % 3 == 0 ? 20 * US : 90 * US);
	assert_int_equal(price_of(&gaps), (20 + DELIVERY_US) * US);
}

/* Nothing seen, or a clock that itself takes long: taken to be dear. */
static void test_unknown_is_dear(void **state)
{
	(void)state;
	struct price_gaps none = {.count = 0}, many = {.count = 0};
	assert_true(price_of(&none) >= 50 * US);
	for (uint64_t i = 0; i < 1000; i++)
		price_see(&many, i * 50 * US, i * 50 * US + 2 * US);
	assert_int_equal(many.count, PRICE_GAPS_MAX);
	assert_true(price_of(&many) >= 50 * US);
}

static void test_is_bounded(void **state)
{
	(void)state;
	struct price_gaps much = {.count = 0};
	price_see(&much, 0, 5000 * US);
	assert_in_range(price_of(&much), 50 * US, 200 * US);
}

/* A server with two switches a request, and threads that take turns at the GIL. */
static void test_switching_threads(void **state)
{
	(void)state;
	uint64_t second_ns = 1000000 * US;
	assert_true(price_is_switching(50 * US, 10000, second_ns));
	assert_true(price_is_switching(50 * US, 200, second_ns / 50));
	assert_false(price_is_switching(50 * US, 400, second_ns));
	assert_false(price_is_switching(3 * US, 10000, second_ns));
	assert_false(price_is_switching(50 * US, 0, second_ns));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_what_an_event_takes),
		cmocka_unit_test(test_both_interrupts_count),
		cmocka_unit_test(test_others_do_not_count),
		cmocka_unit_test(test_busy_host),
		cmocka_unit_test(test_unknown_is_dear),
		cmocka_unit_test(test_is_bounded),
		cmocka_unit_test(test_switching_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
