/* test_verify.c - the noise of repeated runs, and commands without a shell. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "suggest/child.h"
#include "suggest/verify.h"

static bool is_near(double a, double b)
{
	return fabs(a - b) < 1e-3 * b;
}

static void test_average(void **state)
{
	static const double before[] = {2, 2.2, 1.8}, after[] = {1, 1, 1}, zero[] = {0, 0, 0};
	struct verify_ratio ratio = verify_average(before, after, 3);

	/* By hand: logarithms 0.6931, 0.7885, 0.5878; mean 0.6898, deviation 0.1004. */
	assert_true(ratio.is_known && !ratio.is_least);
	assert_true(is_near(ratio.ratio, 1.9933));
	assert_true(is_near(ratio.low, 1.5533) && is_near(ratio.high, 2.5580));
	ratio = verify_average(after, before, 3);
	assert_true(is_near(ratio.ratio, 1 / 1.9933) && ratio.high < 1);
	ratio = verify_average(before, before, 3);
	assert_true(ratio.low == 1 && ratio.high == 1);
	/* Nothing left to measure: at least so much faster. */
	ratio = verify_average(before, zero, 3);
	assert_true(ratio.is_known && ratio.is_least && ratio.low > 100);
	/* Nothing to begin with, or too few runs. */
	assert_false(verify_average(zero, before, 3).is_known);
	assert_false(verify_average(before, after, 2).is_known);
}

static void expect_words(const char *command, const char *const *expected, uint32_t count)
{
	child_words words = VEC_EMPTY;

	assert_int_equal(child_split(command, &words, NULL), 0);
	assert_int_equal(words.count, count);
	for (uint32_t i = 0; i < count; i++)
		assert_string_equal(words.items[i], expected[i]);
	child_free_words(&words);
}

static void test_split(void **state)
{
	child_words words = VEC_EMPTY;

	expect_words("pytest -q  tests", (const char *const[]){"pytest", "-q", "tests"}, 3);
	expect_words(" a 'b c' \"d \\\" 'e'\" f\\ g ", (const char *const[]){"a", "b c", "d \" 'e'", "f g"},
		     4);
	expect_words("x ''", (const char *const[]){"x", ""}, 2);
	expect_words("a;b $(c) | d>e", (const char *const[]){"a;b", "$(c)", "|", "d>e"}, 4);
	expect_words("", NULL, 0);
	assert_true(child_split("a 'b", &words, NULL) < 0);
	child_free_words(&words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_average),
		cmocka_unit_test(test_split),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
