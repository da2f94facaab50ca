/* test_threads_report.c - threads in the text report and in the summary. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile_sample.h"
#include "report/threads.h"

static const struct style plain = {.has_utf8 = true, .is_cut = true, .columns = 100,
				   .folder = "/project"};

typedef void printer(FILE *out, const struct profile *profile);

static void print_notes(FILE *out, const struct profile *profile)
{
	threads_print_notes(out, &plain, profile, 2);
}

static void print_notes_narrow(FILE *out, const struct profile *profile)
{
	struct style narrow = plain;
	narrow.columns = 60;
	threads_print_notes(out, &narrow, profile, 2);
}

static void print_waits(FILE *out, const struct profile *profile)
{
	threads_print_waits(out, &plain, profile);
}

static void print_idle(FILE *out, const struct profile *profile)
{
	threads_print_idle(out, &plain, profile);
}

static void print_table(FILE *out, const struct profile *profile)
{
	threads_print_table(out, &plain, profile);
}

__attribute__((noinline)) static char *printed(const struct profile *profile, printer *print)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	print(out, profile);
	fclose(out);
	return text;
}

static void expect(const struct profile *profile, printer *print, const char *expected)
{
	char *text = printed(profile, print);
	assert_string_equal(text, expected);
	free(text);
}

static void test_notes(void **state)
{
	struct profile *profile = profile_sample_new();
	expect(profile, print_notes,
	       "  Threads waited 0.50 s for the GIL (35% of their time), most at loop.py:7  total += i\n");
	expect(profile, print_notes_narrow,
	       "  Threads waited 0.50 s for the GIL (35% of their time),\n"
	       "  most at loop.py:7  total += i\n");
	profile->sum.gc_s = 0.4;
	profile->sum.gil_s = 0.05;
	expect(profile, print_notes,
	       "  Garbage collection took 0.40 s (43% of the work), most at loop.py:7  total += i\n");
	/* In a long run that is little, and fewer than ten samples show no share. */
	profile->total_s = 41;
	expect(profile, print_notes, "");
	profile->total_s = 1;
	profile->quality.samples = 23;
	expect(profile, print_notes, "");
	profile->quality.samples = 24;
	profile->sum.gc_s = 0.05;
	expect(profile, print_notes, "");
	profile_free(profile);
}

static void test_waits(void **state)
{
	struct profile *profile = profile_sample_new();
	expect(profile, print_waits, "Waited for: GIL 0.50 s, lock 1.50 s, sleep 75 ms\n");
	memset(profile->sum.waits_s, 0, sizeof(profile->sum.waits_s));
	profile->sum.gil_s = 0;
	expect(profile, print_waits, "");
	profile_free(profile);
}

static void test_idle(void **state)
{
	struct profile *profile = profile_sample_new();
	expect(profile, print_idle,
	       "\nOther threads waited  beside the main one; no part of the total\n"
	       "   2.00 s  lock      loop.py:7  total += i\n");
	profile->elapsed_s = 201; /* of which it is less than a percent */
	expect(profile, print_idle, "");
	profile_free(profile);
}

static void test_table(void **state)
{
	struct profile *profile = profile_sample_new();
	expect(profile, print_table,
	       "\nThreads\n"
	       "      CPU  waiting      GIL       GC  samples  thread\n"
	       "   0.60 s    75 ms                         95  python3\n"
	       "            2.00 s   0.50 s                 0  (no name)\n");
	profile->sum.gil_s = profile->sum.gc_s = 0;
	profile->process_count = 2;
	profile->processes = mem_resize(profile->processes, 2, sizeof(*profile->processes));
	profile->processes[1] = (struct profile_process){.pid = 4711};
	profile->threads[1].process = 1;
	profile->threads[1].name = profile_intern(profile, "evil \x1b[31m name");
	char *text = printed(profile, print_table);
	assert_non_null(strstr(text, "      CPU  waiting  samples  process  thread\n"));
	assert_non_null(strstr(text, "    4711  evil "));
	assert_null(strchr(text, '\x1b'));
	free(text);
	profile->thread_count = 1;
	expect(profile, print_table, "");
	profile_free(profile);
}

/* Threads that were joined are as many as they were. */
static void test_joined_threads(void **unused)
{
	struct profile_thread threads[25] = {{.name = "MainThread", .is_main = true}};
	struct profile profile = {.threads = threads, .thread_count = 25};
	char *text;

	(void)unused;
	for (uint32_t i = 1; i < 25; i++)
		threads[i] = (struct profile_thread){.name = "t", .self = {.cpu_s = 1}};
	threads[24] = (struct profile_thread){.name = "2000 other threads", .joined = 2000,
					      .self = {.cpu_s = 0.5}};
	text = printed(&profile, print_table);
	assert_non_null(strstr(text, "  and 2,004 more\n"));
	free(text);
	threads[24].self.cpu_s = 2;
	text = printed(&profile, print_table);
	assert_non_null(strstr(text, "  and 5 more\n"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_joined_threads),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
