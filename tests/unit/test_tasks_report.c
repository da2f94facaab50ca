/* test_tasks_report.c - tasks: written, read again, and told to a person. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/book.h"
#include "profile/read.h"
#include "profile/write.h"
#include "report/tasks.h"

static struct profile *make_profile(void)
{
	struct profile *profile = profile_new();
	uint32_t file = profile_file_index(profile, "/home/me/app/app.py", true);
	struct profile_line *line = profile_memory_line(profile, file, 12);
	line->async = (struct async_figures){
		.await_s = 7.5,
		.concurrency_mean = 2.5,
		.concurrency_peak = 4,
		.names = mem_zalloc(2, sizeof(char *)),
		.name_count = 2,
		.is_coroutine = true,
	};
	line->async.names[0] = profile_intern(profile, "fetch-0");
	line->async.names[1] = profile_intern(profile, "fetch-1");
	profile->has_async = true;
	profile->await_s = 10;
	profile->blocking = mem_zalloc(1, sizeof(*profile->blocking));
	profile->blocking_count = 1;
	profile->blocking[0] = (struct blocking_step){
		.file = profile_intern(profile, "/home/me/app/app.py"),
		.function = profile_intern(profile, "parse"),
		.line = 30,
		.count = 3,
		.longest_s = 0.8,
		.total_s = 1.4,
	};
	profile_finish(profile);
	return profile;
}

static char *write_text(const struct profile *profile)
{
	struct write_options options = {.has_stacks = true};
	return profile_write_text(profile, &options, NULL);
}

static void test_read_is_what_was_written(void **state)
{
	struct profile *profile = make_profile();
	char *text = write_text(profile);
	struct profile *again = profile_read_text(text, strlen(text), "text", NULL);
	assert_non_null(again);
	const struct profile_line *line = profile_find_line(&again->files[0], 12);
	assert_non_null(line);
	assert_true(line->async.await_s == 7.5 && line->async.concurrency_peak == 4);
	assert_true(line->async.is_coroutine);
	assert_int_equal(line->async.name_count, 2);
	assert_string_equal(line->async.names[1], "fetch-1");
	assert_int_equal(again->blocking_count, 1);
	assert_int_equal(again->blocking[0].line, 30);
	assert_non_null(strstr(text, "\"n_async_await_percent\":75,"));
	char *second = write_text(again);
	assert_string_equal(text, second);
	free(second);
	free(text);
	profile_free(again);
	profile_free(profile);
}

static char *report(const struct profile *profile)
{
	struct style style = {.has_utf8 = true, .columns = 100, .folder = "/home/me/app"};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	tasks_print(out, &style, profile);
	fclose(out);
	return text;
}

static void test_report(void **state)
{
	struct profile *profile = make_profile();
	char *text = report(profile);
	assert_string_equal(text,
			    "\nAsync\n"
			    "  waiting    mean    peak  tasks at once, at\n"
			    "   7.50 s     2.5       4  app.py:12\n"
			    "                           fetch-0, fetch-1\n"
			    "app.py:30 parse blocks the event loop for 0.80 s (3 times, 1.40 s in all)\n");
	free(text);
	profile_free(profile);
}

static void test_no_tasks_no_section(void **state)
{
	struct profile *profile = profile_new();
	char *text = report(profile);
	assert_string_equal(text, "");
	free(text);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_is_what_was_written),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_no_tasks_no_section),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
