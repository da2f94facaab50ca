/* test_book.c - booking stacks: whose line, inclusive time, scope, totals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profile_sample.h"

#define assert_near(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static const struct metrics second = {.python_s = 1, .cpu_s = 1, .samples = 1};

/* A profile with one file in scope (0) and one that is not (1). */
static struct profile *two_files(void)
{
	struct profile *profile = profile_new();
	assert_int_equal(profile_file_index(profile, "/p/a.py", true), 0);
	assert_int_equal(profile_file_index(profile, "/lib/b.py", false), 1);
	assert_int_equal(profile_file_index(profile, "/p/a.py", false), 0);
	return profile;
}

static struct book_frame frame(struct profile *profile, uint32_t file, const char *function,
			       uint32_t first_line, uint32_t line)
{
	return (struct book_frame){file, profile_intern(profile, function), first_line, line,
				   -1, -1, -1, 0, false};
}

static void test_sample_totals_add_up(void **state)
{
	struct profile *profile = profile_sample_new();
	assert_near(profile->total_s, 1.0);
	assert_near(profile->outside_s, 0.025);
	assert_near(profile->startup_s, 0.0125);
	assert_near(metrics_seconds(&profile->sum), profile->total_s);
	assert_near(profile->sum.idle_s, 2.0);
	double lines = 0;
	for (uint32_t i = 0; i < profile->file_count; i++) {
		for (uint32_t j = 0; j < profile->files[i].line_count; j++)
			lines += metrics_seconds(&profile->files[i].lines[j].self);
	}
	assert_near(lines + profile->outside_s, profile->total_s);
	profile_free(profile);
}

static void test_library_time_goes_to_the_line_that_called(void **state)
{
	struct profile *profile = profile_sample_new();
	const struct profile_file *file = profile_find_file(profile, profile_sample_path);
	const struct profile_line *line = profile_find_line(file, 10);
	assert_non_null(line);
	assert_near(line->self.native_s, 0.15);
	assert_near(line->self.wait_s, 0.075);
	assert_near(line->inclusive_s, 0.975);
	assert_int_equal(line->region.region_start, 10);
	assert_null(profile_find_line(file, 9));
	assert_int_equal(profile->files[1].line_count, 0);
	assert_int_equal(file->function_count, 2);
	assert_string_equal(file->functions[0].name, "<module>");
	assert_string_equal(file->functions[1].name, "inner");
	assert_near(file->functions[1].self.python_s, 0.6);
	assert_near(file->functions[1].self.idle_s, 2.0);
	assert_near(file->functions[1].inclusive_s, 0.7);
	profile_free(profile);
}

static void test_recursion_counts_once(void **state)
{
	struct profile *profile = two_files();
	struct book_frame frames[300];
	frames[0] = frame(profile, 0, "<module>", 1, 50);
	for (int i = 1; i < 300; i++)
		frames[i] = i % 2 ? frame(profile, 0, "odd", 10, 11)
				  : frame(profile, 0, "even", 20, 21);
	profile_book(profile, frames, 300, &second, false);
	profile_book(profile, frames, 299, &second, false);
	profile_finish(profile);
	const struct profile_file *file = &profile->files[0];
	assert_near(profile_find_line(file, 50)->inclusive_s, 2);
	assert_near(profile_find_line(file, 11)->inclusive_s, 2);
	assert_near(profile_find_line(file, 21)->inclusive_s, 2);
	assert_near(profile_find_line(file, 11)->self.python_s, 1);
	for (uint32_t i = 0; i < file->function_count; i++)
		assert_near(file->functions[i].inclusive_s, 2);
	assert_int_equal(profile->stack_count, 301);
	profile_free(profile);
}

static void test_comprehension_belongs_to_its_function(void **state)
{
	struct profile *profile = two_files();
	struct book_frame frames[] = {frame(profile, 0, "<module>", 1, 9),
				      frame(profile, 0, "work", 3, 4),
				      frame(profile, 0, "work.<locals>.<listcomp>", 4, 5),
				      frame(profile, 1, "helper", 1, 2)};
	profile_book(profile, frames, 4, &second, false);
	/* Run by a library, a generator expression stands for itself. */
	struct book_frame elsewhere[] = {frame(profile, 1, "sum_all", 1, 2),
					 frame(profile, 0, "<genexpr>", 30, 30)};
	profile_book(profile, elsewhere, 2, &second, false);
	profile_finish(profile);
	const struct profile_file *file = &profile->files[0];
	assert_near(profile_find_line(file, 5)->self.python_s, 1);
	assert_int_equal(file->function_count, 3);
	assert_string_equal(file->functions[1].name, "work");
	assert_near(file->functions[1].self.python_s, 1);
	assert_near(file->functions[1].inclusive_s, 1);
	assert_string_equal(file->functions[2].name, "<genexpr>");
	profile_free(profile);
}

/* Books a generator expression of line 9 that total (line 2), further up in the
 * file, runs, called by rows (line 8) or from outside of it; returns whose it is. */
static const char *owner_of(const char *name, uint32_t last_line, bool is_writer_there)
{
	struct profile *profile = two_files();
	struct book_frame frames[] = {frame(profile, 0, "<module>", 1, 20),
				      frame(profile, is_writer_there ? 0 : 1, "rows", 8, 9),
				      frame(profile, 0, "total", 2, 4),
				      frame(profile, 0, name, 9, 9)};
	static char owner[64];
	frames[0].last_line = last_line ? 20 : 0;
	frames[1].last_line = last_line ? 9 : 0;
	frames[2].last_line = last_line;
	frames[3].is_nested = true;
	profile_book(profile, frames, 4, &second, false);
	profile_finish(profile);
	const struct profile_file *file = &profile->files[0];
	owner[0] = '\0';
	for (uint32_t i = 0; i < file->function_count; i++) {
		if (file->functions[i].self.python_s > 0)
			snprintf(owner, sizeof(owner), "%s", file->functions[i].name);
	}
	profile_free(profile);
	return owner;
}

static void test_generator_expression_is_of_who_wrote_it(void **state)
{
	/* By names (3.11 and later); one whose writer is gone stands for itself. */
	assert_string_equal(owner_of("rows.<locals>.<genexpr>", 5, true), "rows");
	assert_string_equal(owner_of("rows.<locals>.<genexpr>.<locals>.<listcomp>", 0, true), "rows");
	assert_string_equal(owner_of("rows.<locals>.<genexpr>", 5, false), "rows.<locals>.<genexpr>");
	assert_string_equal(owner_of("row.<locals>.<genexpr>", 5, true), "row.<locals>.<genexpr>");
	/* By lines; without the functions' ends, by where they begin. */
	assert_string_equal(owner_of("<genexpr>", 5, true), "rows");
	assert_string_equal(owner_of("<genexpr>", 0, true), "rows");
	assert_string_equal(owner_of("<genexpr>", 5, false), "<genexpr>");
}

/* Memory without time makes a line like time does; start-up makes none. */
static void test_memory_is_booked_without_time(void **state)
{
	struct profile *profile = two_files();
	struct book_frame frames[] = {frame(profile, 0, "<module>", 1, 9),
				      frame(profile, 1, "helper", 1, 2)};
	struct metrics memory = {.alloc_bytes = 1000.4, .kept_bytes = 10, .copy_bytes = 7};
	profile_book(profile, frames, 2, &memory, false);
	profile_book(profile, frames, 2, &memory, true);
	profile_book(profile, NULL, 0, &memory, false);
	struct profile_line *line = profile_memory_line(profile, 0, 9);
	line->memory.peak_bytes = 500;
	line->memory.average_bytes = 600;
	profile_memory_function(profile, 0, "<module>", 1)->memory.peak_bytes = 400;
	profile_finish(profile);
	const struct profile_file *file = &profile->files[0];
	assert_int_equal(file->line_count, 1);
	assert_int_equal(file->function_count, 1);
	assert_near(file->lines[0].self.alloc_bytes, 1000); /* whole bytes */
	assert_near(file->lines[0].self.kept_bytes, 10);
	assert_near(file->lines[0].memory.average_bytes, 500); /* never above the peak */
	assert_near(file->functions[0].memory.peak_bytes, 400);
	assert_near(file->functions[0].self.copy_bytes, 7);
	assert_near(profile->sum.alloc_bytes, 2001);
	assert_near(profile->stacks[0].self.alloc_bytes, 1000);
	assert_near(profile->stacks[2].self.copy_bytes, 7);
	assert_near(profile->total_s, 0);
	assert_near(file->lines[0].inclusive_s, 0);
	profile_free(profile);
}

static void test_generated_functions_are_out_of_scope(void **state)
{
	struct profile *profile = profile_new();
	uint32_t user = profile_file_index(profile, "/p/a.py", true);
	uint32_t string = profile_file_index(profile, "<string>", true);
	struct book_frame frames[] = {
		frame(profile, user, "<module>", 1, 7),
		frame(profile, string, "__create_fn__.<locals>.__init__", 2, 3)};
	profile_book(profile, frames, 2, &second, false);
	profile_finish(profile);
	assert_near(profile_find_line(&profile->files[user], 7)->self.python_s, 1);
	assert_int_equal(profile->files[string].line_count, 0);
	profile_free(profile);
}

static void test_line_zero_is_the_functions_first(void **state)
{
	struct profile *profile = two_files();
	struct book_frame frames[] = {frame(profile, 0, "f", 12, 0)};
	profile_book(profile, frames, 1, &second, false);
	frames[0].first_line = 0;
	profile_book(profile, frames, 1, &second, false);
	profile_finish(profile);
	assert_non_null(profile_find_line(&profile->files[0], 12));
	assert_non_null(profile_find_line(&profile->files[0], 1));
	profile_free(profile);
}

static void test_hottest_columns_are_kept(void **state)
{
	struct profile *profile = two_files();
	for (int i = 0; i < 60; i++) {
		struct book_frame at = {0, profile_intern(profile, "f"), 1, 5, 5, i, i + 1, 0, false};
		struct metrics metrics = {.python_s = i == 3 ? 10 : 0.001 * i, .samples = 1};
		profile_book(profile, &at, 1, &metrics, false);
	}
	profile_finish(profile);
	const struct profile_line *line = profile_find_line(&profile->files[0], 5);
	assert_int_equal(line->column_count, 8);
	assert_int_equal(line->columns[0].column, 3);
	for (uint32_t i = 1; i < 8; i++)
		assert_true(line->columns[i].self_s <= line->columns[i - 1].self_s);
	profile_free(profile);
}

static void test_times_are_thinned_evenly(void **state)
{
	struct profile *profile = two_files();
	for (int i = 0; i < 5000; i++)
		profile_book_time(profile, 0, 5, i * 0.01);
	profile_book_time(profile, 1, 5, 1);
	profile_finish(profile);
	const struct profile_line *line = profile_find_line(&profile->files[0], 5);
	assert_in_range(line->sample_times, 250, 500);
	for (uint32_t i = 1; i < line->sample_times; i++) {
		double step = line->sample_times_s[i] - line->sample_times_s[i - 1];
		assert_true(step > 0 && step < 0.17);
	}
	assert_true(line->sample_times_s[line->sample_times - 1] > 49);
	assert_int_equal(profile->files[1].line_count, 0);
	profile_free(profile);
}

static void test_booking_goes_on_after_finish(void **state)
{
	struct profile *profile = two_files();
	struct book_frame frames[] = {frame(profile, 0, "b", 20, 21), frame(profile, 0, "a", 1, 2)};
	profile_book(profile, frames, 2, &second, false);
	profile_finish(profile);
	profile_book(profile, frames, 2, &second, false);
	profile_book(profile, frames, 1, &second, false);
	profile_finish(profile);
	const struct profile_file *file = &profile->files[0];
	assert_int_equal(file->line_count, 2);
	assert_int_equal(file->function_count, 2);
	assert_near(profile_find_line(file, 2)->self.python_s, 2);
	assert_near(profile_find_line(file, 21)->inclusive_s, 3);
	assert_near(profile->total_s, 3);
	assert_int_equal(profile->stack_count, 3);
	profile_free(profile);
}

static void test_files_without_end_are_bounded(void **state)
{
	struct profile *profile = profile_new();
	char path[64];
	for (int i = 0; i < 30000; i++) {
		snprintf(path, sizeof(path), "<generated-%d>", i);
		uint32_t file = profile_file_index(profile, path, true);
		struct book_frame at = frame(profile, file, "f", 1, 1);
		profile_book(profile, &at, 1, &second, false);
	}
	profile_finish(profile);
	assert_true(profile->file_count <= 20001);
	assert_near(profile->total_s, 30000);
	assert_near(profile->outside_s, 10000);
	profile_free(profile);
}

static void test_share_interval(void **state)
{
	double low, high;
	profile_share_interval(0.5, 100, &low, &high);
	assert_true(fabs(low - 0.4038) < 1e-3 && fabs(high - 0.5962) < 1e-3);
	profile_share_interval(0, 100, &low, &high);
	assert_true(low == 0 && fabs(high - 0.0370) < 1e-3);
	profile_share_interval(1, 1, &low, &high);
	assert_true(low > 0.2 && high > 0.9999);
	profile_share_interval(0.3, 0, &low, &high);
	assert_true(low == 0 && high == 1);
}

static void test_core_utilization_is_a_fraction(void **state)
{
	struct metrics half = {.python_s = 1, .wait_s = 1, .cpu_s = 1};
	struct metrics over = {.native_s = 1, .cpu_s = 4};
	struct metrics none = {0};
	assert_near(profile_core_utilization(&half), 0.5);
	assert_near(profile_core_utilization(&over), 1);
	assert_near(profile_core_utilization(&none), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample_totals_add_up),
		cmocka_unit_test(test_library_time_goes_to_the_line_that_called),
		cmocka_unit_test(test_recursion_counts_once),
		cmocka_unit_test(test_comprehension_belongs_to_its_function),
		cmocka_unit_test(test_generator_expression_is_of_who_wrote_it),
		cmocka_unit_test(test_memory_is_booked_without_time),
		cmocka_unit_test(test_generated_functions_are_out_of_scope),
		cmocka_unit_test(test_line_zero_is_the_functions_first),
		cmocka_unit_test(test_hottest_columns_are_kept),
		cmocka_unit_test(test_times_are_thinned_evenly),
		cmocka_unit_test(test_booking_goes_on_after_finish),
		cmocka_unit_test(test_files_without_end_are_bounded),
		cmocka_unit_test(test_share_interval),
		cmocka_unit_test(test_core_utilization_is_a_fraction),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
