/* test_thread_view.c - a profile of one thread, out of a profile of all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/thread_view.h"
#include "profile_sample.h"

#define assert_near(a, b) assert_true(fabs((a) - (b)) < 1e-4)

/* The loop's time is half the main thread's, half the worker's. */
static struct profile *two_threads(void)
{
	struct profile *profile = profile_sample_new();
	free(profile->thread_stacks);
	profile->threads[1].name = profile_intern(profile, "worker");
	profile->thread_stack_count = 3;
	profile->thread_stacks = mem_zalloc(3, sizeof(*profile->thread_stacks));
	profile->thread_stacks[0] = (struct stack_part){1, 0, 75000};
	profile->thread_stacks[1] = (struct stack_part){2, 0, 350000};
	profile->thread_stacks[2] = (struct stack_part){2, 1, 350000};
	return profile;
}

static void test_one_thread(void **state)
{
	struct profile *profile = two_threads();
	struct err err;
	profile->processes[0].name = profile_intern(profile, "pool");
	struct profile *view = thread_view_new(profile, "worker", &err);
	assert_non_null(view);
	assert_near(view->total_s, 0.35);
	assert_int_equal(view->thread_count, 1);
	assert_false(view->has_memory);
	const struct profile_file *file = profile_find_file(view, profile_sample_path);
	assert_string_equal(file->source, profile_sample_source);
	const struct profile_line *line = profile_find_line(file, 7);
	assert_near(line->self.python_s, 0.3); /* split as the whole stack is: 6 to 1 */
	assert_near(line->self.native_s, 0.05);
	assert_near(line->self.idle_s, 2);
	assert_string_equal(metrics_waits_for(&line->self), "lock");
	assert_near(profile_find_line(file, 10)->inclusive_s, 0.35);
	profile_free(profile);
	assert_string_equal(view->processes[0].name, "pool"); /* it has texts of its own */
	profile_free(view);
}

/* Of the total it has nothing, but its waiting is known. */
static void test_a_thread_that_only_waited(void **state)
{
	struct profile *profile = two_threads();
	struct err err;
	profile->thread_stack_count = 2;
	struct profile *view = thread_view_new(profile, "worker", &err);
	assert_non_null(view);
	assert_near(view->total_s, 0);
	const struct profile_file *file = profile_find_file(view, profile_sample_path);
	assert_near(profile_find_line(file, 7)->self.idle_s, 2);
	profile_free(view);
	view = thread_view_new(profile, "python3", &err);
	assert_near(profile_find_line(profile_find_file(view, profile_sample_path), 7)->self.idle_s, 0);
	profile_free(view);
	profile_free(profile);
}

static void test_no_such_thread(void **state)
{
	struct profile *profile = two_threads();
	struct err err;
	assert_null(thread_view_new(profile, "nobody", &err));
	assert_non_null(strstr(err.message, "no thread of this profile is called 'nobody'; there are "
					    "'python3', 'worker'"));
	profile->thread_stack_count = profile->idle_stack_count = 0;
	assert_null(thread_view_new(profile, "worker", &err));
	assert_non_null(strstr(err.message, "nothing is known"));
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_thread),
		cmocka_unit_test(test_a_thread_that_only_waited),
		cmocka_unit_test(test_no_such_thread),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
