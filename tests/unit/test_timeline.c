/* test_timeline.c - bins that widen, tables that stay bounded, sums that stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "collect/timeline.h"

#define MS 1000000ull

static uint64_t row_sum(const struct timeline *timeline, uint32_t row, enum timeline_kind kind)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < timeline->bins; i++)
		sum += timeline->rows.items[row]->ns[kind][i];
	return sum;
}

static uint64_t table_sum(const struct map *table, uint32_t *largest_part)
{
	uint32_t count;
	uint64_t sum = 0;
	struct stack_part *list = timeline_list(table, &count);
	*largest_part = 0;
	for (uint32_t i = 0; i < count; i++) {
		sum += list[i].us;
		*largest_part = list[i].part > *largest_part ? list[i].part : *largest_part;
	}
	free(list);
	return sum;
}

static void test_time_is_cut_at_the_edges(void **state)
{
	struct timeline timeline;
	timeline_init(&timeline);
	uint32_t row = timeline_add_row(&timeline);
	timeline_add_time(&timeline, row, TIMELINE_WAIT, 12 * MS, 10 * MS); /* 2 to 12 ms */
	const uint64_t *bins = timeline.rows.items[row]->ns[TIMELINE_WAIT];
	assert_int_equal(timeline.bins, 3);
	assert_int_equal(bins[0], 3 * MS);
	assert_int_equal(bins[1], 5 * MS);
	assert_int_equal(bins[2], 2 * MS);
	timeline_add_time(&timeline, row, TIMELINE_PYTHON, 4 * MS, 6 * MS); /* from before the run */
	assert_int_equal(timeline.rows.items[row]->ns[TIMELINE_PYTHON][0], 6 * MS);
	timeline_add_time(&timeline, TIMELINE_NO_ROW, TIMELINE_PYTHON, 4 * MS, 6 * MS);
	timeline_fini(&timeline);
}

/* A run of a day: the bins are wider, the sums the same. */
static void test_long_runs_widen_the_bins(void **state)
{
	struct timeline timeline;
	struct tree tree;
	uint32_t last;
	timeline_init(&timeline);
	tree_init(&tree);
	uint32_t row = timeline_add_row(&timeline);
	for (uint64_t second = 1; second <= 86400; second++) {
		timeline_add_time(&timeline, row, TIMELINE_NATIVE, second * 1000 * MS, 700 * MS);
		timeline_add_stack(&timeline, &tree, 0, row, second * 1000 * MS, 700 * MS);
	}
	assert_true(timeline.bins > TIMELINE_MAX_BINS / 2 && timeline.bins <= TIMELINE_MAX_BINS);
	assert_true(timeline.bin_ns * timeline.bins > 86400 * 1000 * MS);
	assert_int_equal(row_sum(&timeline, row, TIMELINE_NATIVE), 86400 * 700 * MS);
	assert_int_equal(table_sum(&timeline.stacks, &last), 86400 * 700 * MS);
	assert_int_equal(last, timeline.bins - 1);
	assert_int_equal(table_sum(&timeline.threads, &last), 86400 * 700 * MS);
	tree_fini(&tree);
	timeline_fini(&timeline);
}

static void test_tables_are_bounded(void **state)
{
	struct timeline timeline;
	struct tree tree;
	uint32_t last;
	timeline_init(&timeline);
	tree_init(&tree);
	for (uint32_t i = 0; i < TIMELINE_ROWS; i++)
		assert_int_equal(timeline_add_row(&timeline), i);
	assert_int_equal(timeline_add_row(&timeline), TIMELINE_NO_ROW);
	srand(3);
	for (uint32_t i = 0; i < 400000; i++) {
		struct tree_frame frames[3] = {{1, (uint32_t)rand() % 40 * 2},
					       {2, (uint32_t)rand() % 40 * 2},
					       {3, (uint32_t)rand() % 40 * 2}};
		uint32_t node = tree_add(&tree, frames, 3, 0);
		timeline_add_stack(&timeline, &tree, node, i % TIMELINE_ROWS, i * MS / 400 + MS, MS);
	}
	assert_true(timeline.stacks.count <= TIMELINE_MAX_ENTRIES);
	assert_true(timeline.threads.count <= TIMELINE_MAX_ENTRIES);
	assert_int_equal(table_sum(&timeline.stacks, &last), 400000 * MS);
	assert_int_equal(table_sum(&timeline.threads, &last), 400000 * MS);
	tree_fini(&tree);
	timeline_fini(&timeline);
}

static void test_rows_are_joined_and_used_again(void **state)
{
	struct timeline timeline;
	struct tree tree;
	uint32_t last;
	timeline_init(&timeline);
	tree_init(&tree);
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t row = timeline_add_row(&timeline);
		timeline_add_time(&timeline, row, TIMELINE_PYTHON, (i + 1) * 5 * MS, 2 * MS);
		timeline_add_stack(&timeline, &tree, 0, row, (i + 1) * 5 * MS, 2 * MS);
		timeline_add_idle(&timeline, &tree, 0, row, 3 * MS);
	}
	timeline_add_idle(&timeline, &tree, 0, TIMELINE_NO_ROW, MS);
	uint32_t *moved_to = timeline_begin_join(&timeline);
	moved_to[2] = 0;
	timeline_end_join(&timeline, moved_to);
	assert_int_equal(row_sum(&timeline, 0, TIMELINE_PYTHON), 4 * MS);
	assert_int_equal(table_sum(&timeline.threads, &last), 6 * MS);
	assert_int_equal(last, 1);
	assert_int_equal(table_sum(&timeline.idle, &last), 9 * MS);
	assert_int_equal(last, 1);
	assert_int_equal(timeline_add_row(&timeline), 2);
	assert_int_equal(row_sum(&timeline, 2, TIMELINE_PYTHON), 0);
	assert_int_equal(timeline_add_row(&timeline), 3);
	tree_fini(&tree);
	timeline_fini(&timeline);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time_is_cut_at_the_edges),
		cmocka_unit_test(test_long_runs_widen_the_bins),
		cmocka_unit_test(test_tables_are_bounded),
		cmocka_unit_test(test_rows_are_joined_and_used_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
