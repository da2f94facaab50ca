/* test_live.c - sampled blocks are found again, however many there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/live.h"

#define MANY 120000u

/* An address like those that malloc gives; no block is ever touched. */
static const void *block_at(uint32_t number)
{
	return (const void *)(0x7f0000000010ull + (uint64_t)number * 48u); /* NOLINT: an address */
}

static void test_added_and_taken(void **state)
{
	(void)state;
	assert_int_equal(live_start(), 0);
	assert_int_equal(live_take(block_at(1)), 0);
	assert_int_equal(live_add(block_at(1), 7), LIVE_ADDED);
	assert_true(live_may_have(block_at(1)));
	assert_int_equal(live_take(block_at(2)), 0);
	assert_int_equal(live_take(block_at(1)), 7);
	assert_int_equal(live_take(block_at(1)), 0);
	assert_false(live_may_have(block_at(1)));
}

/* Far more than the first table holds; those that are left are found when others went. */
static void test_many(void **state)
{
	(void)state;
	assert_int_equal(live_start(), 0);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(live_add(block_at(i), i + 1), LIVE_ADDED);
	for (uint32_t i = 0; i < MANY; i += 2)
		assert_int_equal(live_take(block_at(i)), i + 1);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(live_take(block_at(i)), i % 2 == 0 ? 0 : i + 1);
}

/* Half full: said once, and again at half of the rest.  Then full, and nothing is forgotten. */
static void test_crowded_and_full(void **state)
{
	(void)state;
	assert_int_equal(live_start(), 0);
	uint32_t crowded = 0, number = 0;
	enum live_added added;
	while ((added = live_add(block_at(number), number + 1)) != LIVE_FULL) {
		if (added == LIVE_CROWDED && crowded++ == 0)
			assert_int_equal(number, 131072);
		number++;
	}
	assert_in_range(crowded, 2, 10);
	assert_in_range(number, 200000, 262144);
	for (uint32_t i = 0; i < number; i++)
		assert_int_equal(live_take(block_at(i)), i + 1);
	assert_int_equal(live_start(), 0);
	assert_int_equal(live_take(block_at(3)), 0);
}

/* The child of a fork has none of them, and the parent all. */
static void test_forked(void **state)
{
	(void)state;
	assert_int_equal(live_start(), 0);
	for (uint32_t i = 0; i < 1000; i++)
		live_add(block_at(i), i + 1);
	pid_t child = fork();
	if (child == 0) {
		bool is_empty = live_after_fork() == 0;
		for (uint32_t i = 0; i < 1000; i++)
			is_empty = is_empty && !live_may_have(block_at(i)) &&
				   live_add(block_at(i), 1) == LIVE_ADDED && live_take(block_at(i)) == 1;
		_exit(is_empty ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(live_take(block_at(i)), i + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_added_and_taken),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_crowded_and_full),
		cmocka_unit_test(test_forked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
