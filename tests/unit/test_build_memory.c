/* From the heap's sites to the memory figures of a profile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/intern.h"
#include "base/units.h"
#include "collect/builder.h"
#include "collect/collector.h"
#include "collect/memory.h"
#include "profile/book.h"
#include "profile/model.h"

#define END_S 10.0

struct run {
	struct run_options options;
	struct collector collector;
	struct profile *profile;
	const char *file, *function;
	uint64_t next_id;
};

static void run_init(struct run *run)
{
	memset(run, 0, sizeof(*run));
	run->options.has_memory = run->options.has_leak_detector = true;
	run->collector.options = &run->options;
	run->collector.start_ns = 5000;
	run->collector.end_ns = run->collector.start_ns + (uint64_t)(END_S * 1e9);
	run->collector.strings = intern_new();
	heap_init(&run->collector.heap);
	tree_init(&run->collector.tree);
	run->file = intern_text(run->collector.strings, "/p/a.py");
	run->function = intern_text(run->collector.strings, "f");
	run->profile = profile_new();
}

static void run_fini(struct run *run)
{
	profile_free(run->profile);
	heap_fini(&run->collector.heap);
	tree_fini(&run->collector.tree);
	intern_free(run->collector.strings);
}

static uint64_t give(struct run *run, uint32_t line, double mb, double time_s)
{
	struct heap *heap = &run->collector.heap;
	struct heap_alloc alloc = {
		.id = ++run->next_id,
		.size = 1 << 20,
		.weight = (uint64_t)(mb * MB),
		.is_python = line == 1,
		.is_untracked = line == 9,
		.is_return = true,
		.line_site = heap_line_site(heap, run->file, line),
		.function_site = heap_function_site(heap, run->file, run->function, 1),
		.time_s = time_s,
	};
	heap_alloc(heap, &alloc);
	return alloc.id;
}

static void take(struct run *run, uint64_t id, double time_s)
{
	uint32_t node;
	uint64_t bytes;
	assert_true(heap_free(&run->collector.heap, 0, id, time_s, false, &node, &bytes));
}

static const struct profile_file *build(struct run *run)
{
	build_memory(&run->collector, run->profile);
	profile_finish(run->profile);
	return &run->profile->files[0];
}

static void test_sites_become_lines_and_functions(void **state)
{
	(void)state;
	struct run run;
	run_init(&run);
	give(&run, 1, 6, 0);
	uint64_t temporary = give(&run, 2, 4, 5);
	take(&run, temporary, 7);
	const struct profile_file *file = build(&run);
	assert_true(run.profile->has_memory);
	assert_int_equal(file->line_count, 2);
	assert_int_equal(file->function_count, 1);
	const struct profile_line *kept = profile_find_line(file, 1);
	assert_float_equal(kept->memory.python_bytes, 6 * MB, 1);
	assert_float_equal(kept->memory.alloc_count, 6, 1e-9);
	assert_float_equal(kept->memory.average_bytes, 6 * MB, 1);
	assert_float_equal(kept->memory.at_peak_bytes, 6 * MB, 1);
	const struct profile_line *churn = profile_find_line(file, 2);
	assert_float_equal(churn->memory.peak_bytes, 4 * MB, 1);
	assert_float_equal(churn->memory.average_bytes, 4 * MB * 2 / 5, 1);
	assert_int_equal(churn->memory_point_count, 2);
	assert_float_equal(churn->memory_points[1].live_bytes, 0, 1);
	assert_string_equal(file->functions[0].name, "f");
	assert_float_equal(file->functions[0].memory.peak_bytes, 10 * MB, 1);
	assert_float_equal(run.profile->memory.peak_bytes, 10 * MB, 1);
	assert_float_equal(run.profile->peak_s, 5, 1e-9);
	assert_float_equal(run.profile->peak_python_bytes, 6 * MB, 1);
	assert_int_equal(run.profile->alloc_samples, 2);
	assert_int_equal(run.profile->quality.warning_count, 0);
	run_fini(&run);
}

/* Two peaks within a stretch of a series: the value after them is shown too. */
static void test_last_value_ends_a_series(void **state)
{
	(void)state;
	struct run run;
	run_init(&run);
	take(&run, give(&run, 1, 5, 1), 1.001);
	heap_tick(&run.collector.heap, 1, 7 * MB);
	heap_tick(&run.collector.heap, 1.001, 6 * MB);
	const struct profile_file *file = build(&run);
	assert_int_equal(file->lines[0].memory_point_count, 2);
	assert_float_equal(file->lines[0].memory_points[0].live_bytes, 5 * MB, 1);
	assert_float_equal(file->lines[0].memory_points[1].live_bytes, 0, 1);
	assert_int_equal(run.profile->footprint_count, 2);
	assert_float_equal(run.profile->footprint[1].resident_bytes, 6 * MB, 1);
	assert_float_equal(run.profile->peak_resident_bytes, 7 * MB, 1);
	run_fini(&run);
}

static double leak_of(bool has_detector, int count)
{
	struct run run;
	run_init(&run);
	run.options.has_leak_detector = has_detector;
	for (int i = 0; i < count; i++)
		give(&run, 3, 1, END_S * i / count);
	double likelihood = profile_find_line(build(&run), 3)->memory.leak_likelihood;
	run_fini(&run);
	return likelihood;
}

static void test_only_likely_leaks_are_reported(void **state)
{
	(void)state;
	assert_true(leak_of(true, 100) > 0.95);
	assert_true(leak_of(true, 10) == 0); /* 1 - 1 / 12 is too little to accuse */
	assert_true(leak_of(false, 100) == 0);
}

static void test_gaps_are_told(void **state)
{
	(void)state;
	struct run run;
	run_init(&run);
	for (int i = 0; i < 200; i++)
		give(&run, i % 2 ? 1 : 9, 1, i * 0.01);
	build(&run);
	assert_int_equal(run.profile->quality.warning_count, 1);
	assert_non_null(strstr(run.profile->quality.warnings[0], "50.0 % of the sampled"));
	assert_non_null(strstr(run.profile->quality.warnings[0], "larger than shown"));
	run_fini(&run);
}

/* Of 100 MB that were noted, and 25 for which there was no room. */
static void test_bytes_without_a_sample_are_told(void **state)
{
	(void)state;
	struct run run;
	struct process process = {.owed_bytes = (uint64_t)(25 * MB)};
	run_init(&run);
	vec_push(&run.collector.processes, &process);
	give(&run, 1, 100, 1);
	build(&run);
	assert_int_equal(run.profile->quality.warning_count, 1);
	assert_non_null(strstr(run.profile->quality.warnings[0], "20.0 % of what was allocated"));
	vec_free(&run.collector.processes);
	run_fini(&run);
}

/* What came and went between two looks is told at the end; what makes no sense is not believed. */
static void test_resident_memory_between_looks(void **state)
{
	(void)state;
	struct run run;
	struct process process = {.resident_bytes = 20 * MB, .peak_resident_bytes = 30 * MB};
	struct record_exit record = {.peak_resident_bytes = (uint64_t)(200 * MB)};
	run_init(&run);
	heap_tick(&run.collector.heap, 1, 50 * MB);
	memory_on_exit(&run.collector, &process, &record);
	assert_float_equal(process.peak_resident_bytes, 200 * MB, 1);
	record.peak_resident_bytes = 0; /* not known */
	memory_on_exit(&run.collector, &process, &record);
	record.peak_resident_bytes = UINT64_MAX;
	memory_on_exit(&run.collector, &process, &record);
	assert_float_equal(process.peak_resident_bytes, 200 * MB, 1);
	heap_tick(&run.collector.heap, 2, 60 * MB);
	build(&run);
	assert_float_equal(run.profile->peak_resident_bytes, 200 * MB, 1);
	run_fini(&run);
}

/* Told of a mapping of line 1, in MB. */
static double live_after(struct run *run, struct process *process, double mb, uint32_t flags)
{
	struct record_mapping record = {.was_at = 4096, .address = 4096, .size = 100 << 20,
					.resident = (uint64_t)(mb * MB), .flags = flags};
	assert_true(memory_on_mapping(&run->collector, process, &record));
	return run->collector.heap.live_bytes / MB;
}

/* What is given back by the interpreter's end was kept. */
static void test_pages_that_the_end_gives_back(void **state)
{
	(void)state;
	struct run run;
	struct process process = {.index = 0};
	run_init(&run);
	mappings_begin(&process.mappings, (struct mapping){.id = give(&run, 1, 0, 0),
							   .address = 4096, .size = 100 << 20});
	assert_float_equal(live_after(&run, &process, 40, 0), 40, 0.01);
	assert_float_equal(live_after(&run, &process, 30, 0), 30, 0.01);
	assert_float_equal(live_after(&run, &process, 35, MAPPING_AT_END), 35, 0.01);
	assert_float_equal(live_after(&run, &process, 0, 0), 35, 0.01);
	mappings_fini(&process.mappings);
	run_fini(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sites_become_lines_and_functions),
		cmocka_unit_test(test_last_value_ends_a_series),
		cmocka_unit_test(test_only_likely_leaks_are_reported),
		cmocka_unit_test(test_gaps_are_told),
		cmocka_unit_test(test_bytes_without_a_sample_are_told),
		cmocka_unit_test(test_resident_memory_between_looks),
		cmocka_unit_test(test_pages_that_the_end_gives_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
