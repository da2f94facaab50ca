/* Live bytes, peaks and averages by line; bounded time series. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/units.h"
#include "collect/heap.h"
#include "heap_sample.h"

static uint64_t give_to_node(struct heap *heap, uint32_t node, double mb, double time_s)
{
	static uint64_t next_id = 1u << 20;
	struct heap_alloc alloc = {.id = next_id++, .size = 1024, .weight = (uint64_t)(mb * MB),
				   .node = node, .time_s = time_s};
	heap_alloc(heap, &alloc);
	return alloc.id;
}

/* What it grows by was allocated; shrinking is no end. */
static void test_resize(void **state)
{
	(void)state;
	struct heap heap;
	uint32_t node;
	double growth;
	heap_init(&heap);
	uint64_t id = give(&heap, 1, 0, 0);
	assert_true(heap_resize(&heap, 0, id, (uint64_t)(30 * MB), false, 1, &node, &growth));
	assert_float_equal(growth, 30 * MB, 1);
	assert_true(heap_resize(&heap, 0, id, (uint64_t)(10 * MB), false, 2, &node, &growth));
	assert_float_equal(growth, -20 * MB, 1);
	assert_true(heap_resize(&heap, 0, id, (uint64_t)(15 * MB), true, 3, &node, &growth));
	assert_false(heap_resize(&heap, 0, id + 1000, 1, false, 3, &node, &growth));
	const struct site *site = line_site(&heap, 1);
	assert_float_equal(site->alloc_bytes, 30 * MB, 1);
	assert_float_equal(peak_bytes(&site->peak), 30 * MB, 1);
	assert_float_equal(site->live_bytes, 15 * MB, 1);
	assert_float_equal(heap_peak(&heap), 30 * MB, 1);
	assert_int_equal(site->freed, 0);
	assert_true(take(&heap, id, 4));
	assert_float_equal(heap.live_bytes, 0, 1);
	heap_fini(&heap);
}

/* realloc: allocated is the new size, live what it has grown by and what was there. */
static void test_resized_blocks_go_on(void **state)
{
	(void)state;
	struct heap heap;
	uint32_t node;
	uint64_t bytes;
	heap_init(&heap);
	uint64_t id = give(&heap, 1, 10, 0);
	for (uint64_t mb = 11; mb <= 100; mb++, id++) {
		assert_true(heap_free(&heap, 0, id, (double)mb, true, &node, &bytes));
		struct heap_alloc alloc = {
			.id = id + 1,
			.size = (uint64_t)(mb * MB),
			.weight = (uint64_t)(mb * MB),
			.replaced = (uint64_t)((mb - 1) * MB),
			.carried = bytes,
			.line_site = heap_line_site(&heap, file, 2),
			.time_s = (double)mb,
		};
		assert_true(heap_alloc(&heap, &alloc));
	}
	const struct site *line = line_site(&heap, 2);
	assert_float_equal(line->alloc_bytes, (11 + 100) * 45 * MB, 1);
	assert_float_equal(line->live_bytes, 100 * MB, 1);
	assert_float_equal(peak_bytes(&line->peak), 100 * MB, 1);
	assert_float_equal(line_site(&heap, 1)->live_bytes, 0, 1);
	assert_float_equal(heap_peak(&heap), 100 * MB, 1);
	/* A quarter of it is left. */
	assert_true(heap_shrink(&heap, 0, id, 0.25, 101, &node, &bytes));
	assert_int_equal(bytes, (uint64_t)(75 * MB));
	assert_float_equal(line_site(&heap, 2)->live_bytes, 25 * MB, 1);
	assert_false(heap_shrink(&heap, 0, id + 1, 0.25, 101, &node, &bytes));
	assert_true(take(&heap, id, 102));
	assert_float_equal(heap.live_bytes, 0, 1);
	heap_fini(&heap);
}

/* Both are estimates: a line does not hold more than it has allocated. */
static void test_carried_is_no_more_than_was_allocated(void **state)
{
	(void)state;
	struct heap heap;
	heap_init(&heap);
	struct heap_alloc alloc = {
		.id = 1,
		.size = 1024,
		.weight = (uint64_t)(10 * MB),
		.replaced = (uint64_t)(8 * MB),
		.carried = (uint64_t)(50 * MB),
		.line_site = heap_line_site(&heap, file, 2),
	};
	assert_true(heap_alloc(&heap, &alloc));
	assert_int_equal(alloc.carried, (uint64_t)(8 * MB));
	assert_float_equal(line_site(&heap, 2)->live_bytes, 10 * MB, 1);
	heap_fini(&heap);
}

/* Samples of temporaries that are alive as the program ends were kept, all at the same time. */
static void test_what_is_alone_at_the_end_is_kept(void **state)
{
	(void)state;
	struct heap heap;
	heap_init(&heap);
	for (uint32_t line = 1; line <= 2; line++) {
		for (int i = 0; i < 100; i++)
			take(&heap, give(&heap, line, 1, 1), 1.001);
		give(&heap, line, 20, 2);
	}
	assert_true(heap.live_bytes < MB); /* they count for their own size only */
	heap_process_end(&heap, 0, 3);
	assert_float_equal(line_site(&heap, 1)->ended_bytes, 20 * MB, 1);
	assert_float_equal(line_site(&heap, 2)->ended_bytes, 20 * MB, 1);
	assert_float_equal(heap_peak(&heap), 40 * MB, 1);
	heap_fini(&heap);
}

static void test_live_peak_and_average(void **state)
{
	(void)state;
	struct heap heap;
	heap_init(&heap);
	uint64_t first = give(&heap, 1, 10, 0);
	uint64_t second = give(&heap, 2, 30, 1);
	assert_true(take(&heap, first, 2));
	assert_false(take(&heap, first, 2)); /* twice is once */
	assert_float_equal(heap.live_bytes, 30 * MB, 1);
	assert_float_equal(heap_peak(&heap), 40 * MB, 1);
	assert_float_equal(heap.most_python_bytes, 10 * MB, 1);
	assert_float_equal(heap.peak_s, 1, 1e-9);
	assert_float_equal(peak_bytes(&line_site(&heap, 1)->peak), 10 * MB, 1);
	assert_float_equal(line_site(&heap, 1)->live_bytes, 0, 1);
	assert_float_equal(heap_average(line_site(&heap, 1), 4), 5 * MB, 1); /* 2 of 4 seconds */
	/* What the peak was made of, though the first part is gone. */
	assert_float_equal(line_site(&heap, 1)->at_peak_bytes, 10 * MB, 1);
	assert_float_equal(line_site(&heap, 2)->at_peak_bytes, 30 * MB, 1);
	assert_true(take(&heap, second, 3));
	assert_float_equal(heap.live_bytes, 0, 1);
	heap_fini(&heap);
}

static void test_function_sums_its_lines(void **state)
{
	(void)state;
	struct heap heap;
	heap_init(&heap);
	give(&heap, 1, 10, 0);
	take(&heap, give(&heap, 2, 30, 1), 2);
	const struct site *function = &heap.sites.items[heap_function_site(&heap, file, function_name, 1)];
	assert_float_equal(function->alloc_bytes, 40 * MB, 1);
	assert_float_equal(function->python_bytes, 10 * MB, 1);
	assert_float_equal(peak_bytes(&function->peak), 40 * MB, 1);
	assert_float_equal(function->live_bytes, 10 * MB, 1);
	heap_fini(&heap);
}

static void test_many_come_and_go(void **state)
{
	(void)state;
	struct heap heap;
	heap_init(&heap);
	uint64_t ids[5000];
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 5000; i++)
			ids[i] = give(&heap, (uint32_t)(i % 50 + 1), 0.001, round);
		for (int i = 0; i < 5000; i++)
			assert_true(take(&heap, ids[(i * 7919) % 5000], round + 0.5));
	}
	assert_int_equal(heap.live.count, 0);
	assert_float_equal(heap.live_bytes, 0, 1);
	heap_fini(&heap);
}

static void test_end_of_a_process_frees_its_memory(void **state)
{
	(void)state;
	struct heap heap;
	heap_init(&heap);
	for (int i = 0; i < 3000; i++)
		give(&heap, 3, 0.01, 0);
	heap_process_end(&heap, 0, 1);
	assert_int_equal(heap.live.count, 0);
	assert_float_equal(heap.live_bytes, 0, 1);
	assert_float_equal(line_site(&heap, 3)->ended_bytes, 3000 * 0.01 * MB, 3000);
	heap_fini(&heap);
}

/* While nothing has ended since the peak, its parts are asked for. */
/* A child that ends says nothing of when the program does. */
static void test_program_ends_with_its_last_process(void **state)
{
	(void)state;
	struct heap heap;
	heap_init(&heap);
	assert_float_equal(heap_program_end(&heap, 1, 9), 9, 1e-9);
	heap_end(&heap, 1, 1, 2);
	heap_end(&heap, 1, 2, 2.5);
	assert_float_equal(heap_program_end(&heap, 2, 9), 9, 1e-9);
	heap_process_end(&heap, 1, 3);
	heap_end(&heap, 0, 1, 8);
	heap_process_end(&heap, 0, 9);
	assert_float_equal(heap_program_end(&heap, 2, 9), 8, 1e-9);
	heap_process_end(&heap, 2, 8.5);
	assert_float_equal(heap_program_end(&heap, 3, 9), 8.5, 1e-9);
	heap_fini(&heap);
}

static void test_parts_of_a_peak_that_still_stands(void **state)
{
	(void)state;
	struct heap heap;
	heap_init(&heap);
	give(&heap, 1, 10, 0);
	give(&heap, 2, 5, 1);
	assert_float_equal(line_site(&heap, 1)->at_peak_bytes, 0, 1);
	heap_compose(&heap);
	assert_float_equal(line_site(&heap, 1)->at_peak_bytes, 10 * MB, 1);
	assert_float_equal(line_site(&heap, 2)->at_peak_bytes, 5 * MB, 1);
	assert_float_equal(heap_average_all(&heap, 2), 12.5 * MB, 1);
	heap_fini(&heap);
}

static void test_start_up_is_live_but_not_counted(void **state)
{
	(void)state;
	struct heap heap;
	heap_init(&heap);
	struct heap_alloc alloc = {.id = 1, .size = 64, .weight = 1000, .is_startup = true};
	assert_true(heap_alloc(&heap, &alloc));
	assert_false(heap_alloc(&heap, &alloc)); /* an id that is there already */
	alloc.id = 2;
	alloc.is_untracked = true;
	assert_false(heap_alloc(&heap, &alloc));
	assert_float_equal(heap.alloc_bytes, 0, 1e-9);
	assert_float_equal(heap.live_bytes, 1000, 1e-9);
	assert_int_equal(heap.samples, 3);
	assert_int_equal(heap.untracked, 2);
	heap_fini(&heap);
}

static void test_functions_of_one_name_share_a_site(void **state)
{
	(void)state;
	static const char other_file[] = "other.py";
	static const char other_name[] = "g";
	struct heap heap;
	heap_init(&heap);
	uint32_t site = heap_function_site(&heap, file, function_name, 1);
	assert_int_equal(heap_function_site(&heap, file, function_name, 1), site);
	assert_int_not_equal(heap_function_site(&heap, file, function_name, 2), site);
	assert_int_not_equal(heap_function_site(&heap, file, other_name, 1), site);
	assert_int_not_equal(heap_function_site(&heap, other_file, function_name, 1), site);
	assert_int_not_equal(heap_line_site(&heap, file, 1), site);
	/* Names that lie beside each other in memory, and lines to match. */
	static const char names[64];
	uint32_t before = heap.sites.count;
	for (uint32_t i = 0; i < 64; i++) {
		for (uint32_t line = 1; line <= 64; line++)
			heap_function_site(&heap, other_file, &names[i], line);
	}
	assert_int_equal(heap.sites.count, before + 64 * 64);
	heap_fini(&heap);
}

static void test_footprint_shows_a_peak_between_two_looks(void **state)
{
	(void)state;
	struct heap heap;
	heap_init(&heap);
	heap_tick(&heap, 1, 50 * MB);
	take(&heap, give(&heap, 1, 70, 1.5), 1.6);
	heap_tick(&heap, 2, 60 * MB);
	assert_int_equal(heap.footprint.count, 3);
	assert_float_equal(heap.footprint.points[1].time_s, 1.5, 1e-6);
	assert_float_equal(heap.footprint.points[1].value, 70, 1e-6);
	assert_float_equal(heap.peak_rss_bytes, 60 * MB, 1);
	heap_fini(&heap);
}

static void test_footprint_shows_a_peak_that_is_told_late(void **state)
{
	(void)state;
	struct heap heap;
	heap_init(&heap);
	heap_tick(&heap, 1, 50 * MB);
	take(&heap, give(&heap, 1, 70, 0.9), 0.95);
	heap_tick(&heap, 2, 60 * MB);
	assert_int_equal(heap.footprint.count, 2);
	assert_float_equal(heap.footprint.points[0].time_s, 1, 1e-6);
	assert_float_equal(heap.footprint.points[0].value, 70, 1e-6);
	heap_fini(&heap);
}

/* A number at a time, each of which stands for a megabyte when it is sampled. */
static void test_temporaries_make_no_peak(void **state)
{
	(void)state;
	struct heap heap;
	uint64_t bytes, id = 0;
	uint32_t node;
	heap_init(&heap);
	give(&heap, 2, 1, 0);
	for (int i = 0; i < 1000; i++) {
		id = give(&heap, 1, i < 100 ? 0.01 : 1, i * 0.01);
		assert_true(heap_free(&heap, 0, id, i * 0.01, false, &node, &bytes));
		assert_int_equal(bytes, (uint64_t)((i < 100 ? 0.01 : 1) * MB));
	}
	assert_true(peak_bytes(&line_site(&heap, 1)->peak) < 0.02 * MB);
	assert_float_equal(heap_peak(&heap), 1.01 * MB, 1024);
	assert_float_equal(line_site(&heap, 1)->alloc_bytes, 901 * MB, MB);
	/* Several that live at the same time are what they stand for, but the last. */
	for (int i = 0; i < 10; i++)
		id = give(&heap, 1, 1, 11);
	assert_float_equal(peak_bytes(&line_site(&heap, 1)->peak), 9 * MB + 1024, 1);
	take(&heap, id, 11);
	assert_float_equal(line_site(&heap, 1)->live_bytes, 9 * MB, 1);
	give(&heap, 1, 1, 11);
	heap_process_end(&heap, 0, 12);
	assert_float_equal(line_site(&heap, 1)->ended_bytes, 10 * MB, 1);
	assert_float_equal(heap.live_bytes, 0, 1);
	heap_fini(&heap);
}

static void test_series_is_bounded_and_keeps_the_peak(void **state)
{
	(void)state;
	struct series series;
	series_init(&series, 50, 0.001f);
	for (int i = 0; i < 100000; i++)
		series_add(&series, (float)i * 0.01f, i == 61234 ? 99.0f : 1.0f, 0);
	assert_true(series.count <= 50 && series.count > 20);
	float largest = 0;
	for (uint32_t i = 0; i < series.count; i++) {
		largest = series.points[i].value > largest ? series.points[i].value : largest;
		assert_true(i == 0 || series.points[i].time_s >= series.points[i - 1].time_s);
	}
	assert_true(largest == 99.0f);
	series_fini(&series);
}

static void test_series_keeps_the_least_and_the_last(void **state)
{
	(void)state;
	struct series series;
	series_init(&series, 2, 1);
	for (int i = 0; i < 8; i++) { /* 3 1 2, 3 1 2, 3 1: joined once */
		const float values[] = {3, 1, 2};
		series_add(&series, (float)i * 0.4f, values[i % 3], 0);
	}
	assert_int_equal(series.count, 2);
	assert_true(series.points[0].value == 3 && series.points[0].least == 1);
	assert_true(series.points[0].last == 2);
	assert_true(series.points[1].last == 1);
	series_fini(&series);
}

/* A node keeps what it held at the highest peak, whether it changed after or not. */
/* Processes are heard one after the other: what the second one tells was earlier. */
static void test_series_is_in_order(void **state)
{
	(void)state;
	static const float times[] = {0.00f, 0.03f, 0.06f, 0.01f, 0.04f, 0.09f, 0.07f};
	struct series series;
	series_init(&series, 50, 0.02f);
	for (uint32_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		series_add(&series, times[i], (float)i, 0);
	for (uint32_t i = 1; i < series.count; i++)
		assert_true(series.points[i].time_s >= series.points[i - 1].time_s);
	assert_true(series.points[series.count - 1].value == 6);
	assert_true(series.latest.time_s == 0.09f && series.latest.value == 6);
	series_fini(&series);
}

static void test_stacks_at_the_peak(void **state)
{
	(void)state;
	struct heap heap;
	heap_init(&heap);
	uint64_t first = give_to_node(&heap, 3, 10, 0);
	give_to_node(&heap, 7, 20, 1);
	assert_true(take(&heap, first, 2)); /* the peak so far: 10 and 20 */
	assert_float_equal(heap_node_at_peak(&heap, 3), 10 * MB, 1);
	assert_float_equal(heap_node_at_peak(&heap, 7), 20 * MB, 1);
	uint64_t second = give_to_node(&heap, 9, 25, 3);
	assert_true(take(&heap, second, 4)); /* a higher one: 0, 20 and 25 */
	give_to_node(&heap, 3, 1, 5);
	heap_compose(&heap);
	assert_float_equal(heap_node_at_peak(&heap, 3), 0, 1);
	assert_float_equal(heap_node_at_peak(&heap, 7), 20 * MB, 1);
	assert_float_equal(heap_node_at_peak(&heap, 9), 25 * MB, 1);
	assert_float_equal(heap_node_at_peak(&heap, 100), 0, 1);
	heap_fini(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resize),
		cmocka_unit_test(test_resized_blocks_go_on),
		cmocka_unit_test(test_carried_is_no_more_than_was_allocated),
		cmocka_unit_test(test_what_is_alone_at_the_end_is_kept),
		cmocka_unit_test(test_live_peak_and_average),
		cmocka_unit_test(test_stacks_at_the_peak),
		cmocka_unit_test(test_function_sums_its_lines),
		cmocka_unit_test(test_many_come_and_go),
		cmocka_unit_test(test_end_of_a_process_frees_its_memory),
		cmocka_unit_test(test_program_ends_with_its_last_process),
		cmocka_unit_test(test_parts_of_a_peak_that_still_stands),
		cmocka_unit_test(test_start_up_is_live_but_not_counted),
		cmocka_unit_test(test_functions_of_one_name_share_a_site),
		cmocka_unit_test(test_footprint_shows_a_peak_between_two_looks),
		cmocka_unit_test(test_footprint_shows_a_peak_that_is_told_late),
		cmocka_unit_test(test_temporaries_make_no_peak),
		cmocka_unit_test(test_series_is_bounded_and_keeps_the_peak),
		cmocka_unit_test(test_series_keeps_the_least_and_the_last),
		cmocka_unit_test(test_series_is_in_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
