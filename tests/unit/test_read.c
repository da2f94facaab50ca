/* test_read.c - reading profiles: our own exactly, Scalene's, and bad ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "profile/read.h"
#include "profile/write.h"
#include "profile_sample.h"

#define assert_near(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static struct profile *read_ok(const char *text, size_t size)
{
	struct err err;
	struct profile *profile = profile_read_text(text, size, "test", &err);
	if (!profile)
		fail_msg("%s", err.message);
	return profile;
}

static struct profile *read_golden(const char *path)
{
	struct err err;
	struct profile *profile = profile_read(path, &err);
	if (!profile)
		fail_msg("%s", err.message);
	return profile;
}

static void check_round_trip(const struct profile *profile)
{
	for (int i = 0; i < 16; i++) {
		struct write_options options = {.is_reduced = i & 1, .has_stacks = i & 2,
						.cpu_percent_threshold = i & 4 ? 99 : 0,
						.malloc_threshold = i & 8 ? 1e9 : 100};
		size_t size, size_again;
		char *text = profile_write_text(profile, &options, &size);
		struct profile *again = read_ok(text, size);
		char *text_again = profile_write_text(again, &options, &size_again);
		assert_string_equal(text, text_again);
		free(text);
		free(text_again);
		profile_free(again);
	}
}

static void test_round_trip_is_exact(void **state)
{
	struct profile *profile = profile_sample_new();
	check_round_trip(profile);
	profile_free(profile);
	profile = profile_sample_without_memory();
	check_round_trip(profile);
	profile_free(profile);
}

static void test_own_profile_comes_back_whole(void **state)
{
	struct profile *made = profile_sample_new();
	struct profile *read = read_golden(HEATLINE_GOLDEN "/heatline.json");
	assert_false(read->from_scalene);
	assert_string_equal(read->program, made->program);
	assert_string_equal(read->entrypoint_dir, made->entrypoint_dir);
	assert_int_equal(read->arg_count, 2);
	assert_string_equal(read->args[1], "--fast \"now\"");
	assert_string_equal(read->python_version, "3.11.7");
	assert_near(read->elapsed_s, made->elapsed_s);
	assert_near(read->total_s, made->total_s);
	assert_near(read->outside_s, made->outside_s);
	assert_near(read->startup_s, made->startup_s);
	assert_memory_equal(&read->sum, &made->sum, sizeof(read->sum));
	const struct profile_file *file = profile_find_file(read, profile_sample_path);
	assert_string_equal(file->source, profile_sample_source);
	assert_int_equal(file->line_count, made->files[0].line_count);
	for (uint32_t i = 0; i < file->line_count; i++) {
		const struct profile_line *a = &file->lines[i], *b = &made->files[0].lines[i];
		assert_int_equal(a->line, b->line);
		assert_memory_equal(&a->self, &b->self, sizeof(a->self));
		assert_memory_equal(&a->region, &b->region, sizeof(a->region));
		assert_memory_equal(&a->memory, &b->memory, sizeof(a->memory));
		assert_int_equal(a->memory_point_count, b->memory_point_count);
		for (uint32_t p = 0; p < a->memory_point_count; p++)
			assert_memory_equal(&a->memory_points[p], &b->memory_points[p],
					    sizeof(a->memory_points[p]));
		assert_true(a->inclusive_s == b->inclusive_s);
		assert_int_equal(a->sample_times, b->sample_times);
		assert_int_equal(a->column_count, b->column_count);
		for (uint32_t c = 0; c < a->column_count; c++) {
			assert_int_equal(a->columns[c].column, b->columns[c].column);
			assert_int_equal(a->columns[c].column_end, b->columns[c].column_end);
			assert_int_equal(a->columns[c].line_end, b->columns[c].line_end);
			assert_true(a->columns[c].self_s == b->columns[c].self_s);
		}
	}
	assert_int_equal(file->function_count, 2);
	for (uint32_t i = 0; i < 2; i++)
		assert_memory_equal(&file->functions[i].memory, &made->files[0].functions[i].memory,
				    sizeof(struct memory));
	assert_int_equal(file->import_count, 1);
	assert_string_equal(file->imports[0], "import json");
	assert_int_equal(read->stack_count, made->stack_count);
	for (uint32_t i = 0; i < read->stack_count; i++) {
		assert_int_equal(read->stacks[i].parent, made->stacks[i].parent);
		assert_int_equal(read->stacks[i].line, made->stacks[i].line);
		assert_memory_equal(&read->stacks[i].self, &made->stacks[i].self,
				    sizeof(read->stacks[i].self));
	}
	assert_int_equal(read->thread_stack_count, 1);
	assert_memory_equal(read->thread_stacks, made->thread_stacks, sizeof(struct stack_part));
	assert_int_equal(read->quality.idle_samples, 60);
	assert_int_equal(read->idle_stack_count, 1);
	assert_memory_equal(read->idle_stacks, made->idle_stacks, sizeof(struct stack_part));
	assert_true(read->timeline.bin_s == made->timeline.bin_s);
	assert_int_equal(read->timeline.bins, 4);
	assert_int_equal(read->timeline.thread_count, 2);
	for (uint32_t i = 0; i < 2; i++)
		assert_memory_equal(read->timeline.threads[i].ms, made->timeline.threads[i].ms,
				    sizeof(uint32_t) * TIMELINE_KINDS * 4);
	assert_int_equal(read->timeline.stack_count, 3);
	assert_memory_equal(read->timeline.stacks, made->timeline.stacks,
			    3 * sizeof(struct stack_part));
	assert_int_equal(read->thread_count, 2);
	assert_true(read->threads[0].is_main);
	assert_memory_equal(&read->threads[0].self, &made->threads[0].self, sizeof(struct metrics));
	assert_near(read->threads[1].self.idle_s, 2);
	assert_null(read->threads[1].name);
	assert_int_equal(read->process_count, 1);
	assert_int_equal(read->quality.samples, 92);
	assert_string_equal(read->quality.lost[0].reason, "ring full");
	assert_int_equal(read->quality.lost[0].count, 3);
	assert_string_equal(read->quality.warnings[0], "few samples");
	assert_true(read->has_memory);
	assert_memory_equal(&read->memory, &made->memory, sizeof(read->memory));
	assert_true(read->peak_s == made->peak_s);
	assert_true(read->peak_python_bytes == made->peak_python_bytes);
	assert_true(read->peak_resident_bytes == made->peak_resident_bytes);
	assert_true(read->threads_alloc_bytes == made->threads_alloc_bytes);
	assert_int_equal(read->alloc_samples, made->alloc_samples);
	assert_int_equal(read->footprint_count, made->footprint_count);
	for (uint32_t i = 0; i < read->footprint_count; i++)
		assert_memory_equal(&read->footprint[i], &made->footprint[i],
				    sizeof(read->footprint[i]));
	profile_free(read);
	profile_free(made);
}

static void test_reduced_profile_keeps_texts_and_regions(void **state)
{
	struct profile *profile = profile_sample_new();
	struct write_options options = WRITE_OPTIONS_DEFAULT;
	options.is_reduced = true;
	size_t size;
	char *text = profile_write_text(profile, &options, &size);
	struct profile *read = read_ok(text, size);
	const struct profile_file *file = profile_find_file(read, profile_sample_path);
	assert_null(file->source);
	const struct profile_line *line = profile_find_line(file, 7);
	assert_string_equal(line->text, "            total += i");
	assert_int_equal(line->region.region_start, 5);
	free(text);
	profile_free(read);
	profile_free(profile);
}

static void test_scalene_profile(void **state)
{
	struct profile *profile = read_golden(HEATLINE_GOLDEN "/scalene.json");
	assert_true(profile->from_scalene);
	assert_near(profile->total_s, 0.7815291881561279);
	assert_string_equal(profile->program, "/project/count.py");
	assert_int_equal(profile->arg_count, 0);
	const struct profile_file *file = profile_find_file(profile, "/project/count.py");
	assert_non_null(strstr(file->source, "        if i % 3 < 2 & 3:\n"));
	const struct profile_line *line = profile_find_line(file, 13);
	assert_true(fabs(profile_percent(profile, line->self.python_s) - 2.99954) < 1e-4);
	assert_true(fabs(profile_percent(profile, line->self.native_s) - 28.33323) < 1e-4);
	assert_true(fabs(profile_percent(profile, line->self.system_s) - 4.90716) < 1e-4);
	assert_true(line->self.samples > 0);
	assert_null(profile_find_line(file, 7));
	assert_string_equal(file->functions[0].name, "count");
	assert_true(profile->stack_count > 3);
	assert_string_equal(profile->stacks[1].function, "<module>");
	assert_int_equal(profile->stacks[1].line, 18);
	profile_free(profile);
}

static void test_scalene_arguments(void **state)
{
	static const char text[] = "{\"files\": {}, \"elapsed_time_sec\": 1, \"program\": \"/p/a.py\", \"args\": [%s]}";
	char whole[200];
	int size = snprintf(whole, sizeof(whole), text, "\"b/../a.py\", \"-n\", \"a.py\"");
	struct profile *profile = read_ok(whole, (size_t)size);
	assert_int_equal(profile->arg_count, 2);
	assert_string_equal(profile->args[0], "-n");
	assert_string_equal(profile->args[1], "a.py");
	profile_free(profile);
	size = snprintf(whole, sizeof(whole), text, "\"-n\"");
	profile = read_ok(whole, (size_t)size);
	assert_int_equal(profile->arg_count, 1);
	profile_free(profile);
}

static void test_scalene_memory(void **state)
{
	struct profile *profile = read_golden(HEATLINE_GOLDEN "/scalene-memory.json");
	assert_true(profile->has_memory);
	assert_true(fabs(profile->memory.peak_bytes / MB - 175.9164276) < 1e-6);
	assert_int_equal(profile->alloc_samples, 721);
	assert_true(profile->footprint_count > 50);
	assert_true(fabs(profile->footprint[0].time_s - 1.29) < 1e-9);
	assert_true(fabs(profile->footprint[0].live_bytes / MB - 2.8619) < 1e-3);
	const struct profile_file *file = profile_find_file(profile, "/project/grow.py");
	const struct profile_line *line = profile_find_line(file, 6);
	assert_true(fabs(line->self.alloc_bytes / MB - 171.8601398) < 1e-6);
	assert_near(line->memory.alloc_count, 60);
	assert_true(fabs(line->memory.peak_bytes / MB - 3.000658) < 1e-6);
	assert_true(fabs(line->memory.python_bytes / line->self.alloc_bytes - 0.99997) < 1e-5);
	assert_near(line->self.kept_bytes, 0); /* which Scalene does not measure */
	assert_int_equal(line->memory_point_count, 60);
	double stacks_bytes = 0;
	for (uint32_t i = 0; i < profile->stack_count; i++)
		stacks_bytes += profile->stacks[i].self.alloc_bytes;
	assert_true(fabs(stacks_bytes - line->self.alloc_bytes) < 10);
	check_round_trip(profile);
	profile_free(profile);
}

static void test_scalene_leaks_and_copies(void **state)
{
	const char *text =
		"{\"elapsed_time_sec\": 2, \"memory\": true, \"files\": {\"a.py\": {\"leaks\": {\"4\":"
		"{\"likelihood\": 0.97, \"velocity_mb_s\": 1.5}, \"9\": {\"likelihood\": 1}},"
		"\"lines\": [{\"lineno\": 4, \"line\": \"x\", \"n_copy_mb_s\": 3,"
		"\"memory_samples\": [[2000000000, 5], [1000000000, 1]]}]}}}";
	struct profile *profile = read_ok(text, strlen(text));
	const struct profile_line *line = profile_find_line(&profile->files[0], 4);
	assert_near(line->memory.leak_likelihood, 0.97);
	assert_near(line->memory.leak_bytes_per_s, 1.5 * MB);
	assert_near(line->self.copy_bytes, 6 * MB);
	assert_near(line->memory_points[0].time_s, 1); /* in order of time */
	assert_near(line->memory_points[1].live_bytes, 5 * MB);
	assert_int_equal(profile->files[0].line_count, 1);
	profile_free(profile);
}

static void test_scalene_1_stacks(void **state)
{
	const char *text = "{\"elapsed_time_sec\": 2, \"files\": {}, \"stacks\": [[[[\"a b.py\","
			   "\"<module>\", 3], [\"a b.py\", \"f\", null]], [29, 0.25, 0.125, 0.375]],"
			   "[[\"a b.py f:1;\"], 7]]}";
	struct profile *profile = read_ok(text, strlen(text));
	assert_int_equal(profile->stack_count, 3);
	assert_string_equal(profile->stacks[2].function, "f");
	assert_int_equal(profile->stacks[1].line, 3);
	assert_near(profile->stacks[2].self.python_s, 0.5);
	assert_near(profile->stacks[2].self.native_s, 0.25);
	assert_int_equal(profile->stacks[2].self.samples, 29);
	profile_free(profile);
}

/* A Scalene profile becomes one of ours by being written, with the figures
 * unchanged. */
static void test_scalene_profile_written_and_read(void **state)
{
	struct profile *profile = read_golden(HEATLINE_GOLDEN "/scalene.json");
	struct write_options options = WRITE_OPTIONS_DEFAULT;
	size_t size;
	char *text = profile_write_text(profile, &options, &size);
	struct profile *again = read_ok(text, size);
	assert_true(again->from_scalene);
	const struct profile_file *a = &profile->files[0], *b = &again->files[0];
	assert_int_equal(a->line_count, b->line_count);
	assert_true(fabs(metrics_seconds(&a->self) - metrics_seconds(&b->self)) < 1e-6);
	assert_string_equal(a->source, b->source);
	char *text_again = profile_write_text(again, &options, NULL);
	assert_string_equal(text, text_again);
	free(text);
	free(text_again);
	profile_free(profile);
	profile_free(again);
}

static void check_refused(const char *text, const char *reason)
{
	struct err err;
	err_clear(&err);
	struct profile *profile = profile_read_text(text, strlen(text), "bad.json", &err);
	if (profile)
		fail_msg("accepted: %s", text);
	assert_int_equal(err.code, ERR_FORMAT);
	if (!text_starts_with(err.message, "'bad.json' cannot be read as a profile: ") ||
	    !strstr(err.message, reason))
		fail_msg("%s: %s", text, err.message);
}

static void test_bad_profiles_are_refused_with_a_reason(void **state)
{
	check_refused("", "it is empty");
	check_refused(" \n", "it is empty");
	check_refused("{}", "it is empty; the program ended");
	check_refused("import os\n", "it is not JSON");
	check_refused("{\"files\": {", "it is cut off after 11 bytes");
	check_refused("{\"files\": }", "not valid JSON (line 1");
	check_refused("[1, 2]", "not an object");
	check_refused("{\"a\": 1}", "has no \"files\"");
	check_refused("{\"files\": []}", "\"files\" is not an object");
	check_refused("{\"files\": {\"a\": 1}}", "the entry of 'a' is not an object");
	check_refused("{\"files\": {\"a\": {\"lines\": {}}}}", "\"lines\" is not a list");
	check_refused("{\"files\": {\"a\": {\"lines\": [1]}}}", "\"lines\" is not an object");
	check_refused("{\"files\": {\"a\": {\"lines\": [{}]}}}", "\"line\" is not a text");
	check_refused("{\"files\": {\"a\": {\"lines\": [{\"line\": \"\"}]}}}", "no \"lineno\"");
	check_refused("{\"files\": {\"a\": {\"lines\": [{\"line\": \"\", \"lineno\": 1.5}]}}}",
		      "\"lineno\" is not a whole number");
	check_refused("{\"files\": {\"a\": {\"lines\": [{\"line\": \"\", \"lineno\": -1}]}}}",
		      "\"lineno\" is out of range");
	check_refused("{\"files\": {\"a\": {\"lines\": [{\"line\": \"\", \"lineno\": 1,"
		      "\"n_cpu_percent_python\": \"x\"}]}}}",
		      "\"n_cpu_percent_python\" is not a number");
	check_refused("{\"files\": {\"a\": {\"lines\": [{\"line\": \"\", \"lineno\": 1,"
		      "\"n_cpu_percent_python\": -3}]}}}",
		      "\"n_cpu_percent_python\" is not a number from 0 on");
	check_refused("{\"files\": {\"a\": {\"lines\": ["
		      "{\"line\": \"\", \"lineno\": 4, \"n_cpu_percent_python\": 1},"
		      "{\"line\": \"\", \"lineno\": 4, \"n_cpu_percent_python\": 1}]}}}",
		      "line 4 of 'a' is there twice");
	check_refused("{\"files\": {}, \"stacks\": [[[\"nonsense\"], {}]]}",
		      "a frame of \"stacks\"");
	check_refused("{\"files\": {}, \"heatline\": {\"schema\": 99, \"version\": \"9.0\"}}",
		      "a newer Heatline (9.0) wrote it");
	check_refused("{\"files\": {}, \"heatline\": {\"threads\": [{}]}}",
		      "belongs to no process");
	check_refused("{\"files\": {}, \"heatline\": {\"time\": {\"total_s\": []}}}",
		      "\"total_s\"");
}

static void test_bad_memory_is_refused(void **state)
{
#define LINE(keys) \
	"{\"files\": {\"a\": {\"lines\": [{\"line\": \"\", \"lineno\": 1, " keys "}]}}}"
	check_refused(LINE("\"n_malloc_mb\": -1"), "\"n_malloc_mb\" is not a number from 0 on");
	check_refused(LINE("\"n_peak_mb\": \"1\""), "\"n_peak_mb\" is not a number");
	check_refused(LINE("\"n_malloc_mb\": 1, \"memory_samples\": 1"), "is not a list");
	check_refused(LINE("\"n_malloc_mb\": 1, \"memory_samples\": [7]"), "not a list of numbers");
	check_refused(LINE("\"n_malloc_mb\": 1, \"memory_samples\": [[1, []]]"), "memory_samples");
#define LEAKS(leaks) "{\"files\": {\"a\": {\"leaks\": " leaks "}}}"
	check_refused(LEAKS("[]"), "\"leaks\" is not an object");
	check_refused(LEAKS("{\"x\": {}}"), "an item of \"leaks\"");
	check_refused(LEAKS("{\"0\": {}}"), "an item of \"leaks\"");
	check_refused(LEAKS("{\"99999999999999999999\": {}}"), "an item of \"leaks\"");
	check_refused(LEAKS("{\"3\": 1}"), "an item of \"leaks\"");
	check_refused("{\"files\": {}, \"memory\": 1}", "\"memory\" is neither");
	check_refused("{\"files\": {}, \"samples\": [[1]]}", "not a list of numbers");
	check_refused("{\"files\": {}, \"max_footprint_mb\": -2}", "max_footprint_mb");
	check_refused("{\"files\": {}, \"memory_stacks\": [[[{}], 1]]}", "has no name");
	check_refused("{\"files\": {}, \"memory_stacks\": [[[], \"x\"]]}", "memory_stacks");
	check_refused("{\"files\": {}, \"heatline\": {\"memory\": []}}", "\"memory\" is not an");
	check_refused("{\"files\": {}, \"heatline\": {\"memory\": {\"timeline\": [[0]]}}}",
		      "not a list of numbers");
}

static void test_bad_stack_trees_are_refused(void **state)
{
#define TREE(tables) "{\"files\": {}, \"heatline\": {\"stacks\": {" tables "}}}"
	check_refused(TREE("\"strings\": [1]"), "\"strings\" is not a text");
	check_refused(TREE("\"strings\": [\"a\"], \"files\": [[1, 0]]"), "out of range");
	check_refused(TREE("\"strings\": [\"a\"], \"files\": [[0]]"), "list of 2 numbers");
	check_refused(TREE("\"strings\": [\"a\"], \"functions\": [[0, 0, 1]]"), "out of range");
	check_refused(TREE("\"nodes\": [[0, -1, 0], [1, 0, 0]]"), "out of range");
	check_refused(TREE("\"nodes\": [[0, -1, 0], [0, 0, 0]]"), "out of range");
	check_refused(TREE("\"nodes\": [[0]]"), "not a list of numbers");
	check_refused(TREE("\"nodes\": [[0, -1, 0, -5]]"), "out of range");
}

static void test_bad_timelines_are_refused(void **state)
{
#define TIMELINE(keys)                                                                        \
	"{\"files\": {}, \"heatline\": {\"processes\": [{}], \"threads\": [{\"process\": 0}]," \
	"\"stacks\": {\"nodes\": [[0, -1, 0]]}, \"timeline\": {" keys "}}}"
	check_refused(TIMELINE("\"bins\": 201"), "\"bins\"");
	check_refused(TIMELINE("\"bin_s\": -1"), "\"bin_s\"");
	check_refused(TIMELINE("\"bins\": 2, \"threads\": [1]"), "is not an object");
	check_refused(TIMELINE("\"bins\": 2, \"threads\": [{\"thread\": 1}]"), "does not exist");
	check_refused(TIMELINE("\"bins\": 2, \"threads\": [{\"thread\": 0, \"python\": [1, 2, 3]}]"),
		      "more than \"bins\"");
	check_refused(TIMELINE("\"bins\": 2, \"threads\": [{\"thread\": 0, \"gil\": [-1]}]"),
		      "out of range");
	check_refused(TIMELINE("\"bins\": 2, \"stacks\": [[0, 0]]"), "list of 3 numbers");
	check_refused(TIMELINE("\"bins\": 2, \"stacks\": [[1, 0, 5]]"), "out of range");
	check_refused(TIMELINE("\"bins\": 2, \"stacks\": [[0, 2, 5]]"), "out of range");
	check_refused("{\"files\": {}, \"heatline\": {\"stacks\": {\"nodes\": [[0, -1, 0]],"
		      "\"threads\": [[0, 0, 5]]}}}", "out of range");
	check_refused("{\"files\": {}, \"heatline\": {\"timeline\": 3}}", "is not an object");
}

static void test_old_timelines_are_passed_over(void **state)
{
	const char *text = "{\"files\": {}, \"heatline\": {\"timeline\": []}}";
	struct profile *profile = read_ok(text, strlen(text));
	assert_int_equal(profile->timeline.bins, 0);
	profile_free(profile);
}

static void test_unknown_keys_are_passed_over(void **state)
{
	const char *text = "{\"new\": [1], \"files\": {\"a\": {\"lines\": [], \"x\": {}}},"
			   "\"heatline\": {\"schema\": 1, \"later\": true,"
			   "\"time\": {\"total_s\": 2}}}";
	struct profile *profile = read_ok(text, strlen(text));
	assert_near(profile->total_s, 2);
	profile_free(profile);
}

static void test_missing_file_is_told(void **state)
{
	struct err err;
	assert_null(profile_read("/no/such/profile.json", &err));
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_null(profile_read("/tmp", &err));
	assert_non_null(strstr(err.message, "it is a folder"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip_is_exact),
		cmocka_unit_test(test_own_profile_comes_back_whole),
		cmocka_unit_test(test_reduced_profile_keeps_texts_and_regions),
		cmocka_unit_test(test_scalene_profile),
		cmocka_unit_test(test_scalene_arguments),
		cmocka_unit_test(test_scalene_memory),
		cmocka_unit_test(test_scalene_leaks_and_copies),
		cmocka_unit_test(test_scalene_1_stacks),
		cmocka_unit_test(test_scalene_profile_written_and_read),
		cmocka_unit_test(test_bad_profiles_are_refused_with_a_reason),
		cmocka_unit_test(test_bad_memory_is_refused),
		cmocka_unit_test(test_bad_stack_trees_are_refused),
		cmocka_unit_test(test_bad_timelines_are_refused),
		cmocka_unit_test(test_old_timelines_are_passed_over),
		cmocka_unit_test(test_unknown_keys_are_passed_over),
		cmocka_unit_test(test_missing_file_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
