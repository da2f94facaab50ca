/* test_stack_parts.c - stack nodes by bin: sums and folding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "profile/stack_parts.h"

static void test_sum_joins_and_sorts(void **state)
{
	struct stack_part parts[] = {{2, 1, 5}, {1, 3, 7}, {2, 1, 6}, {2, 0, 1}, {3, 3, 0}};
	assert_int_equal(stack_parts_sum(parts, 5), 3);
	assert_int_equal(parts[0].node, 1);
	assert_int_equal(parts[1].part, 0);
	assert_int_equal(parts[2].us, 11);
	assert_int_equal(stack_parts_sum(parts, 0), 0);
}

static void test_fold_moves_the_light_to_their_callers(void **state)
{
	/* root - 1 - 2, 3; the bins 0 and 1 */
	const uint32_t parents[] = {0, 0, 1, 1};
	struct stack_part parts[] = {{1, 0, 2}, {2, 0, 100}, {2, 1, 3}, {3, 0, 4}, {3, 1, 90}};
	assert_int_equal(stack_parts_fold(parts, 5, parents, 4, 9), 5);
	assert_int_equal(stack_parts_fold(parts, 5, parents, 4, 4), 4);
	/* Node 2 in bin 1 went to node 1; 2 and 4 of bin 0 joined there or above. */
	uint64_t sums[2] = {0, 0};
	for (int i = 0; i < 4; i++)
		sums[parts[i].part] += parts[i].us;
	assert_int_equal(sums[0], 106);
	assert_int_equal(sums[1], 93);
	assert_int_equal(parts[3].us, 90);
}

/* Whatever it looks like, it fits, and every bin keeps its sum. */
static void test_fold_is_bounded(void **state)
{
	enum { NODES = 3000, BINS = 50, COUNT = 40000 };
	static uint32_t parents[NODES];
	static struct stack_part parts[COUNT];
	uint64_t before[BINS] = {0}, after[BINS] = {0};
	srand(7);
	for (uint32_t i = 1; i < NODES; i++)
		parents[i] = i < 1000 ? i - 1 : (uint32_t)rand() % i;
	for (uint32_t i = 0; i < COUNT; i++) {
		parts[i] = (struct stack_part){(uint32_t)rand() % NODES, (uint32_t)rand() % BINS,
					       (uint64_t)rand() % 1000};
		before[parts[i].part] += parts[i].us;
	}
	uint32_t count = stack_parts_sum(parts, COUNT);
	for (uint32_t keep = 20000; keep >= BINS; keep /= 3) {
		count = stack_parts_fold(parts, count, parents, NODES, keep);
		assert_true(count <= keep);
		assert_true(count > keep / 8);
	}
	for (uint32_t i = 0; i < count; i++) {
		after[parts[i].part] += parts[i].us;
		if (i > 0)
			assert_true(parts[i - 1].node <= parts[i].node);
	}
	assert_memory_equal(before, after, sizeof(before));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sum_joins_and_sorts),
		cmocka_unit_test(test_fold_moves_the_light_to_their_callers),
		cmocka_unit_test(test_fold_is_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
