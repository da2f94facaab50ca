/* test_figure.c - numbers as a person reads them, and bars. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/figure.h"

static void test_percent(void **unused)
{
	(void)unused;
	assert_string_equal(figure_percent(0, 10).text, "");
	assert_string_equal(figure_percent(0.05, 10).text, "<1%");
	assert_string_equal(figure_percent(0.1, 10).text, "1%");
	assert_string_equal(figure_percent(4.26, 10).text, "43%");
	assert_string_equal(figure_percent(10, 10).text, "100%");
	assert_string_equal(figure_percent(1, 0).text, "");
	assert_string_equal(figure_percent(NAN, 10).text, "");
	assert_string_equal(figure_percent(-5, 10).text, "");
	assert_string_equal(figure_percent(1e300, 1e-300).text, "999%");
}

static void test_seconds(void **unused)
{
	(void)unused;
	assert_string_equal(figure_seconds(0).text, "0 ms");
	assert_string_equal(figure_seconds(0.0449).text, "45 ms");
	assert_string_equal(figure_seconds(0.0996).text, "0.10 s");
	assert_string_equal(figure_seconds(1.915).text, "1.92 s");
	assert_string_equal(figure_seconds(9.996).text, "10.0 s");
	assert_string_equal(figure_seconds(99.96).text, "100 s");
	assert_string_equal(figure_seconds(9999.4).text, "9999 s");
	assert_string_equal(figure_seconds(10080).text, "2.8 h");
	assert_string_equal(figure_seconds(NAN).text, "0 ms");
	assert_string_equal(figure_seconds(INFINITY).text, "0 ms");
	for (double s = 1e-6; s < 3.5e6; s *= 1.01)
		assert_in_range(strlen(figure_seconds(s).text), 4, 6);
}

static void test_bytes(void **unused)
{
	(void)unused;
	assert_string_equal(figure_bytes(0).text, "0 KB");
	assert_string_equal(figure_bytes(32).text, "32 B");
	assert_string_equal(figure_bytes(511).text, "511 B");
	assert_string_equal(figure_bytes(513).text, "1 KB");
	assert_string_equal(figure_bytes(85 * 1024).text, "85 KB");
	assert_string_equal(figure_bytes(1 << 20).text, "1.0 MB");
	assert_string_equal(figure_bytes(9.94 * 1048576).text, "9.9 MB");
	assert_string_equal(figure_bytes(512.4 * 1048576).text, "512 MB");
	assert_string_equal(figure_bytes(1000.0 * 1048576).text, "1.0 GB");
	assert_string_equal(figure_bytes(1.25 * 1073741824).text, "1.2 GB");
	assert_string_equal(figure_bytes(3e13).text, "27 TB");
	assert_string_equal(figure_bytes(NAN).text, "0 KB");
	assert_string_equal(figure_bytes(-7e9).text, "0 KB");
	for (double bytes = 1; bytes < 1e15; bytes *= 1.01)
		assert_in_range(strlen(figure_bytes(bytes).text), 3, 6);
	assert_string_equal(figure_megabytes(810.4 * 1048576).text, "810");
	assert_string_equal(figure_megabytes(INFINITY).text, "0");
}

static void test_shares(void **unused)
{
	(void)unused;
	assert_string_equal(figure_share(0, 10).text, "0%");
	assert_string_equal(figure_share(10, 10).text, "100%");
	assert_string_equal(figure_likelihood(0.9512).text, "95%");
	assert_string_equal(figure_likelihood(0.9999).text, "99%");
}

static void test_count(void **unused)
{
	(void)unused;
	assert_string_equal(figure_count(0).text, "0");
	assert_string_equal(figure_count(999).text, "999");
	assert_string_equal(figure_count(3812).text, "3,812");
	assert_string_equal(figure_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
}

static void test_heat(void **unused)
{
	(void)unused;
	assert_int_equal(figure_heat(0.049), PAINT_NONE);
	assert_int_equal(figure_heat(0.05), PAINT_HOT);
	assert_int_equal(figure_heat(0.20), PAINT_HOTTEST);
}

static void expect_bar(const struct metrics *metrics, double full_s, uint32_t cells, bool has_utf8,
		       const char *expected)
{
	struct style style = {.has_utf8 = has_utf8, .columns = 80};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	figure_bar(out, &style, metrics, full_s, cells);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void test_bar(void **unused)
{
	struct metrics metrics = {.python_s = 5, .native_s = 3, .system_s = 1, .wait_s = 1};
	struct metrics mixed = {.python_s = 0.45, .system_s = 0.1};
	struct metrics small = {.python_s = 0.001};
	struct metrics wrong = {.python_s = NAN, .native_s = INFINITY, .wait_s = -3};

	(void)unused;
	expect_bar(&metrics, 10, 10, true, "█████▓▓▓▒░");
	expect_bar(&metrics, 20, 10, true, "███▓▒     ");
	expect_bar(&metrics, 10, 10, false, "#####===-.");
	expect_bar(&metrics, 5, 4, true, "████"); /* more than full is full */
	expect_bar(&mixed, 4, 4, true, "█   "); /* a cell is of the kind that has most of it */
	expect_bar(&small, 10, 4, true, "▏   ");
	expect_bar(&small, 10, 0, true, "");
	expect_bar(&wrong, 10, 3, true, "   ");
	expect_bar(&metrics, 0, 3, false, ".  ");
}

static void expect_legend(uint32_t columns, const char *expected)
{
	struct metrics metrics = {.python_s = 5, .system_s = 0.02, .wait_s = 4.98};
	struct style style = {.has_utf8 = true, .columns = columns};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	figure_legend(out, &style, &metrics, 10, 2);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void test_legend(void **unused)
{
	(void)unused;
	expect_legend(80, "  █ Python 5.00 s (50%)  ▒ system 20 ms (<1%)  ░ waiting 4.98 s (50%)\n");
	expect_legend(60, "  █ Python 5.00 s (50%)  ▒ system 20 ms (<1%)\n"
			  "  ░ waiting 4.98 s (50%)\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_percent), cmocka_unit_test(test_seconds),
		cmocka_unit_test(test_bytes),   cmocka_unit_test(test_shares),
		cmocka_unit_test(test_count),   cmocka_unit_test(test_heat),
		cmocka_unit_test(test_bar),     cmocka_unit_test(test_legend),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
