/* test_worth.c - which memory figures are worth a reader's eye. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>

#include <cmocka.h>

#include "base/units.h"
#include "report/worth.h"

static const struct profile program = {
	.has_memory = true,
	.memory = {.peak_bytes = 1000 * MB},
	.sum = {.alloc_bytes = 10000 * MB, .copy_bytes = 200 * MB},
	.elapsed_s = 10,
};

static void test_thresholds(void **unused)
{
	(void)unused;
	assert_false(worth_showing(0.9 * MB));
	assert_true(worth_showing(MB));
	assert_false(worth_showing(NAN));
	assert_true(worth_reading(10 * MB, 1000 * MB));
	assert_false(worth_reading(9 * MB, 1000 * MB));
	assert_false(worth_reading(0.9 * MB, MB));
	assert_false(worth_reading(10 * MB, 0));
	assert_false(worth_reading(10 * MB, NAN));
}

static void test_listing(void **unused)
{
	struct worth_scale scale = worth_scale_of(&program);
	struct metrics self = {0};
	struct memory memory = {0};
	struct profile without = program;

	(void)unused;
	assert_false(worth_listing(&scale, &self, &memory));
	memory.peak_bytes = 10 * MB;
	assert_true(worth_listing(&scale, &self, &memory));
	without.has_memory = false;
	scale = worth_scale_of(&without);
	assert_false(worth_listing(&scale, &self, &memory));
	scale = worth_scale_of(&program);
	memory.peak_bytes = 0;
	self.alloc_bytes = 99 * MB;
	assert_false(worth_listing(&scale, &self, &memory));
	self.alloc_bytes = 100 * MB;
	assert_true(worth_listing(&scale, &self, &memory));
	self.alloc_bytes = 0;
	self.copy_bytes = 2 * MB;
	assert_true(worth_listing(&scale, &self, &memory));
}

/* What comes and goes again and again is churn; what is built once and dropped,
 * held for a while, or kept, is not. */
static void test_churn(void **unused)
{
	struct profile_line line = {
		.self = {.alloc_bytes = 800 * MB},
		.memory = {.peak_bytes = 8 * MB, .average_bytes = 4 * MB},
	};
	struct profile scalene = program;

	(void)unused;
	assert_true(worth_as_churn(&program, &line) == 800 * MB);
	assert_true(worth_as_volume(&program, &line) == 0);
	scalene.from_scalene = true;
	assert_true(worth_as_churn(&scalene, &line) == 0);
	assert_true(worth_as_volume(&scalene, &line) == 800 * MB);
	line.self.kept_bytes = 20 * MB;
	assert_true(worth_as_churn(&program, &line) == 0);
	assert_true(worth_as_volume(&program, &line) == 800 * MB);
	line.self.kept_bytes = 0;
	line.memory.average_bytes = 100 * MB;
	assert_true(worth_as_churn(&program, &line) == 0);
	line.memory.average_bytes = 4 * MB;
	line.memory.peak_bytes = 800 * MB;
	assert_true(worth_as_churn(&program, &line) == 0);
	line.memory.peak_bytes = 8 * MB;
	line.self.alloc_bytes = 49 * MB;
	assert_true(worth_as_churn(&program, &line) == 0);
}

/* What the line's part of the peak says already is not said again. */
static void test_volume(void **unused)
{
	struct profile_line line = {
		.self = {.alloc_bytes = 400 * MB, .kept_bytes = 400 * MB},
		.memory = {.peak_bytes = 400 * MB, .average_bytes = 300 * MB, .at_peak_bytes = 390 * MB},
	};

	(void)unused;
	assert_true(worth_at_peak(&program, &line) == 390 * MB);
	assert_true(worth_as_volume(&program, &line) == 0);
	line.memory.at_peak_bytes = 100 * MB;
	assert_true(worth_as_volume(&program, &line) == 400 * MB);
	line.memory.at_peak_bytes = 9 * MB;
	assert_true(worth_at_peak(&program, &line) == 0);
	line.self.alloc_bytes = 90 * MB;
	assert_true(worth_as_volume(&program, &line) == 0);
}

static void test_leaks(void **unused)
{
	struct profile_line line = {
		.memory = {.leak_likelihood = 0.95, .leak_bytes_per_s = 3 * MB}};

	(void)unused;
	assert_true(worth_as_leak(&program, &line) > 0);
	line.memory.leak_likelihood = 0.8;
	assert_true(worth_as_leak(&program, &line) == 0);
	line.memory.leak_likelihood = NAN;
	assert_true(worth_as_leak(&program, &line) == 0);
}

static void test_copies(void **unused)
{
	struct profile_line line = {.self = {.copy_bytes = 150 * MB}};

	(void)unused;
	assert_true(worth_as_copies(&program, &line) == 150 * MB);
	line.self.copy_bytes = 1.9 * MB;
	assert_true(worth_as_copies(&program, &line) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thresholds), cmocka_unit_test(test_listing),
		cmocka_unit_test(test_churn),      cmocka_unit_test(test_volume),
		cmocka_unit_test(test_leaks),      cmocka_unit_test(test_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
