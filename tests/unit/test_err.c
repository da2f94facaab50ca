/* test_err.c - error codes, sentences, and memory that never comes back NULL. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

static void test_set_fills_and_returns_code(void **state)
{
	struct err err;
	err_clear(&err);
	assert_int_equal(err.code, ERR_NONE);
	assert_int_equal(err_set(&err, ERR_FORMAT, "bad %s", "file"), -(int)ERR_FORMAT);
	assert_int_equal(err.code, ERR_FORMAT);
	assert_string_equal(err.message, "bad file");
	assert_int_equal(err_set(NULL, ERR_IO, "nobody asks"), -(int)ERR_IO);
}

static void test_errno_gives_code_and_text(void **state)
{
	struct err err;
	assert_int_equal(err_set_errno(&err, ENOENT, "cannot open '%s'", "x"), -(int)ERR_NOT_FOUND);
	assert_string_equal(err.message, "cannot open 'x': No such file or directory");
	assert_int_equal(err_set_errno(&err, EACCES, "x"), -(int)ERR_PERMISSION);
	assert_int_equal(err_set_errno(&err, ENOSPC, "x"), -(int)ERR_NO_SPACE);
	assert_int_equal(err_set_errno(&err, EFBIG, "x"), -(int)ERR_TOO_LARGE);
	assert_int_equal(err_set_errno(&err, EINVAL, "x"), -(int)ERR_SYSTEM);
}

static void test_long_sentence_is_cut(void **state)
{
	char text[3000];
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	struct err err;
	err_set(&err, ERR_IO, "%s", text);
	assert_int_equal(strlen(err.message), ERR_MESSAGE_BYTES - 1);
	err_set_errno(&err, EIO, "%s", text);
	assert_int_equal(strlen(err.message), ERR_MESSAGE_BYTES - 1);
}

static void test_mem_gives_blocks_for_nothing_too(void **state)
{
	void *none = mem_alloc(0);
	assert_non_null(none);
	none = mem_resize(none, 0, 8);
	assert_non_null(none);
	free(none);
	unsigned char *zeros = mem_zalloc(10, 10);
	for (int i = 0; i < 100; i++)
		assert_int_equal(zeros[i], 0);
	free(zeros);
	char *copy = mem_copy_bytes("abc\0def", 7);
	assert_memory_equal(copy, "abc\0def", 8);
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_fills_and_returns_code),
		cmocka_unit_test(test_errno_gives_code_and_text),
		cmocka_unit_test(test_long_sentence_is_cut),
		cmocka_unit_test(test_mem_gives_blocks_for_nothing_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
