/* Lines that leak are named, and no others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/leak.h"
#include "heap_sample.h"

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
	assert_true(leak_likelihood(&heap, line_site(&heap, 1), 10, &rate) > 0.95);
	assert_float_equal(rate, 5 * MB, 0.1 * MB);
	assert_float_equal(leak_likelihood(&heap, line_site(&heap, 2), 10, &rate), 0, 1e-9);
	assert_float_equal(leak_likelihood(&heap, line_site(&heap, 3), 10, &rate), 0, 1e-9);
	assert_true(leak_likelihood(&heap, line_site(&heap, 4), 10, &rate) > 0.95);
	assert_float_equal(rate, 5 * MB, 0.1 * MB);
	assert_float_equal(leak_likelihood(&heap, line_site(&heap, 5), 10, &rate), 0, 1e-9);
	assert_true(leak_likelihood(&heap, line_site(&heap, 6), 10, &rate) < 0.5);
	heap_fini(&heap);
}

/* By the clock all that is allocated lasts; of every second one that was no life of it. */
static double judge_on_busy_machine(double ready_s)
{
	struct heap heap;
	double rate;
	heap_init(&heap);
	for (int i = 0; i < 100; i++) {
		double now = i * 0.2;
		give(&heap, 1, 0.05, now);
		uint64_t brief = give(&heap, 1, 0.05, now);
		assert_null(heap_lasting(&heap, 0, brief, now + 0.05));
		struct live *entry = heap_lasting(&heap, 0, brief, now + 0.15);
		assert_non_null(entry);
		entry->born_s += (float)ready_s;
		take(&heap, brief, now + 0.15);
	}
	double likelihood = leak_likelihood(&heap, line_site(&heap, 1), 20, &rate);
	heap_fini(&heap);
	return likelihood;
}

static void test_what_got_no_cpu_has_not_lasted(void **state)
{
	(void)state;
	assert_true(judge_on_busy_machine(0) < 0.6);
	assert_true(judge_on_busy_machine(0.1) > 0.95);
}

/* Grows evenly until then, and is judged at the end. */
static double judge_built(uint32_t samples, double built_s, double end_s)
{
	struct heap heap;
	double rate;
	heap_init(&heap);
	for (uint32_t i = 0; i < samples; i++)
		give(&heap, 1, 0.25, built_s * i / samples);
	double likelihood = leak_likelihood(&heap, line_site(&heap, 1), end_s, &rate);
	heap_fini(&heap);
	return likelihood;
}

/* Where a point of the series is a large part of it all, growth that is over looks as if it
 * went on. */
static void test_table_of_a_short_program_is_no_leak(void **state)
{
	(void)state;
	for (double built_s = 0.05; built_s < 1; built_s *= 1.02) {
		assert_float_equal(judge_built(100, built_s, built_s * 1.3), 0, 1e-9);
		assert_float_equal(judge_built(100, built_s, built_s * 1.5), 0, 1e-9);
		assert_float_equal(judge_built(400, built_s * 10, built_s * 13), 0, 1e-9);
	}
	assert_true(judge_built(100, 1, 1) > 0.95);
	assert_true(judge_built(100, 10, 10) > 0.95);
}

/* Eight steps of ten samples, the last at three quarters of a second. */
static void grow_by_steps(struct heap *heap, uint64_t ids[80])
{
	for (int i = 0; i < 80; i++)
		ids[i] = give(heap, 1, 0.25, 0.11 * (i / 10) + 0.0015 * (i % 10));
}

static void test_growth_by_steps_that_is_over(void **state)
{
	(void)state;
	struct heap heap;
	double rate;
	uint64_t ids[80];
	heap_init(&heap);
	grow_by_steps(&heap, ids);
	assert_true(leak_likelihood(&heap, line_site(&heap, 1), 0.8, &rate) > 0.95);
	assert_float_equal(leak_likelihood(&heap, line_site(&heap, 1), 1, &rate), 0, 1e-9);
	heap_fini(&heap);
}

/* Of few samples the last may be a while ago. */
static void test_few_samples(void **state)
{
	(void)state;
	assert_true(judge_built(20, 10, 10.9) > 0.95);
	assert_float_equal(judge_built(20, 10, 13), 0, 1e-9);
}

/* All is given back as the program ends, within the time of the last point. */
static void test_table_beside_temporaries_is_no_leak(void **state)
{
	(void)state;
	struct heap heap;
	double rate;
	uint64_t ids[80];
	heap_init(&heap);
	grow_by_steps(&heap, ids);
	for (int i = 80; i < 100; i++)
		take(&heap, give(&heap, 1, 0.01, i * 0.01), i * 0.01 + 0.001);
	for (int i = 0; i < 80; i++)
		heap_end(&heap, 0, ids[i], 1);
	assert_float_equal(leak_likelihood(&heap, line_site(&heap, 1), 1, &rate), 0, 1e-9);
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
	assert_true(leak_likelihood(&heap, line_site(&heap, 1), 10, &rate) > 0.3);
	for (int i = 0; i < 100; i++)
		give(&heap, 1, 0.05, i * 0.1);
	assert_true(leak_likelihood(&heap, line_site(&heap, 1), 10, &rate) > 0.95);
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
	assert_float_equal(leak_likelihood(&heap, line_site(&heap, 5), 10, &rate), 0, 1e-9);
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
	assert_float_equal(leak_likelihood(&heap, line_site(&heap, 5), 10, &rate), 0, 1e-9);
	heap_fini(&heap);
}

/* Requests every 20 ms in these seconds: line 1 leaks, line 2 makes temporaries; is_asked: the
 * thread waits for them. */
static void serve(struct heap *heap, double from_s, double until_s, bool is_asked)
{
	static uint32_t asked;
	for (double now = from_s; now < until_s; now += 0.02) {
		asked += is_asked;
		give_asked(heap, 1, 0.1, now, asked);
		take(heap, give_asked(heap, 2, 0.5, now, asked), now + 0.005);
	}
}

static void test_leak_of_a_server_that_nobody_asks_any_more(void **state)
{
	(void)state;
	for (int is_asked = 0; is_asked <= 1; is_asked++) {
		struct heap heap;
		double rate;
		heap_init(&heap);
		serve(&heap, 1, 6, is_asked != 0);
		give(&heap, 3, 0.05, 11.9); /* as it is told to end */
		double likelihood = leak_likelihood(&heap, line_site(&heap, 1), 12, &rate);
		if (is_asked) {
			assert_true(likelihood > 0.95);
			assert_true(rate > 2 * MB);
		} else {
			assert_float_equal(likelihood, 0, 1e-9);
		}
		assert_float_equal(leak_likelihood(&heap, line_site(&heap, 2), 12, &rate), 0, 1e-9);
		heap_fini(&heap);
	}
}

static void test_leak_of_a_server_that_is_asked_now_and_then(void **state)
{
	(void)state;
	struct heap heap;
	double rate;
	heap_init(&heap);
	for (int i = 0; i < 3; i++)
		serve(&heap, 10 * i, 10 * i + 2, true);
	assert_true(leak_likelihood(&heap, line_site(&heap, 1), 30, &rate) > 0.95);
	heap_fini(&heap);
}

/* Built before the first request, or in the first of many. */
static void test_table_of_a_server_is_no_leak(void **state)
{
	(void)state;
	struct heap heap;
	double rate;
	heap_init(&heap);
	for (int i = 0; i < 100; i++)
		give(&heap, 4, 0.25, 0.01 * i);
	serve(&heap, 1, 2, true);
	for (uint32_t i = 0; i < 50; i++)
		give_asked(&heap, 5, 0.25, 2 + 0.01 * i, i);
	serve(&heap, 3, 6, true);
	assert_float_equal(leak_likelihood(&heap, line_site(&heap, 4), 12, &rate), 0, 1e-9);
	assert_float_equal(leak_likelihood(&heap, line_site(&heap, 5), 12, &rate), 0, 1e-9);
	assert_true(leak_likelihood(&heap, line_site(&heap, 1), 12, &rate) > 0.95);
	heap_fini(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_leak_of_a_server_that_nobody_asks_any_more),
		cmocka_unit_test(test_leak_of_a_server_that_is_asked_now_and_then),
		cmocka_unit_test(test_table_of_a_server_is_no_leak),
		cmocka_unit_test(test_leak_is_what_keeps_growing),
		cmocka_unit_test(test_what_got_no_cpu_has_not_lasted),
		cmocka_unit_test(test_table_of_a_short_program_is_no_leak),
		cmocka_unit_test(test_growth_by_steps_that_is_over),
		cmocka_unit_test(test_few_samples),
		cmocka_unit_test(test_table_beside_temporaries_is_no_leak),
		cmocka_unit_test(test_block_that_moves_is_not_given_up),
		cmocka_unit_test(test_one_statement_is_no_leak),
		cmocka_unit_test(test_import_in_many_processes_is_no_leak),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
