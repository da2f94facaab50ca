/* test_columns.c - which columns give way at which width. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "report/columns.h"

/* One letter a column, in the order in which they stand. */
static const char letters[COLUMN_COUNT + 1] = "ltTpnswaGgcibPALOVCR";

static struct columns choose(uint32_t room, bool has_wait, bool has_memory, char *shown)
{
	struct column_needs needs = {
		.last_line = 100,
		.has_wait = has_wait,
		.has_inclusive = true,
		.has_memory = has_memory,
		.has_timeline = has_memory,
		.has_copy = has_memory,
	};
	struct columns columns;

	columns_choose(&columns, &needs, room);
	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (columns.width[i])
			*shown++ = letters[i];
	}
	*shown = '\0';
	return columns;
}

/* At a terminal of this width, three of which stand between figures and source. */
static void expect_columns(uint32_t terminal, bool has_wait, bool has_memory, const char *expected,
			   uint32_t least_source)
{
	char shown[COLUMN_COUNT + 1];
	struct columns columns = choose(terminal - 3, has_wait, has_memory, shown);

	assert_string_equal(shown, expected);
	assert_true(terminal - 3 - columns.sum >= least_source);
}

static void test_time(void **unused)
{
	(void)unused;
	expect_columns(200, true, false, "ltpnswib", 130);
	expect_columns(120, true, false, "ltpnswib", 48);
	expect_columns(100, true, false, "ltpnswi", 45);
	expect_columns(100, false, false, "ltpnsi", 50);
	expect_columns(80, true, false, "lpnswi", 32);
	expect_columns(80, false, false, "lpnsi", 40);
	expect_columns(60, true, false, "lpns", 28);
	expect_columns(50, true, false, "lT", 30);
	expect_columns(20, true, false, "lT", 3);
}

/* Waiting for the GIL and garbage collection, where they matter. */
static void test_parts(void **unused)
{
	struct column_needs needs = {.last_line = 100, .has_wait = true, .has_inclusive = true,
				     .has_gil = true, .has_gc = true};
	struct columns columns;

	(void)unused;
	columns_choose(&columns, &needs, 117);
	assert_true(columns.width[COLUMN_GIL] && columns.width[COLUMN_GC]);
	needs.has_await = true;
	columns_choose(&columns, &needs, 130);
	assert_true(columns.width[COLUMN_AWAIT]);
	needs.has_await = needs.has_gc = false;
	columns_choose(&columns, &needs, 117);
	assert_true(columns.width[COLUMN_GIL] && !columns.width[COLUMN_GC]);
	columns_choose(&columns, &needs, 60);
	assert_true(!columns.width[COLUMN_GIL] && columns.width[COLUMN_PYTHON]);
}

static void test_memory(void **unused)
{
	(void)unused;
	expect_columns(200, true, true, "ltpnswibPALOVCR", 60);
	expect_columns(160, true, true, "ltpnswibPALOVC", 48);
	expect_columns(140, true, true, "lpnswiPALOVC", 44);
	expect_columns(120, true, true, "lpnswiPAVC", 40);
	expect_columns(120, false, true, "lpnsiPALVC", 42);
	expect_columns(100, false, true, "lpnsiPVC", 34);
	expect_columns(80, false, true, "lpnsPV", 34);
	expect_columns(80, true, true, "lpnswP", 30);
	expect_columns(60, true, true, "lpns", 28);
	expect_columns(20, true, true, "lT", 3);
}

/* More room never costs a column of time or memory that there was with less,
 * nor leaves the source less than it needs. */
static void test_all_widths(void **unused)
{
	(void)unused;
	for (int has_wait = 0; has_wait < 2; has_wait++) {
		size_t least = 0;

		for (uint32_t room = 17; room < 300; room++) {
			char shown[COLUMN_COUNT + 1];
			struct columns columns = choose(room, has_wait, true, shown);

			assert_true(columns.sum <= room);
			assert_true(strchr(shown, 'T') ? true : room - columns.sum >= 24);
			assert_true(strlen(shown) >= least);
			if (shown[1] != 'T')
				least = strlen(shown);
		}
	}
}

static void test_wide_numbers(void **unused)
{
	struct column_needs needs = {.last_line = 1234567, .in_seconds = true};
	struct columns columns;

	(void)unused;
	columns_choose(&columns, &needs, 300);
	assert_int_equal(columns.width[COLUMN_LINE], 8);
	assert_int_equal(columns.width[COLUMN_PYTHON], 9); /* seconds are wider than percent */
	assert_int_equal(columns.width[COLUMN_PEAK], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_all_widths),
		cmocka_unit_test(test_wide_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
