/* test_stack_tree.c - the stack tree and its folding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "profile/book.h"
#include "profile/stack_tree.h"

static double seconds_of(const struct stack_node *nodes, uint32_t count)
{
	double sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += metrics_seconds(&nodes[i].self);
	return sum;
}

static void test_same_way_is_same_node(void **state)
{
	struct profile *profile = profile_new();
	const char *f = profile_intern(profile, "f");
	stack_tree_make_room(profile, 10);
	uint32_t a = stack_tree_child(profile, 0, 1, f, 3, 4);
	uint32_t b = stack_tree_child(profile, a, 1, f, 3, 4);
	assert_int_not_equal(a, b);
	assert_int_equal(stack_tree_child(profile, 0, 1, f, 3, 4), a);
	assert_int_equal(stack_tree_child(profile, a, 1, f, 3, 4), b);
	assert_int_not_equal(stack_tree_child(profile, a, 1, f, 3, 5), b);
	assert_int_equal(profile->stack_count, 4);
	profile_free(profile);
}

static void test_fold_keeps_the_heavy_and_all_time(void **state)
{
	/* root - 1 (heavy) - 2 (light), 3 (heavy); root - 4 (light) - 5 (light) */
	struct stack_node nodes[] = {
		{.parent = 0, .file = STACK_NO_FILE},
		{.parent = 0, .line = 1, .self = {.python_s = 5}},
		{.parent = 1, .line = 2, .self = {.python_s = 0.1}},
		{.parent = 1, .line = 3, .self = {.native_s = 3}},
		{.parent = 0, .line = 4, .self = {.python_s = 0.1}},
		{.parent = 4, .line = 5, .self = {.wait_s = 0.3}},
	};
	assert_int_equal(stack_tree_fold(nodes, 6, 6), 6);
	assert_int_equal(stack_tree_fold(nodes, 6, 4), 4);
	assert_int_equal(nodes[1].line, 1);
	assert_int_equal(nodes[2].line, 3);
	assert_int_equal(nodes[2].parent, 1);
	assert_int_equal(nodes[3].line, 4);
	assert_true(fabs(nodes[1].self.python_s - 5.1) < 1e-9);
	assert_true(fabs(nodes[3].self.wait_s - 0.3) < 1e-9);
	assert_true(fabs(seconds_of(nodes, 4) - 8.5) < 1e-9);
}

static void test_fold_of_equals_keeps_parents(void **state)
{
	enum { DEPTH = 100 };
	struct stack_node nodes[DEPTH] = {0};
	for (uint32_t i = 1; i < DEPTH; i++)
		nodes[i] = (struct stack_node){.parent = i - 1, .line = i};
	nodes[DEPTH - 1].self.python_s = 1;
	assert_int_equal(stack_tree_fold(nodes, DEPTH, 10), 10);
	for (uint32_t i = 1; i < 10; i++)
		assert_int_equal(nodes[i].parent, i - 1);
	assert_true(nodes[9].self.python_s == 1);
}

static void test_tree_stays_bounded(void **state)
{
	struct profile *profile = profile_new();
	uint32_t file = profile_file_index(profile, "/p/a.py", true);
	const char *f = profile_intern(profile, "f");
	struct book_frame frames[50];
	struct metrics metrics = {.python_s = 0.001, .samples = 1};
	srand(1);
	for (int n = 0; n < 5000; n++) {
		for (int i = 0; i < 50; i++)
			frames[i] = (struct book_frame){file, f, 1, 1 + (uint32_t)(rand() % 40),
							-1, -1, -1, 0, false};
		profile_book(profile, frames, 50, &metrics, false);
	}
	assert_true(profile->stack_count <= STACK_TREE_MAX_NODES);
	for (uint32_t i = 1; i < profile->stack_count; i++)
		assert_true(profile->stacks[i].parent < i);
	assert_true(fabs(seconds_of(profile->stacks, profile->stack_count) - 5) < 1e-6);
	profile_finish(profile);
	assert_true(fabs(profile->total_s - 5) < 1e-6);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_way_is_same_node),
		cmocka_unit_test(test_fold_keeps_the_heavy_and_all_time),
		cmocka_unit_test(test_fold_of_equals_keeps_parents),
		cmocka_unit_test(test_tree_stays_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
