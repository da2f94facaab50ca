/* test_library.c - libraries opened at run time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>

#include "base/library.h"

#define MATHS "libm.so.6"

struct maths {
	double (*floor)(double);
	double (*guess)(double);
};

#define ROW(name, is_optional) {#name, offsetof(struct maths, name), is_optional}

static void test_functions_are_found(void **state)
{
	static const struct library_function table[] = {ROW(floor, false), ROW(guess, true)};
	struct maths maths;
	const char *missing;
	void *library = library_open(MATHS, table, 2, &maths, &missing);

	assert_non_null(library);
	assert_null(missing);
	assert_true(maths.floor(2.5) == 2);
	assert_null(maths.guess);
	dlclose(library);
}

static void test_a_missing_function_is_named(void **state)
{
	static const struct library_function table[] = {ROW(floor, false), ROW(guess, false)};
	struct maths maths;
	const char *missing;

	assert_null(library_open(MATHS, table, 2, &maths, &missing));
	assert_string_equal(missing, "guess");
}

static void test_a_missing_library_has_no_name(void **state)
{
	struct maths maths;
	const char *missing = "";

	assert_null(library_open("libheatline-none.so.1", NULL, 0, &maths, &missing));
	assert_null(missing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_are_found),
		cmocka_unit_test(test_a_missing_function_is_named),
		cmocka_unit_test(test_a_missing_library_has_no_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
