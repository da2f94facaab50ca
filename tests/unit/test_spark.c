/* test_spark.c - memory over time in one row of cells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/spark.h"

static void expect_spark(const struct memory_point *points, uint32_t count, double end_s,
			 double full_bytes, uint32_t cells, bool has_utf8, const char *expected)
{
	struct style style = {.has_utf8 = has_utf8};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	spark_put(out, &style, points, count, end_s, full_bytes, cells);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void test_levels(void **unused)
{
	struct memory_point points[9];

	(void)unused;
	for (int i = 0; i < 9; i++)
		points[i] = (struct memory_point){.time_s = i, .live_bytes = i * 100};
	expect_spark(points, 9, 9, 800, 9, true, " ▁▂▃▄▅▆▇█");
	expect_spark(points, 9, 9, 800, 9, false, " .:-=+*#@");
	expect_spark(points, 9, 9, 8e9, 9, true, " ▁▁▁▁▁▁▁▁"); /* a little is not nothing */
	expect_spark(points, 9, 9, 100, 9, true, " ████████");
}

/* A point holds until the next one, and a short peak is not lost. */
static void test_steps(void **unused)
{
	static const struct memory_point points[] = {
		{.time_s = 2, .live_bytes = 4},
		{.time_s = 5.1, .live_bytes = 8},
		{.time_s = 5.2, .live_bytes = 2},
		{.time_s = 8, .live_bytes = 0},
	};

	(void)unused;
	expect_spark(points, 4, 10, 8, 10, true, "  ▄▄▄█▂▂▂ ");
	expect_spark(points, 4, 10, 8, 2, true, "▄█");
	expect_spark(points, 3, 10, 8, 10, true, "  ▄▄▄█▂▂▂▂");
	expect_spark(points, 4, 4, 8, 4, true, "  ▄█"); /* points after the end */
}

static void test_nothing(void **unused)
{
	static const struct memory_point wrong[] = {
		{.time_s = NAN, .live_bytes = INFINITY},
		{.time_s = -1, .live_bytes = NAN},
	};

	(void)unused;
	expect_spark(NULL, 0, 10, 8, 3, true, "   ");
	expect_spark(wrong, 2, 0, 8, 3, true, "   ");
	expect_spark(wrong, 2, NAN, INFINITY, 3, true, "   ");
	expect_spark(wrong, 2, 10, 8, 0, true, "");
	expect_spark(wrong, 1, 10, 8, 3, true, "  █");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
