/* test_command_text.c - the source of a program that stands on the command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/command_text.h"

#define FIND(words) command_text_find(words, sizeof(words))

static void test_finds_the_text(void **state)
{
	(void)state;
	assert_string_equal(FIND("python3\0-c\0print(1)"), "print(1)");
	assert_string_equal(FIND("python3\0-cprint(1)"), "print(1)");
	assert_string_equal(FIND("python3\0-IEc\0print(1)\0-c\0other"), "print(1)");
	assert_string_equal(FIND("python3\0-X\0dev\0-Wc\0-c\0print(1)"), "print(1)");
	assert_string_equal(FIND("python3\0--check-hash-based-pycs\0never\0-c\0a\nb"), "a\nb");
}

static void test_finds_none(void **state)
{
	(void)state;
	assert_null(FIND("python3"));
	assert_null(FIND("python3\0-c"));
	assert_null(FIND("python3\0prog.py\0-c\0print(1)"));
	assert_null(FIND("python3\0-m\0module\0-c\0print(1)"));
	assert_null(FIND("python3\0-\0-c\0print(1)"));
	assert_null(FIND("python3\0-W\0-c\0prog.py"));
	assert_null(FIND("python3\0-X"));
	assert_null(command_text_find("python3\0-c\0cut off here", 20));
	assert_null(command_text_find("", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_the_text),
		cmocka_unit_test(test_finds_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
