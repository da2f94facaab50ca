/* Live bytes, peaks, averages and leaks by line; bounded time series. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/units.h"
#include "collect/heap.h"

static const char file[] = "prog.py";
static const char function_name[] = "f";

static uint64_t give(struct heap *heap, uint32_t line, double mb, double time_s)
{
	static uint64_t next_id = 1;
	struct heap_alloc alloc = {
		.id = next_id++,
		.size = 1024,
		.weight = (uint64_t)(mb * MB),
		.is_python = line % 2 == 1,
		.line_site = heap_line_site(heap, file, line),
		.function_site = heap_function_site(heap, file, function_name, 1),
		.time_s = time_s,
		.is_return = true,
	};
	heap_alloc(heap, &alloc);
	return alloc.id;
}

static uint64_t give_to_node(struct heap *heap, uint32_t node, double mb, double time_s)
{
	static uint64_t next_id = 1u << 20;
	struct heap_alloc alloc = {.id = next_id++, .size = 1024, .weight = (uint64_t)(mb * MB),
				   .node = node, .time_s = time_s};
	heap_alloc(heap, &alloc);
	return alloc.id;
}

static bool take(struct heap *heap, uint64_t id, double time_s)
{
	uint32_t node;
	uint64_t bytes;
	return heap_free(heap, 0, id, time_s, false, &node, &bytes);
}

static const struct site *line_site(struct heap *heap, uint32_t line)
{
	return &heap->sites.items[heap_line_site(heap, file, line)];
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
	assert_int_equal(heap.live_count, 0);
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
	assert_int_equal(heap.live_count, 0);
	assert_float_equal(heap.live_bytes, 0, 1);
	assert_float_equal(line_site(&heap, 3)->ended_bytes, 3000 * 0.01 * MB, 3000);
	heap_fini(&heap);
}

static void test_leak_is_what_keeps_growing(void **state)
{
	(void)state;
	struct heap heap;
	double rate;
	heap_init(&heap);
	uint64_t window[10] = {0};
	uint64_t batch[120], later[50] = {0};
	for (int i = 0; i < 1000; i++) {
		double now = i * 0.01;
		give(&heap, 1, 0.05, now);     /* leaks */
		if (i < 100)
			give(&heap, 2, 1, now);    /* built at the start and kept */
		if (window[i % 10] != 0)
			take(&heap, window[i % 10], now);
		window[i % 10] = give(&heap, 3, 1, now); /* a cache of ten */
		give(&heap, 4, 0.05, now); /* leaks, beside many that live for a moment */
		for (int brief = 0; brief < 5; brief++)
			take(&heap, give(&heap, 4, 0.05, now), now + 0.001);
		batch[i % 120] = give(&heap, 5, 0.1, now); /* filled and emptied; ends two thirds full */
		for (int j = 0; i % 120 == 119 && j < 120; j++)
			take(&heap, batch[j], now);
		if (i % 10 != 0) { /* keeps one of ten; the others live for a while */
			take(&heap, later[i % 50], now);
			later[i % 50] = give(&heap, 6, 0.2, now);
		} else {
			give(&heap, 6, 0.2, now);
		}
	}
	assert_true(heap_leak_likelihood(line_site(&heap, 1), 10, &rate) > 0.95);
	assert_float_equal(rate, 5 * MB, 0.1 * MB);
	assert_float_equal(heap_leak_likelihood(line_site(&heap, 2), 10, &rate), 0, 1e-9);
	assert_float_equal(heap_leak_likelihood(line_site(&heap, 3), 10, &rate), 0, 1e-9);
	assert_true(heap_leak_likelihood(line_site(&heap, 4), 10, &rate) > 0.95);
	assert_float_equal(rate, 5 * MB, 0.1 * MB);
	assert_float_equal(heap_leak_likelihood(line_site(&heap, 5), 10, &rate), 0, 1e-9);
	assert_true(heap_leak_likelihood(line_site(&heap, 6), 10, &rate) < 0.5);
	heap_fini(&heap);
}

/* A list that grows is one block after another, none of which was given up. */
static void test_block_that_moves_is_not_given_up(void **state)
{
	(void)state;
	struct heap heap;
	double rate;
	heap_init(&heap);
	uint64_t list = give(&heap, 1, 0.05, 0), node_bytes;
	uint32_t node;
	for (int i = 1; i <= 100; i++) {
		assert_true(heap_free(&heap, 0, list, i * 0.1, true, &node, &node_bytes));
		list = give(&heap, 1, 0.05 * (i + 1), i * 0.1);
	}
	assert_true(heap_leak_likelihood(line_site(&heap, 1), 10, &rate) > 0.3);
	for (int i = 0; i < 100; i++)
		give(&heap, 1, 0.05, i * 0.1);
	assert_true(heap_leak_likelihood(line_site(&heap, 1), 10, &rate) > 0.95);
	heap_fini(&heap);
}

/* While nothing has ended since the peak, its parts are asked for. */
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

static void test_one_statement_is_no_leak(void **state)
{
	(void)state;
	struct heap heap;
	double rate;
	heap_init(&heap);
	for (uint64_t i = 0; i < 1000; i++) {
		struct heap_alloc alloc = {
			.id = i + 1,
			.size = 1024,
			.weight = 65536,
			.line_site = heap_line_site(&heap, file, 5),
			.time_s = (double)i * 0.01,
			.is_return = i == 0,
		};
		heap_alloc(&heap, &alloc);
	}
	assert_float_equal(heap_leak_likelihood(line_site(&heap, 5), 10, &rate), 0, 1e-9);
	heap_fini(&heap);
}

/* Each of many processes comes to the line once. */
static void test_import_in_many_processes_is_no_leak(void **state)
{
	(void)state;
	struct heap heap;
	double rate;
	heap_init(&heap);
	for (uint32_t process = 0; process < 40; process++) {
		for (uint64_t i = 0; i < 20; i++) {
			struct heap_alloc alloc = {
				.process = process,
				.id = i + 1,
				.size = 1024,
				.weight = 65536,
				.line_site = heap_line_site(&heap, file, 5),
				.time_s = process * 0.25,
				.is_return = i == 0,
			};
			heap_alloc(&heap, &alloc);
		}
	}
	assert_float_equal(heap_leak_likelihood(line_site(&heap, 5), 10, &rate), 0, 1e-9);
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

/* A node keeps what it held at the highest peak, whether it changed after or not. */
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
		cmocka_unit_test(test_live_peak_and_average),
		cmocka_unit_test(test_stacks_at_the_peak),
		cmocka_unit_test(test_function_sums_its_lines),
		cmocka_unit_test(test_many_come_and_go),
		cmocka_unit_test(test_end_of_a_process_frees_its_memory),
		cmocka_unit_test(test_leak_is_what_keeps_growing),
		cmocka_unit_test(test_block_that_moves_is_not_given_up),
		cmocka_unit_test(test_parts_of_a_peak_that_still_stands),
		cmocka_unit_test(test_start_up_is_live_but_not_counted),
		cmocka_unit_test(test_functions_of_one_name_share_a_site),
		cmocka_unit_test(test_footprint_shows_a_peak_between_two_looks),
		cmocka_unit_test(test_footprint_shows_a_peak_that_is_told_late),
		cmocka_unit_test(test_one_statement_is_no_leak),
		cmocka_unit_test(test_import_in_many_processes_is_no_leak),
		cmocka_unit_test(test_temporaries_make_no_peak),
		cmocka_unit_test(test_series_is_bounded_and_keeps_the_peak),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
