/* test_write.c - the JSON that is written: Scalene's keys, bounds, the golden file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "profile/read.h"
#include "profile/stack_parts.h"
#include "profile/write.h"
#include "profile_sample.h"

#define assert_near(a, b) assert_true(fabs((a) - (b)) < 1e-4)

static char *write_text(const struct profile *profile, struct write_options options)
{
	return profile_write_text(profile, &options, NULL);
}

static json_t *write_json(const struct profile *profile, struct write_options options)
{
	char *text = write_text(profile, options);
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		fail_msg("%s at line %d", error.text, error.line);
	free(text);
	return root;
}

static double number(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);
	if (!json_is_number(value))
		fail_msg("no number \"%s\"", key);
	return json_number_value(value);
}

static const json_t *line_record(const json_t *root, const char *path, uint32_t lineno)
{
	size_t index;
	json_t *record;
	const json_t *file = json_object_get(json_object_get(root, "files"), path);
	json_array_foreach(json_object_get(file, "lines"), index, record)
	{
		if (number(record, "lineno") == lineno)
			return record;
	}
	return NULL;
}

static void test_top_level_has_scalenes_keys(void **state)
{
	static const char *const keys[] = {
		"alloc_samples", "args", "async_profile", "elapsed_time_sec", "entrypoint_dir",
		"filename", "files", "gpu", "gpu_device", "growth_rate", "max_footprint_fname",
		"max_footprint_lineno", "max_footprint_mb", "max_footprint_python_fraction",
		"memory", "native_allocations_mb", "program", "samples", "stacks",
		"combined_stacks", "memory_stacks", "start_time_absolute", "start_time_perf",
		"heatline",
	};
	struct profile *profile = profile_sample_new();
	json_t *root = write_json(profile, WRITE_OPTIONS_DEFAULT);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_non_null(json_object_get(root, keys[i]));
	assert_int_equal(json_object_size(root), sizeof(keys) / sizeof(keys[0]));
	json_decref(root);
	profile_free(profile);
}

static void test_line_figures(void **state)
{
	struct profile *profile = profile_sample_new();
	json_t *root = write_json(profile, WRITE_OPTIONS_DEFAULT);
	const json_t *loop = line_record(root, profile_sample_path, 7);
	assert_near(number(loop, "n_cpu_percent_python"), 60);
	assert_near(number(loop, "n_cpu_percent_c"), 10);
	assert_near(number(loop, "n_sys_percent"), 0);
	assert_near(number(loop, "n_core_utilization"), 1);
	assert_near(number(loop, "n_samples"), 130);
	assert_true(number(loop, "n_percent_low") < 70 && number(loop, "n_percent_high") > 70);
	assert_near(number(loop, "start_region_line"), 5);
	assert_near(number(loop, "end_function_line"), 8);
	assert_int_equal(json_array_size(json_object_get(loop, "cpu_samples_list")), 20);
	assert_near(json_number_value(json_array_get(json_object_get(loop, "cpu_samples_list"), 1)),
		    5000.51);
	const json_t *call = line_record(root, profile_sample_path, 10);
	assert_near(number(call, "n_sys_percent"), 12.5);
	assert_near(number(call, "n_wait_percent"), 7.5);
	assert_near(number(call, "n_inclusive_percent"), 97.5);
	assert_near(number(call, "n_core_utilization"), 0.2 / 0.275);
	assert_string_equal(json_string_value(json_object_get(call, "line")),
			    "inner(9); json.dumps(sorted(range(9)))\n");
	const json_t *empty = line_record(root, profile_sample_path, 6);
	assert_near(number(empty, "n_cpu_percent_python"), 0);
	assert_null(json_object_get(empty, "n_samples"));
	json_decref(root);
	profile_free(profile);
}

static double item(const json_t *array, size_t row, size_t column)
{
	return json_number_value(json_array_get(json_array_get(array, row), column));
}

static void test_memory_of_lines(void **state)
{
	struct profile *profile = profile_sample_new();
	json_t *root = write_json(profile, WRITE_OPTIONS_DEFAULT);
	const json_t *loop = line_record(root, profile_sample_path, 7);
	assert_near(number(loop, "n_malloc_mb"), 32);
	assert_near(number(loop, "n_mallocs"), 1234);
	assert_near(number(loop, "n_peak_mb"), 30);
	assert_near(number(loop, "n_avg_mb"), 12.5);
	assert_near(number(loop, "n_growth_mb"), 24);
	assert_near(number(loop, "n_kept_mb"), 24);
	assert_near(number(loop, "n_at_peak_mb"), 28);
	assert_near(number(loop, "n_python_mb"), 8);
	assert_near(number(loop, "n_python_fraction"), 0.25);
	assert_near(number(loop, "n_usage_fraction"), 0.32);
	const json_t *points = json_object_get(loop, "memory_samples");
	assert_int_equal(json_array_size(points), 3);
	assert_near(item(points, 1, 0), 0.25e9);
	assert_near(item(points, 1, 1), 10.123);
	const json_t *call = line_record(root, profile_sample_path, 10);
	assert_near(number(call, "n_copy_mb"), 9);
	assert_near(number(call, "n_copy_mb_s"), 8); /* in 1.125 s */
	const json_t *empty = line_record(root, profile_sample_path, 6);
	assert_near(number(empty, "n_malloc_mb"), 0);
	assert_null(json_object_get(empty, "n_kept_mb"));
	const json_t *file = json_object_get(json_object_get(root, "files"), profile_sample_path);
	const json_t *leaks = json_object_get(file, "leaks");
	assert_int_equal(json_object_size(leaks), 1);
	assert_near(number(json_object_get(leaks, "7"), "likelihood"), 0.98);
	assert_near(number(json_object_get(leaks, "7"), "velocity_mb_s"), 24);
	const json_t *function = json_array_get(json_object_get(file, "functions"), 1);
	assert_near(number(function, "n_peak_mb"), 30);
	assert_near(number(function, "n_kept_mb"), 24);
	json_decref(root);
	profile_free(profile);
}

static void test_memory_of_the_program(void **state)
{
	struct profile *profile = profile_sample_new();
	json_t *root = write_json(profile, WRITE_OPTIONS_DEFAULT);
	assert_true(json_is_true(json_object_get(root, "memory")));
	assert_near(number(root, "alloc_samples"), 777);
	assert_near(number(root, "max_footprint_mb"), 40);
	assert_near(number(root, "max_footprint_python_fraction"), 0.25);
	assert_near(number(root, "max_footprint_lineno"), 7);
	assert_near(number(root, "native_allocations_mb"), 4);
	assert_near(number(root, "growth_rate"), 28);
	/* Thinned, but not without the peak. */
	const json_t *samples = json_object_get(root, "samples");
	double largest = 0;
	assert_int_equal(json_array_size(samples), 100);
	for (size_t i = 0; i < 100; i++)
		largest = fmax(largest, item(samples, i, 1));
	assert_near(largest, 40);
	const json_t *memory = json_object_get(json_object_get(root, "heatline"), "memory");
	assert_near(number(memory, "peak_s"), 0.75);
	assert_near(number(memory, "peak_rss_mb"), 55.5);
	assert_near(number(memory, "allocated_mb"), 100);
	assert_near(number(memory, "kept_mb"), 28);
	assert_near(number(memory, "copied_mb"), 9);
	assert_int_equal(json_array_size(json_object_get(memory, "timeline")), 300);
	const json_t *stacks = json_object_get(root, "memory_stacks");
	assert_int_equal(json_array_size(stacks), 2); /* the thread without Python has none */
	assert_near(item(stacks, 0, 1), 64);
	const json_t *frames = json_array_get(json_array_get(stacks, 1), 0);
	assert_int_equal(json_array_size(frames), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(frames, 1),
							      "display_name")), "inner");
	json_decref(root);
	profile_free(profile);
}

static void test_no_memory_keys_when_not_measured(void **state)
{
	struct profile *profile = profile_sample_without_memory();
	json_t *root = write_json(profile, WRITE_OPTIONS_DEFAULT);
	assert_true(json_is_false(json_object_get(root, "memory")));
	assert_true(json_is_null(json_object_get(root, "max_footprint_fname")));
	assert_near(number(root, "max_footprint_mb"), 0);
	assert_null(json_object_get(root, "memory_stacks"));
	assert_null(json_object_get(json_object_get(root, "heatline"), "memory"));
	const json_t *loop = line_record(root, profile_sample_path, 7);
	assert_near(number(loop, "n_peak_mb"), 0);
	assert_null(json_object_get(loop, "n_kept_mb"));
	assert_null(json_object_get(loop, "n_copy_mb"));
	json_decref(root);
	profile_free(profile);
}

static struct profile *sample_without_idle(void)
{
	struct profile *profile = profile_sample_new();
	for (uint32_t i = 0; i < profile->files[0].line_count; i++)
		profile->files[0].lines[i].self.idle_s = 0;
	return profile;
}

/* A file that took no time is listed for its memory. */
static void test_malloc_threshold(void **state)
{
	struct profile *profile = sample_without_idle();
	struct write_options options = WRITE_OPTIONS_DEFAULT;
	options.cpu_percent_threshold = 100;
	options.malloc_threshold = 1298; /* as many as the file has */
	json_t *root = write_json(profile, options);
	assert_int_equal(json_object_size(json_object_get(root, "files")), 1);
	json_decref(root);
	options.malloc_threshold = 1299;
	root = write_json(profile, options);
	assert_int_equal(json_object_size(json_object_get(root, "files")), 0);
	assert_true(json_is_null(json_object_get(root, "max_footprint_fname")));
	json_decref(root);
	profile_free(profile);
}

static void test_threads_say_what_is_known(void **state)
{
	struct profile *profile = profile_sample_new();
	json_t *root = write_json(profile, WRITE_OPTIONS_DEFAULT);
	const json_t *threads = json_object_get(json_object_get(root, "heatline"), "threads");
	const json_t *main_thread = json_array_get(threads, 0);
	assert_near(number(main_thread, "cpu_s"), 0.6);
	assert_near(number(main_thread, "off_cpu_s"), 0.075);
	assert_null(json_object_get(main_thread, "python_s"));
	assert_near(number(json_array_get(threads, 1), "off_cpu_s"), 2);
	json_decref(root);
	profile_free(profile);
}

static void test_reduced_lists_lines_with_figures(void **state)
{
	struct profile *profile = profile_sample_new();
	struct write_options options = WRITE_OPTIONS_DEFAULT;
	options.is_reduced = true;
	json_t *root = write_json(profile, options);
	assert_null(line_record(root, profile_sample_path, 6));
	assert_non_null(line_record(root, profile_sample_path, 7));
	const json_t *file = json_object_get(json_object_get(root, "files"), profile_sample_path);
	assert_true(json_is_true(json_object_get(file, "reduced")));
	assert_null(json_object_get(file, "source"));
	json_decref(root);
	profile_free(profile);
}

static void test_threshold_moves_files_outside(void **state)
{
	struct profile *profile = sample_without_idle();
	struct write_options options = WRITE_OPTIONS_DEFAULT;
	options.cpu_percent_threshold = 98;
	options.malloc_threshold = 1e9;
	json_t *root = write_json(profile, options);
	assert_int_equal(json_object_size(json_object_get(root, "files")), 0);
	const json_t *time = json_object_get(json_object_get(root, "heatline"), "time");
	assert_near(number(time, "outside_s"), 1.0);
	assert_near(number(time, "total_s"), 1.0);
	json_decref(root);
	profile_free(profile);
}

/* A profile of `count` lines of one file that took 1, 2, 3, … ms each. */
static struct profile *profile_of_lines(uint32_t count)
{
	struct profile *profile = profile_new();
	uint32_t file = profile_file_index(profile, profile_sample_path, true);
	for (uint32_t i = 1; i <= count; i++) {
		struct book_frame frame = {file, profile_intern(profile, "work"), 1, i, i, 0, 0, 0, false};
		struct metrics busy = {.python_s = 0.001 * i, .cpu_s = 0.001 * i, .samples = i};
		profile_book(profile, &frame, 1, &busy, false);
	}
	profile_finish(profile);
	return profile;
}

/* What lines took that the file has no room for is told apart, also when it is written again. */
static void test_lines_over_the_maximum(void **state)
{
	for (uint32_t more = 0; more <= 3; more += 3) {
		struct profile *profile = profile_of_lines(PROFILE_LINES_MAX + more);
		char *text = write_text(profile, WRITE_OPTIONS_DEFAULT);
		struct profile *read = profile_read_text(text, strlen(text), "text", NULL);
		assert_int_equal(read->files[0].line_count, PROFILE_LINES_MAX);
		assert_near(read->outside_s, more ? 0.006 : 0);
		assert_near(read->omitted_s, more ? 0.006 : 0);
		assert_true((strstr(text, "\"omitted_s\"") != NULL) == (more > 0));
		char *again = write_text(read, WRITE_OPTIONS_DEFAULT);
		assert_string_equal(text, again);
		free(again);
		free(text);
		profile_free(read);
		profile_free(profile);
	}
}

/* A file at whose lines only other threads waited, in percent of the run. */
static void test_idle_threshold(void **state)
{
	struct profile *profile = sample_without_idle();
	struct write_options options = WRITE_OPTIONS_DEFAULT;
	options.cpu_percent_threshold = 98;
	options.malloc_threshold = 1e9;
	for (int is_enough = 0; is_enough < 2; is_enough++) {
		profile->files[0].lines[0].self.idle_s = (is_enough ? 0.99 : 0.97) * profile->elapsed_s;
		json_t *root = write_json(profile, options);
		assert_int_equal(json_object_size(json_object_get(root, "files")), is_enough);
		json_decref(root);
	}
	profile_free(profile);
}

/* A file that took no time, and of the memory's peak so many percent in a block or two. */
static void test_peak_threshold(void **state)
{
	struct profile *profile = sample_without_idle();
	struct write_options options = WRITE_OPTIONS_DEFAULT;
	struct profile_file *file = &profile->files[0];
	options.cpu_percent_threshold = 98;
	options.malloc_threshold = 1e9;
	for (uint32_t i = 0; i < file->line_count; i++)
		file->lines[i].memory.at_peak_bytes = 0;
	for (int is_enough = 0; is_enough < 2; is_enough++) {
		file->lines[0].memory.at_peak_bytes =
			(is_enough ? 0.99 : 0.97) * profile->memory.peak_bytes;
		json_t *root = write_json(profile, options);
		assert_int_equal(json_object_size(json_object_get(root, "files")), is_enough);
		json_decref(root);
	}
	profile_free(profile);
}

static void test_stacks_and_no_stacks(void **state)
{
	struct profile *profile = profile_sample_new();
	json_t *root = write_json(profile, WRITE_OPTIONS_DEFAULT);
	const json_t *stacks = json_object_get(root, "stacks");
	assert_int_equal(json_array_size(stacks), 2);
	const json_t *first = json_array_get(json_array_get(stacks, 0), 0);
	assert_string_equal(json_string_value(json_array_get(first, 0)),
			    "/project/loop.py <module>:10;");
	assert_string_equal(json_string_value(json_array_get(first, 1)),
			    "/project/loop.py inner:7;");
	const json_t *figures = json_array_get(json_array_get(stacks, 0), 1);
	assert_near(number(figures, "python_time"), 0.6);
	assert_near(number(figures, "c_time"), 0.1);
	/* The library's time is on the line that called it. */
	figures = json_array_get(json_array_get(stacks, 1), 1);
	assert_near(number(figures, "c_time"), 0.15);
	assert_int_equal(json_array_size(json_object_get(root, "combined_stacks")), 4);
	json_decref(root);

	struct write_options options = WRITE_OPTIONS_DEFAULT;
	options.has_stacks = false;
	root = write_json(profile, options);
	assert_int_equal(json_array_size(json_object_get(root, "stacks")), 0);
	assert_null(json_object_get(json_object_get(root, "heatline"), "stacks"));
	json_decref(root);
	profile_free(profile);
}

static void test_waiting_by_reason(void **state)
{
	struct profile *profile = profile_sample_new();
	json_t *root = write_json(profile, WRITE_OPTIONS_DEFAULT);
	const json_t *heatline = json_object_get(root, "heatline");
	const json_t *time = json_object_get(heatline, "time");
	assert_near(number(time, "gil_s"), 0.5);
	assert_near(number(time, "gc_s"), 0.05);
	assert_near(number(json_object_get(time, "waits_s"), "lock"), 1.5);
	assert_near(number(json_array_get(json_object_get(heatline, "threads"), 1), "gil_s"), 0.5);
	const json_t *file = json_object_get(json_object_get(root, "files"), profile_sample_path);
	const json_t *lines = json_object_get(file, "lines");
	const json_t *loop = json_array_get(lines, 6), *call = json_array_get(lines, 9);
	assert_near(number(loop, "gil_s"), 0.5);
	assert_near(number(loop, "n_gil_wait_percent"), 50);
	assert_near(number(loop, "n_gc_percent"), 5);
	assert_string_equal(json_string_value(json_object_get(loop, "waits_for")), "lock");
	assert_string_equal(json_string_value(json_object_get(call, "waits_for")), "sleep");
	assert_null(json_object_get(call, "gil_s"));
	json_decref(root);
	profile_free(profile);
}

static void test_timeline(void **state)
{
	struct profile *profile = profile_sample_new();
	json_t *root = write_json(profile, WRITE_OPTIONS_DEFAULT);
	const json_t *heatline = json_object_get(root, "heatline");
	const json_t *timeline = json_object_get(heatline, "timeline");
	assert_near(number(timeline, "bin_s"), 0.25);
	assert_near(number(timeline, "bins"), 4);
	const json_t *threads = json_object_get(timeline, "threads");
	assert_int_equal(json_array_size(threads), 2);
	const json_t *main = json_array_get(threads, 0), *other = json_array_get(threads, 1);
	assert_near(number(other, "thread"), 1);
	assert_int_equal(json_array_size(json_object_get(main, "python")), 4);
	assert_null(json_object_get(main, "gil")); /* all zero */
	assert_null(json_object_get(other, "python"));
	assert_int_equal(json_integer_value(json_array_get(json_object_get(other, "gil"), 1)), 250);
	const json_t *stacks = json_object_get(timeline, "stacks");
	assert_int_equal(json_array_size(stacks), 3);
	assert_near(item(stacks, 1, 1), 1);
	assert_near(item(stacks, 1, 2), 233333);
	const json_t *tree = json_object_get(heatline, "stacks");
	assert_near(item(json_object_get(tree, "threads"), 0, 2), 700000);
	assert_near(item(json_object_get(tree, "nodes"), 2, 13), 28 * SAMPLE_MB); /* at the peak */
	json_decref(root);

	struct write_options options = WRITE_OPTIONS_DEFAULT;
	options.has_stacks = false;
	root = write_json(profile, options);
	timeline = json_object_get(json_object_get(root, "heatline"), "timeline");
	assert_int_equal(json_array_size(json_object_get(timeline, "stacks")), 0);
	assert_int_equal(json_array_size(json_object_get(timeline, "threads")), 2);
	json_decref(root);
	profile_free(profile);
}

static void test_empty_profile_is_valid(void **state)
{
	struct profile *profile = profile_new();
	profile_finish(profile);
	json_t *root = write_json(profile, WRITE_OPTIONS_DEFAULT);
	assert_int_equal(json_object_size(json_object_get(root, "files")), 0);
	json_decref(root);
	profile_free(profile);
}

/* What no measured value may do, but a bug might. */
static void test_percentages_stay_in_range(void **state)
{
	struct profile *profile = profile_sample_new();
	profile->files[0].lines[0].self.python_s = INFINITY;
	profile->files[0].lines[1].self.native_s = NAN;
	profile->files[0].lines[1].self.cpu_s = -5;
	profile->files[0].lines[0].self.alloc_bytes = NAN;
	profile->files[0].lines[0].memory.peak_bytes = INFINITY;
	profile->files[0].lines[1].memory.python_bytes = 1e30;
	json_t *root = write_json(profile, WRITE_OPTIONS_DEFAULT);
	json_decref(root);
	profile_free(profile);
}

static void book_points(struct profile_line *line)
{
	if (line->memory_points)
		return;
	line->memory.peak_bytes = 12345678;
	line->memory_point_count = 101;
	line->memory_points = mem_zalloc(101, sizeof(*line->memory_points));
	for (int i = 0; i < 101; i++)
		line->memory_points[i] = (struct memory_point){i * 0.1234, rand(), 0};
}

/* The fullest timeline: every thread in every bin, and more parts of stacks than
 * are written. */
static void fill_timeline(struct profile *profile)
{
	struct profile_timeline *timeline = &profile->timeline;
	timeline->bin_s = 2.56;
	timeline->bins = TIMELINE_MAX_BINS;
	profile->processes = mem_zalloc(1, sizeof(*profile->processes));
	profile->process_count = 1;
	timeline->thread_count = profile->thread_count = TIMELINE_MAX_THREADS;
	profile->threads = mem_zalloc(TIMELINE_MAX_THREADS, sizeof(*profile->threads));
	timeline->threads = mem_zalloc(TIMELINE_MAX_THREADS, sizeof(*timeline->threads));
	for (uint32_t i = 0; i < TIMELINE_MAX_THREADS; i++) {
		size_t count = (size_t)TIMELINE_KINDS * TIMELINE_MAX_BINS;
		timeline->threads[i].thread = i;
		timeline->threads[i].ms = mem_zalloc(count, sizeof(uint32_t));
		for (size_t j = 0; j < count; j++)
			timeline->threads[i].ms[j] = (uint32_t)(rand() % 2560);
	}
	uint32_t count = 200000;
	timeline->stacks = mem_zalloc(count, sizeof(*timeline->stacks));
	profile->thread_stacks = mem_zalloc(count, sizeof(*profile->thread_stacks));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t node = (uint32_t)rand() % profile->stack_count;
		timeline->stacks[i] = (struct stack_part){node, i % TIMELINE_MAX_BINS,
							  (uint64_t)rand() % 1000000};
		profile->thread_stacks[i] = (struct stack_part){node, i % TIMELINE_MAX_THREADS,
								(uint64_t)rand() % 1000000};
	}
	profile->idle_stacks = mem_alloc(count * sizeof(*profile->idle_stacks));
	memcpy(profile->idle_stacks, profile->thread_stacks, count * sizeof(*profile->idle_stacks));
	profile->idle_stack_count = stack_parts_sum(profile->idle_stacks, count);
	timeline->stack_count = stack_parts_sum(timeline->stacks, count);
	profile->thread_stack_count = stack_parts_sum(profile->thread_stacks, count);
}

/* Books a large program: 60 files of 1000 lines, 100 hot lines in each. */
static struct profile *large_profile(void)
{
	struct profile *profile = profile_new();
	struct book_frame frames[30];
	char name[64];
	for (uint32_t f = 0; f < 60; f++) {
		snprintf(name, sizeof(name), "/project/package/module_%u.py", f);
		uint32_t file = profile_file_index(profile, name, true);
		profile->files[file].source_size = 1000 * 40;
		profile->files[file].source = mem_alloc(1000 * 40 + 1);
		for (int i = 0; i < 1000; i++)
			memcpy(profile->files[file].source + i * 40,
			       "    some_name = call_something(else_12)\n", 41);
	}
	srand(2);
	for (int n = 0; n < 40000; n++) {
		for (uint32_t i = 0; i < 30; i++) {
			uint32_t line = 1 + (uint32_t)(rand() % 100) * 10;
			snprintf(name, sizeof(name), "function_%u", line / 50);
			frames[i] = (struct book_frame){(uint32_t)(rand() % 60),
							profile_intern(profile, name), line / 50,
							line, (int32_t)line, rand() % 9, 20, 0, false};
		}
		struct metrics metrics = {.python_s = 0.0123456789, .native_s = 0.003456789,
					  .cpu_s = 0.015, .samples = 10, .alloc_bytes = 1234567,
					  .kept_bytes = 234567, .copy_bytes = 34567,
					  .wait_s = 0.00123456789, .idle_s = 0.0123456789,
					  .gil_s = 0.0023456789, .gc_s = 0.00345678912,
					  .waits_s[WAIT_TERMINAL] = 0.01f};
		profile_book(profile, frames, 30, &metrics, false);
		for (int i = 0; i < 10; i++)
			profile_book_time(profile, frames[29].file, frames[29].line, n * 0.015);
		book_points(profile_memory_line(profile, frames[29].file, frames[29].line));
	}
	profile->has_memory = true;
	profile->start_time_perf_s = 123456;
	profile_finish(profile);
	fill_timeline(profile);
	return profile;
}

static void test_large_profile_is_bounded(void **state)
{
	struct profile *profile = large_profile();
	struct write_options options = WRITE_OPTIONS_DEFAULT;
	options.cpu_percent_threshold = 0.5;
	size_t size;
	char *text = profile_write_text(profile, &options, &size);
	assert_true(size < 5 << 20);
	assert_true(size > 1 << 20);
	struct err err;
	struct profile *again = profile_read_text(text, size, "large", &err);
	if (!again)
		fail_msg("%s", err.message);
	size_t size_again;
	char *text_again = profile_write_text(again, &options, &size_again);
	assert_int_equal(size, size_again);
	assert_memory_equal(text, text_again, size);
	free(text_again);
	free(text);
	profile_free(again);
	profile_free(profile);
}

static void test_failed_write_keeps_the_old_profile(void **state)
{
	struct profile *profile = profile_sample_new();
	struct err err;
	struct write_options options = WRITE_OPTIONS_DEFAULT;
	assert_int_equal(profile_write(profile, &options, "/dev/full", &err), -(int)ERR_NO_SPACE);
	assert_int_equal(profile_write(profile, &options, "/no/such/folder/p.json", &err),
			 -(int)ERR_NOT_FOUND);
	char path[] = "/tmp/heatline-write-XXXXXX";
	close(mkstemp(path));
	assert_int_equal(profile_write(profile, &options, path, &err), 0);
	struct profile *again = profile_read(path, &err);
	assert_non_null(again);
	profile_free(again);
	profile_free(profile);
	unlink(path);
}

/* The version is the only thing that may differ from the golden file. */
static char *without_version(char *text)
{
	char *version = strstr(text, "\"version\":\"");
	if (version) {
		char *start = version + strlen("\"version\":\"");
		char *end = strchr(start, '"');
		memmove(start, end, strlen(end) + 1);
	}
	return text;
}

static void test_golden_file(void **state)
{
	struct profile *profile = profile_sample_new();
	char *text = write_text(profile, WRITE_OPTIONS_DEFAULT);
	char *golden;
	size_t size;
	if (getenv("HEATLINE_UPDATE_GOLDEN"))
		file_write(HEATLINE_GOLDEN "/heatline.json", text, strlen(text), NULL);
	assert_int_equal(file_read(HEATLINE_GOLDEN "/heatline.json", 1 << 20, &golden, &size, NULL),
			 0);
	assert_string_equal(without_version(text), without_version(golden));
	free(golden);
	free(text);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_top_level_has_scalenes_keys),
		cmocka_unit_test(test_line_figures),
		cmocka_unit_test(test_memory_of_lines),
		cmocka_unit_test(test_memory_of_the_program),
		cmocka_unit_test(test_no_memory_keys_when_not_measured),
		cmocka_unit_test(test_malloc_threshold),
		cmocka_unit_test(test_peak_threshold),
		cmocka_unit_test(test_threads_say_what_is_known),
		cmocka_unit_test(test_reduced_lists_lines_with_figures),
		cmocka_unit_test(test_threshold_moves_files_outside),
		cmocka_unit_test(test_lines_over_the_maximum),
		cmocka_unit_test(test_idle_threshold),
		cmocka_unit_test(test_stacks_and_no_stacks),
		cmocka_unit_test(test_waiting_by_reason),
		cmocka_unit_test(test_timeline),
		cmocka_unit_test(test_empty_profile_is_valid),
		cmocka_unit_test(test_percentages_stay_in_range),
		cmocka_unit_test(test_large_profile_is_bounded),
		cmocka_unit_test(test_failed_write_keeps_the_old_profile),
		cmocka_unit_test(test_golden_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
