/* test_buf.c - growable buffers and arrays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/vec.h"

static void test_append_grows_and_terminates(void **state)
{
	struct buf buf;
	buf_init(&buf, 100000);
	assert_string_equal(buf.data, "");
	for (int i = 0; i < 1000; i++)
		assert_true(buf_printf(&buf, "%03d,", i));
	assert_int_equal(buf.size, 4000);
	assert_memory_equal(buf.data, "000,001,", 8);
	assert_string_equal(buf.data + 3996, "999,");
	assert_true(buf_text(&buf, "text"));
	assert_true(buf_char(&buf, '!'));
	assert_string_equal(buf.data + 4000, "text!");
	buf_fini(&buf);
}

static void test_maximum_refuses_whole_appends(void **state)
{
	struct buf buf;
	buf_init(&buf, 10);
	assert_true(buf_text(&buf, "12345678"));
	assert_false(buf_text(&buf, "abc"));
	assert_true(buf_is_cut(&buf));
	assert_string_equal(buf.data, "12345678");
	assert_false(buf_printf(&buf, "%s", "abcdef"));
	assert_string_equal(buf.data, "12345678");
	assert_true(buf_text(&buf, "90"));
	assert_false(buf_char(&buf, 'x'));
	assert_int_equal(buf.size, 10);
	buf_clear(&buf);
	assert_false(buf_is_cut(&buf));
	assert_int_equal(buf.size, 0);
	buf_fini(&buf);
}

static void test_printf_longer_than_room(void **state)
{
	struct buf buf;
	buf_init(&buf, SIZE_MAX);
	assert_true(buf_printf(&buf, "%500d", 7));
	assert_int_equal(buf.size, 500);
	assert_int_equal(buf.data[499], '7');
	buf_fini(&buf);
}

static void test_take_hands_over(void **state)
{
	struct buf buf;
	buf_init(&buf, 100);
	buf_text(&buf, "mine");
	char *text = buf_take(&buf);
	assert_string_equal(text, "mine");
	assert_int_equal(buf.size, 0);
	assert_true(buf_text(&buf, "again"));
	free(text);
	buf_fini(&buf);
}

/* As everywhere, and never as 1.23e+03. */
static void test_seconds(void **state)
{
	static const struct { double seconds; const char *text; } cases[] = {
		{0, "0 ms"}, {0.0000123, "0.012 ms"}, {0.00099, "1 ms"}, {0.3344, "0.33 s"},
		{12.34, "12.3 s"}, {999.4, "999 s"}, {999.6, "1000 s"}, {123456, "34.3 h"}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf buf;
		buf_init(&buf, 100);
		buf_seconds(&buf, cases[i].seconds);
		assert_string_equal(buf.data, cases[i].text);
		buf_fini(&buf);
	}
}

static void test_vec_keeps_items_and_type(void **state)
{
	VEC(uint64_t) numbers = VEC_EMPTY;
	for (uint64_t i = 0; i < 1000; i++)
		vec_push(&numbers, i * i);
	assert_int_equal(numbers.count, 1000);
	assert_true(numbers.room >= 1000);
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(numbers.items[i], i * i);
	vec_free(&numbers);
	assert_null(numbers.items);
	vec_push(&numbers, 1);
	assert_int_equal(numbers.count, 1);
	vec_free(&numbers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_append_grows_and_terminates),
		cmocka_unit_test(test_maximum_refuses_whole_appends),
		cmocka_unit_test(test_printf_longer_than_room),
		cmocka_unit_test(test_take_hands_over),
		cmocka_unit_test(test_seconds),
		cmocka_unit_test(test_vec_keeps_items_and_type),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
