/* test_idle.c - whose an event loop's waiting is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/collector.h"

static uint32_t count_of(const struct loop_tasks *loop)
{
	uint32_t count;
	tasks_sharing(loop, &count);
	return count;
}

static void test_those_in_scope_share(void **state)
{
	struct loop_tasks loop = {.count = 9, .own = 2};
	uint32_t count;
	assert_ptr_equal(tasks_sharing(&loop, &count), &loop.tasks[0]);
	assert_int_equal(count, 2);
	loop.own = 9; /* --profile-all */
	assert_int_equal(count_of(&loop), 9);
}

static void test_all_share_where_none_is(void **state)
{
	struct loop_tasks loop = {.count = 9};
	assert_int_equal(count_of(&loop), 9);
	loop.count = 0;
	assert_int_equal(count_of(&loop), 0);
	loop.own = 3; /* from a look before */
	assert_int_equal(count_of(&loop), 0);
}

static void test_one_that_is_known(void **state)
{
	struct loop_tasks loop = {.count = TASKS_PER_LOOK, .has_known = true};
	uint32_t count;
	assert_ptr_equal(tasks_sharing(&loop, &count), &loop.tasks[TASKS_PER_LOOK]);
	assert_int_equal(count, 1);
}

static void test_only_while_the_loop_is_idle(void **state)
{
	struct loop_tasks loop = {.count = 3, .own = 1};
	struct thread thread = {.loop = NULL};
	uint32_t count;
	assert_null(tasks_sharing_wait(&thread, &count));
	assert_int_equal(count, 0);
	thread.loop = &loop;
	assert_null(tasks_sharing_wait(&thread, &count));
	assert_int_equal(count, 0);
	loop.is_idle = true;
	assert_ptr_equal(tasks_sharing_wait(&thread, &count), loop.tasks);
	assert_int_equal(count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_those_in_scope_share),
		cmocka_unit_test(test_all_share_where_none_is),
		cmocka_unit_test(test_one_that_is_known),
		cmocka_unit_test(test_only_while_the_loop_is_idle),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
