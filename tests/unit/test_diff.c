/* test_diff.c - two profiles compared, and held to limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "profile/book.h"
#include "profile/check.h"
#include "profile/diff.h"

/* A profile of /<folder>/app.py whose lines are the given source's, each of one
 * function; line i takes times[i] seconds. */
struct make {
	const char *folder, *file, *function, *source;
	const double *times;
	uint32_t count;
	uint64_t samples_per_s;
	double queued; /* part of the time without a CPU to run on */
};

static struct profile *make_profile(const struct make *make)
{
	struct profile *profile = profile_new();
	char path[200];
	snprintf(path, sizeof(path), "%s/%s", make->folder, make->file);
	profile->entrypoint_dir = profile_intern(profile, make->folder);
	uint32_t file = profile_file_index(profile, path, true);
	const char *function = profile_intern(profile, make->function);
	for (uint32_t i = 0; i < make->count; i++) {
		struct book_frame frame = {file, function, 1, i + 1, -1, -1, -1, 0, false};
		struct metrics metrics = {.python_s = make->times[i],
					  .cpu_s = make->times[i] * (1 - make->queued),
					  .samples = (uint64_t)(make->times[i] *
								(double)make->samples_per_s)};
		if (make->times[i] > 0)
			profile_book(profile, &frame, 1, &metrics, false);
	}
	profile->files[0].source_size = strlen(make->source);
	profile->files[0].source = mem_copy_text(make->source);
	profile_finish(profile);
	profile->elapsed_s = profile->total_s;
	return profile;
}

static const char source[] = "def f():\n    first_line()\n    second_line()\n    third_line()\n";
static const double times[] = {0, 1, 2, 3};

static const struct make usual = {"/old", "app.py", "f", source, times, 4, 500, 0};

static const struct diff_line *find(const struct profile_diff *diff, uint32_t before,
				    uint32_t after)
{
	for (uint32_t i = 0; i < diff->line_count; i++) {
		const struct diff_line *line = &diff->lines[i];
		uint32_t numbers[DIFF_SIDES];
		for (int side = 0; side < DIFF_SIDES; side++)
			numbers[side] = line->line[side] ? line->line[side]->line : 0;
		if (numbers[DIFF_BEFORE] == before && numbers[DIFF_AFTER] == after)
			return line;
	}
	return NULL;
}

static void compare(struct profile_diff *diff, const struct make *before, const struct make *after)
{
	profile_diff_init(diff, make_profile(before), make_profile(after));
}

static void end(struct profile_diff *diff)
{
	profile_free((struct profile *)diff->profile[DIFF_BEFORE]);
	profile_free((struct profile *)diff->profile[DIFF_AFTER]);
	profile_diff_fini(diff);
}

static uint32_t broken(const struct profile_diff *diff, const struct check_limits *limits)
{
	struct check_result result;
	struct err err;
	assert_int_equal(profile_check(diff->profile[DIFF_AFTER], diff, limits, &result, &err), 0);
	uint32_t count = result.broken;
	check_result_fini(&result);
	return count;
}

static void test_equal_profiles_have_no_difference(void **state)
{
	struct profile_diff diff;
	compare(&diff, &usual, &usual);
	assert_int_equal(diff.line_count, 3);
	assert_int_equal(diff.slower + diff.faster + diff.heavier + diff.lighter, 0);
	assert_false(diff.total_s.is_real);
	for (uint32_t i = 0; i < diff.line_count; i++) {
		assert_true(diff_change(&diff.lines[i].time_s) == 0);
		assert_ptr_not_equal(diff.lines[i].line[DIFF_BEFORE], NULL);
		assert_string_equal(diff.lines[i].function, "f");
	}
	end(&diff);
}

static void test_moved_lines_are_the_same(void **state)
{
	static const char moved[] = "# new\n\ndef f():\n        third_line()\n    first_line()\n"
				    "    second_line()\n";
	static const double moved_times[] = {0, 0, 0, 3, 1, 4};
	struct make after = {"/new/place", "app.py", "f", moved, moved_times, 6, 500, 0};
	struct profile_diff diff;
	compare(&diff, &usual, &after);
	assert_int_equal(diff.line_count, 3);
	assert_non_null(find(&diff, 2, 5));
	assert_non_null(find(&diff, 3, 6));
	assert_non_null(find(&diff, 4, 4));
	assert_true(find(&diff, 3, 6)->time_s.is_real);
	assert_false(find(&diff, 2, 5)->time_s.is_real);
	assert_ptr_equal(&diff.lines[0], find(&diff, 3, 6)); /* the largest change first */
	assert_int_equal(diff.slower, 1);
	assert_int_equal(diff.faster, 0);
	assert_true(diff.total_s.is_real);
	end(&diff);
}

/* Of lines, and functions, that look the same some may have figures in one profile only. */
static void test_lines_that_look_the_same(void **state)
{
	static const char alike[] = "def f():\n    same_line()\n    same_line()\n    same_line()\n";
	static const char later[] = "import a\ndef f():\n    same_line()\n    same_line()\n    same_line()\n";
	static const double all[] = {0, 0.01, 2, 3}, some[] = {0, 0, 2, 3}, later_all[] = {0, 0, 0.01, 2, 3};
	struct make before = usual, after = usual;
	before.source = after.source = alike;
	before.times = all;
	after.times = some;
	struct profile_diff diff;
	compare(&diff, &before, &after);
	assert_int_equal(diff.line_count, 3);
	assert_non_null(find(&diff, 2, 0));
	assert_non_null(find(&diff, 3, 3));
	assert_non_null(find(&diff, 4, 4));
	assert_int_equal(diff.slower + diff.faster, 0);
	end(&diff);
	after = (struct make){"/old", "app.py", "f", later, later_all, 5, 500, 0};
	compare(&diff, &before, &after);
	assert_int_equal(diff.line_count, 3);
	assert_non_null(find(&diff, 2, 3));
	assert_non_null(find(&diff, 4, 5));
	end(&diff);
}

static struct profile *two_methods(double first_s, double second_s)
{
	static const char text[] = "class A:\n    def run(self): a()\nclass B:\n    def run(self): a()\n";
	struct profile *profile = profile_new();
	uint32_t file = profile_file_index(profile, "/p/app.py", true);
	const char *name = profile_intern(profile, "run");
	const double times_s[] = {first_s, second_s};
	for (uint32_t i = 0; i < 2; i++) {
		struct book_frame frame = {file, name, 2 + 2 * i, 2 + 2 * i, -1, -1, -1, 0, false};
		struct metrics metrics = {.python_s = times_s[i], .samples = (uint64_t)(times_s[i] * 500)};
		if (times_s[i] > 0)
			profile_book(profile, &frame, 1, &metrics, false);
	}
	profile->files[0].source_size = strlen(text);
	profile->files[0].source = mem_copy_text(text);
	profile_finish(profile);
	return profile;
}

static void test_functions_of_one_name(void **state)
{
	struct profile_diff diff;
	profile_diff_init(&diff, two_methods(0.01, 3), two_methods(0, 3));
	assert_int_equal(diff.function_count, 2);
	for (uint32_t i = 0; i < 2; i++)
		assert_false(diff.functions[i].time_s.is_real);
	end(&diff);
}

static void test_renamed_function_and_file(void **state)
{
	struct make renamed = usual;
	struct profile_diff diff;
	renamed.function = "g";
	compare(&diff, &usual, &renamed);
	assert_int_equal(diff.line_count, 3);
	assert_int_equal(diff.function_count, 2); /* one is gone, one new */
	end(&diff);
	renamed.function = "f";
	renamed.file = "other.py";
	compare(&diff, &usual, &renamed);
	assert_int_equal(diff.line_count, 3);
	assert_int_equal(diff.function_count, 1);
	end(&diff);
}

static void test_edited_and_new_lines(void **state)
{
	static const char edited[] = "def f():\n    first_line(7)\n    wholly_other()\n"
				     "    third_line()\n";
	struct make after = usual;
	struct profile_diff diff;
	after.source = edited;
	compare(&diff, &usual, &after);
	assert_int_equal(diff.line_count, 4);
	assert_non_null(find(&diff, 2, 2));
	assert_non_null(find(&diff, 3, 0));
	assert_non_null(find(&diff, 0, 3));
	assert_true(find(&diff, 3, 0)->time_s.is_real);
	assert_true(find(&diff, 3, 0)->time_s.after == 0);
	end(&diff);
}

/* Lines that look the same go by their order. */
static void test_equal_lines(void **state)
{
	static const char twins[] = "def f():\n    x += 1\n    x += 1\n    x += 1\n";
	struct make before = usual, after = usual;
	struct profile_diff diff;
	before.source = after.source = twins;
	compare(&diff, &before, &after);
	for (uint32_t line = 2; line <= 4; line++)
		assert_non_null(find(&diff, line, line));
	end(&diff);
}

static void test_without_source_lines_go_by_number(void **state)
{
	struct make before = usual;
	struct profile_diff diff;
	before.source = "";
	compare(&diff, &before, &before);
	assert_int_equal(diff.line_count, 3);
	assert_non_null(find(&diff, 4, 4));
	end(&diff);
}

static void test_few_samples_are_noise(void **state)
{
	static const double slower[] = {0, 1, 2.4, 3}, much_slower[] = {0, 1.4, 2.6, 3.6};
	struct make few = usual, after = usual;
	struct profile_diff diff;
	few.samples_per_s = after.samples_per_s = 10;
	after.times = slower;
	compare(&diff, &few, &after);
	assert_int_equal(diff.slower, 0);
	assert_false(diff.total_s.is_real);
	end(&diff);
	after.times = much_slower; /* a length is known without samples, but not how it is made up */
	compare(&diff, &few, &after);
	assert_int_equal(diff.slower, 0);
	assert_true(diff.total_s.is_real);
	end(&diff);
	after.times = slower;
	few.samples_per_s = after.samples_per_s = 10000;
	compare(&diff, &few, &after);
	assert_int_equal(diff.slower, 1);
	assert_true(diff.total_s.is_real);
	end(&diff);
	few.samples_per_s = after.samples_per_s = 0; /* nothing is known */
	compare(&diff, &few, &after);
	assert_int_equal(diff.slower, 0);
	assert_false(diff.total_s.is_real);
	end(&diff);
}

/* Twice the time for the same work: there was no CPU for it. */
static void test_a_busy_machine_is_no_slowdown(void **state)
{
	static const double twice[] = {0, 2, 4, 6};
	struct make busy = usual;
	struct profile_diff diff;
	struct check_limits limits = CHECK_LIMITS_NONE;
	busy.times = twice;
	busy.samples_per_s = 250;
	busy.queued = 0.5;
	limits.max_slowdown = 0.05;
	compare(&diff, &usual, &busy);
	assert_false(diff.total_s.is_real);
	assert_false(diff.cpu_s.is_real);
	assert_false(diff.python_s.is_real);
	assert_int_equal(diff.slower + diff.faster, 0);
	assert_false(diff.functions[0].inclusive_s.is_real);
	assert_int_equal(broken(&diff, &limits), 0);
	end(&diff);
	busy.queued = 0; /* twice the work */
	compare(&diff, &usual, &busy);
	assert_true(diff.total_s.is_real);
	assert_int_equal(diff.slower, 3);
	assert_int_equal(broken(&diff, &limits), 1);
	end(&diff);
}

static void set_memory(struct profile *profile, double peak, double alloc, double blocks)
{
	profile->has_memory = true;
	profile->memory.peak_bytes = peak;
	profile->sum.alloc_bytes = alloc;
	profile->memory.alloc_count = blocks;
	struct profile_line *line = &profile->files[0].lines[0];
	line->self.alloc_bytes = alloc;
	line->memory = (struct memory){.peak_bytes = peak, .at_peak_bytes = peak,
				       .alloc_count = blocks};
}

static void test_memory_noise(void **state)
{
	struct profile *before = make_profile(&usual), *after = make_profile(&usual);
	struct profile_diff diff;
	set_memory(before, 10 * MB, 10 * MB, 10);
	set_memory(after, 11 * MB, 11 * MB, 11);
	profile_diff_init(&diff, before, after);
	assert_true(diff.has_memory);
	assert_true(diff.peak_bytes.is_real); /* large blocks are counted exactly */
	assert_int_equal(diff.heavier, 1);
	profile_diff_fini(&diff);

	set_memory(before, 0.10 * MB, 0.10 * MB, 1e5);
	set_memory(after, 0.11 * MB, 0.11 * MB, 1e5);
	profile_diff_init(&diff, before, after);
	assert_false(diff.peak_bytes.is_real); /* small ones are sampled */
	assert_int_equal(diff.heavier, 0);
	profile_diff_fini(&diff);

	after->has_memory = false;
	profile_diff_init(&diff, before, after);
	assert_false(diff.has_memory);
	assert_false(diff.alloc_bytes.is_real);
	profile_diff_fini(&diff);
	profile_free(before);
	profile_free(after);
}

static void test_empty_profiles(void **state)
{
	struct profile *empty = profile_new(), *full = make_profile(&usual);
	struct profile_diff diff;
	profile_diff_init(&diff, empty, empty);
	assert_int_equal(diff.line_count, 0);
	assert_false(diff.total_s.is_real);
	profile_diff_fini(&diff);
	profile_diff_init(&diff, empty, full);
	assert_int_equal(diff.line_count, 3);
	assert_false(diff.lines[0].time_s.is_real); /* nothing is known of before */
	profile_diff_fini(&diff);
	profile_free(empty);
	profile_free(full);
}

/* ---- limits ---- */

/* A program that failed at once took no time, which is known; one that was never looked at is
 * not faster. */
static void test_a_run_without_samples(void **state)
{
	for (int is_suspended = 0; is_suspended < 2; is_suspended++) {
		struct profile *failed = profile_new(), *full = make_profile(&usual);
		struct check_limits limits = CHECK_LIMITS_NONE;
		struct profile_diff diff;
		failed->elapsed_s = 0.1;
		failed->suspended_s = is_suspended ? 0.1 : 0;
		limits.max_slowdown = 0.1;
		profile_diff_init(&diff, failed, full);
		assert_int_equal(diff.total_s.is_real, !is_suspended);
		assert_int_equal(diff.lines[0].time_s.is_real, !is_suspended);
		assert_int_equal(broken(&diff, &limits), !is_suspended);
		end(&diff);
	}
}

static void test_limits(void **state)
{
	static const double slower[] = {0, 1, 2, 4};
	struct make after = usual;
	struct profile_diff diff;
	struct check_place places[] = {{"app.py", 4}, {"old/app.py", 2}, {"app.py", 99}};
	struct check_limits limits = CHECK_LIMITS_NONE;
	after.times = slower;
	compare(&diff, &usual, &after);
	limits.max_slowdown = 0.05;
	assert_int_equal(broken(&diff, &limits), 1);
	limits.max_slowdown = 0.20;
	assert_int_equal(broken(&diff, &limits), 0);
	limits.max_slowdown = 0.05;
	limits.places = places;
	limits.place_count = 3;
	assert_int_equal(broken(&diff, &limits), 1); /* the second did not change */
	limits.place_count = 0;
	limits.max_slowdown = CHECK_NO_LIMIT;
	limits.max_time_s = 6.5;
	assert_int_equal(broken(&diff, &limits), 1);
	limits.max_time_s = 7.5;
	assert_int_equal(broken(&diff, &limits), 0);
	end(&diff);
}

static void test_limit_within_noise_is_kept(void **state)
{
	static const double slower[] = {0, 1, 2, 3.5};
	struct make before = usual, after = usual;
	struct profile_diff diff;
	struct check_limits limits = CHECK_LIMITS_NONE;
	struct check_result result;
	struct err err;
	before.samples_per_s = after.samples_per_s = 10;
	after.times = slower;
	compare(&diff, &before, &after);
	limits.max_slowdown = 0.05;
	assert_int_equal(profile_check(diff.profile[1], &diff, &limits, &result, &err), 0);
	assert_int_equal(result.count, 1);
	assert_int_equal(result.broken, 0);
	assert_true(result.findings[0].is_noise);
	check_result_fini(&result);
	end(&diff);
}

static void test_limits_that_cannot_be_checked(void **state)
{
	struct check_place place = {"no.py", 1}, part = {"pp.py", 1};
	struct check_limits limits = CHECK_LIMITS_NONE;
	struct check_result result;
	struct profile_diff diff;
	struct err err;
	compare(&diff, &usual, &usual);
	const struct profile *profile = diff.profile[DIFF_AFTER];
	assert_true(profile_check(profile, &diff, &limits, &result, &err) < 0);
	limits.max_slowdown = 0.05;
	assert_true(profile_check(profile, NULL, &limits, &result, &err) < 0);
	assert_non_null(strstr(err.message, "--baseline"));
	limits.places = &place;
	limits.place_count = 1;
	assert_true(profile_check(profile, &diff, &limits, &result, &err) < 0);
	assert_non_null(strstr(err.message, "no.py"));
	limits.places = &part; /* the end of a name is no name */
	assert_true(profile_check(profile, &diff, &limits, &result, &err) < 0);
	limits = CHECK_LIMITS_NONE;
	limits.max_peak_bytes = 1;
	assert_true(profile_check(profile, NULL, &limits, &result, &err) < 0);
	limits = CHECK_LIMITS_NONE;
	limits.max_memory_growth = 1;
	assert_true(profile_check(profile, &diff, &limits, &result, &err) < 0);
	end(&diff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_profiles_have_no_difference),
		cmocka_unit_test(test_moved_lines_are_the_same),
		cmocka_unit_test(test_lines_that_look_the_same),
		cmocka_unit_test(test_functions_of_one_name),
		cmocka_unit_test(test_renamed_function_and_file),
		cmocka_unit_test(test_edited_and_new_lines),
		cmocka_unit_test(test_equal_lines),
		cmocka_unit_test(test_without_source_lines_go_by_number),
		cmocka_unit_test(test_few_samples_are_noise),
		cmocka_unit_test(test_a_busy_machine_is_no_slowdown),
		cmocka_unit_test(test_memory_noise),
		cmocka_unit_test(test_empty_profiles),
		cmocka_unit_test(test_a_run_without_samples),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_limit_within_noise_is_kept),
		cmocka_unit_test(test_limits_that_cannot_be_checked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
