/* test_locations.c - the three decoders, by hand and by chance.
 *
 * Whole standard libraries are compared in tests/integration/test_locations.py. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "python/locations.h"

static void expect(enum py_line_kind kind, const char *table, size_t size, uint32_t offset,
		   struct py_location wanted)
{
	struct py_location found =
		py_locate(kind, (const unsigned char *)table, size, 100, offset);

	assert_int_equal(found.line, wanted.line);
	assert_int_equal(found.end_line, wanted.end_line);
	assert_int_equal(found.column, wanted.column);
	assert_int_equal(found.end_column, wanted.end_column);
}

#define LINE(n) ((struct py_location){ n, n, -1, -1 })
#define NOWHERE ((struct py_location){ 0, 0, -1, -1 })
#define AT(line, end_line, column, end_column) \
	((struct py_location){ line, end_line, column, end_column })
#define EXPECT(kind, table, offset, wanted) expect(kind, table, sizeof(table) - 1, offset, wanted)

static void test_lnotab(void **state)
{
	static const char table[] = "\4\1\6\376\0\5\2\200"; /* +1, -2, +5 at once, -128 */

	EXPECT(PY_LINES_LNOTAB, table, 0, LINE(100));
	EXPECT(PY_LINES_LNOTAB, table, 2, LINE(100));
	EXPECT(PY_LINES_LNOTAB, table, 4, LINE(101));
	EXPECT(PY_LINES_LNOTAB, table, 9, LINE(101));
	EXPECT(PY_LINES_LNOTAB, table, 10, LINE(104));
	EXPECT(PY_LINES_LNOTAB, table, 12, NOWHERE);
	EXPECT(PY_LINES_LNOTAB, "", 4000, LINE(100));
	EXPECT(PY_LINES_LNOTAB, "\4", 4, LINE(100));
}

static void test_pep626(void **state)
{
	static const char table[] = "\4\1\6\200\0\11\2\1"; /* the second range has no line */

	EXPECT(PY_LINES_PEP626, table, 0, LINE(101));
	EXPECT(PY_LINES_PEP626, table, 2, LINE(101));
	EXPECT(PY_LINES_PEP626, table, 4, NOWHERE);
	EXPECT(PY_LINES_PEP626, table, 8, NOWHERE);
	EXPECT(PY_LINES_PEP626, table, 10, LINE(111));
	EXPECT(PY_LINES_PEP626, table, 12, NOWHERE);
	EXPECT(PY_LINES_PEP626, "", 0, NOWHERE);
}

static void test_locations(void **state)
{
	static const char table[] = "\x80\x23"             /* short: one unit, columns 2 to 5 */
				    "\xd9\x05\x08"         /* next line: two units, 5 to 8 */
				    "\xf0\x02\x03\x01\x42\x01" /* long: +1, 3 lines, column 0 to 65 */
				    "\xf8"                 /* none */
				    "\xe8\x03";            /* no columns, -1 */

	EXPECT(PY_LINES_LOCATIONS, table, 0, AT(100, 100, 2, 5));
	EXPECT(PY_LINES_LOCATIONS, table, 2, AT(101, 101, 5, 8));
	EXPECT(PY_LINES_LOCATIONS, table, 5, AT(101, 101, 5, 8));
	EXPECT(PY_LINES_LOCATIONS, table, 6, AT(102, 105, 0, 65));
	EXPECT(PY_LINES_LOCATIONS, table, 8, NOWHERE);
	EXPECT(PY_LINES_LOCATIONS, table, 10, LINE(101));
	EXPECT(PY_LINES_LOCATIONS, table, 12, NOWHERE);
	EXPECT(PY_LINES_LOCATIONS, "", 0, NOWHERE);
}

/* Tables that end in the middle, never end a number, or overflow. */
static void test_locations_broken(void **state)
{
	static const char endless[] = "\xf0\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f";
	struct py_location found;

	for (size_t size = 1; size < sizeof(endless); size++)
		py_locate(PY_LINES_LOCATIONS, (const unsigned char *)endless, size, 1, 0);
	found = py_locate(PY_LINES_LOCATIONS, (const unsigned char *)"\xf0", 1, 5, 0);
	assert_int_equal(found.line, 5);
	found = py_locate(PY_LINES_LOCATIONS, (const unsigned char *)"\xe8\x7f\x7f\x7f\x7f\x7f\x3f", 7,
			  INT32_MAX, 0);
	assert_true(found.line >= 0);
}

static void test_random(void **state)
{
	uint64_t random = 1442695040888963407ull;
	unsigned char *table = malloc(300);

	for (uint32_t round = 0; round < 60000; round++) {
		size_t size = random % 300;

		for (size_t i = 0; i < size; i++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			table[i] = (unsigned char)(random >> 56);
		}
		/* A copy of exactly that size, so that a step beyond it is seen. */
		unsigned char *exact = malloc(size + 1);
		memcpy(exact, table, size);
		for (enum py_line_kind kind = PY_LINES_LNOTAB; kind <= PY_LINES_LOCATIONS; kind++) {
			struct py_location found = py_locate(kind, exact, size, (int32_t)random,
							     (uint32_t)(random >> 32) % 2000);

			assert_true(found.line >= 0);
			assert_true(found.end_line >= found.line);
			assert_true(found.column >= -1 && found.end_column >= -1);
		}
		free(exact);
	}
	free(table);
}

/* One that goes on from where it stands says the same as one that begins anew,
 * in any order of questions. */
static void test_locator(void **state)
{
	uint64_t random = 88172645463325252ull;
	unsigned char table[200];

	for (uint32_t round = 0; round < 3000; round++) {
		uint32_t size = (uint32_t)(random >> 40) % sizeof(table);

		for (uint32_t i = 0; i < size; i++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			/* Small numbers, so that many entries lie within reach, and zeros. */
			table[i] = (unsigned char)(random >> 56) & (i % 2 == 0 ? 0x8f : 0xff);
		}
		for (enum py_line_kind kind = PY_LINES_LNOTAB; kind <= PY_LINES_LOCATIONS; kind++) {
			struct py_locator locator;
			uint32_t offset = 0;

			py_locator_init(&locator, kind, table, size, 1000);
			for (uint32_t i = 0; i < 40; i++) {
				random = random * 6364136223846793005ull + 1442695040888963407ull;
				offset = i % 7 == 6 ? (uint32_t)(random >> 33) % 700
						    : offset + (uint32_t)(random >> 33) % 30;
				struct py_location one = py_locate(kind, table, size, 1000, offset);
				struct py_location other = py_locator_find(&locator, offset);

				assert_memory_equal(&one, &other, sizeof(one));
			}
		}
	}
}

/* The greatest of all lines, found in one pass over the table. */
static void test_last_line(void **state)
{
	uint64_t random = 88172645463325252ull;
	unsigned char table[60];

	for (uint32_t round = 0; round < 60; round++) {
		uint32_t size = (uint32_t)(random >> 40) % sizeof(table);

		for (uint32_t i = 0; i < size; i++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			table[i] = (unsigned char)(random >> 56) & (i % 2 == 0 ? 0x8f : 0xff);
		}
		for (enum py_line_kind kind = PY_LINES_LNOTAB; kind <= PY_LINES_LOCATIONS; kind++) {
			uint32_t greatest = 1000;

			for (uint32_t offset = 0; offset < 0x90 * sizeof(table); offset++) {
				int32_t line = py_locate(kind, table, size, 1000, offset).line;

				if (line > (int32_t)greatest)
					greatest = (uint32_t)line;
			}
			assert_int_equal(py_last_line(kind, table, size, 1000), greatest);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lnotab),
		cmocka_unit_test(test_pep626),
		cmocka_unit_test(test_locations),
		cmocka_unit_test(test_locations_broken),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_locator),
		cmocka_unit_test(test_last_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
