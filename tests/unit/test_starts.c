/* test_starts.c - starts.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/starts.h"

struct item {
	uint64_t start;
	uint32_t number;
};

static void test_an_empty_row_has_nothing(void **state)
{
	(void)state;
	starts_sort(NULL, 0, sizeof(struct item));
	assert_int_equal(starts_until(NULL, 0, sizeof(struct item), UINT64_MAX), 0);
}

static void test_items_travel_with_their_starts(void **state)
{
	(void)state;
	struct item items[] = {{UINT64_MAX, 4}, {20, 2}, {0, 0}, {1ull << 63, 3}, {10, 1}};
	starts_sort(items, 5, sizeof(items[0]));
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(items[i].number, i);
}

/* For rows of every length up to some: what a walk through all of them says. */
static void test_every_place_is_found(void **state)
{
	(void)state;
	struct item items[9];
	for (uint32_t count = 0; count <= 9; count++) {
		for (uint32_t i = 0; i < count; i++)
			items[i] = (struct item){10 + 3 * (uint64_t)i, i};
		for (uint64_t at = 0; at < 50; at++) {
			uint32_t expected = 0;
			while (expected < count && items[expected].start <= at)
				expected++;
			assert_int_equal(starts_until(items, count, sizeof(items[0]), at), expected);
		}
		assert_int_equal(starts_until(items, count, sizeof(items[0]), UINT64_MAX), count);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_empty_row_has_nothing),
		cmocka_unit_test(test_items_travel_with_their_starts),
		cmocka_unit_test(test_every_place_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
