/* test_json_out.c - streamed JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include <jansson.h>

#include "base/json_out.h"

static char *text;
static size_t text_size;

static void begin(struct json_out *out)
{
	json_out_init(out, open_memstream(&text, &text_size));
}

static void check(struct json_out *out, const char *expected)
{
	fclose(out->stream);
	assert_string_equal(text, expected);
	free(text);
	text = NULL;
}

static void test_commas_keys_and_brackets(void **state)
{
	struct json_out out;
	begin(&out);
	json_begin_object(&out, NULL);
	json_begin_array(&out, "list");
	json_put_unsigned(&out, NULL, 1);
	json_put_integer(&out, NULL, -2);
	json_end_array(&out);
	json_begin_object(&out, "empty");
	json_end_object(&out);
	json_put_bool(&out, "yes", true);
	json_put_null(&out, "none");
	json_put_newline(&out);
	json_put_text(&out, "text", NULL);
	json_end_object(&out);
	check(&out, "{\"list\":[1,-2],\"empty\":{},\"yes\":true,\"none\":null,\n\"text\":null}");
}

static void check_number(double value, int decimals, const char *expected)
{
	struct json_out out;
	begin(&out);
	json_put_number(&out, NULL, value, decimals);
	check(&out, expected);
}

static void test_numbers_are_short_and_finite(void **state)
{
	check_number(0, 3, "0");
	check_number(-0.0, 3, "0");
	check_number(-0.0001, 3, "0");
	check_number(1.5, 3, "1.5");
	check_number(100, 0, "100");
	check_number(100, 2, "100");
	check_number(0.1 + 0.2, 9, "0.3");
	check_number(1e-9, 9, "0.000000001");
	check_number(NAN, 3, "0");
	check_number(-INFINITY, 3, "0");
	check_number(1e300, 1, "1000000000000000");
}

static void test_text_is_escaped(void **state)
{
	struct json_out out;
	begin(&out);
	json_put_bytes(&out, NULL, "a\"b\\c\n\t\x01\x00é\xff/<", 14);
	check(&out, "\"a\\\"b\\\\c\\n\\t\\u0001\\u0000é\\ufffd/<\"");
}

static void test_any_bytes_make_valid_json(void **state)
{
	char bytes[256];
	for (int i = 0; i < 256; i++)
		bytes[i] = (char)i;
	struct json_out out;
	begin(&out);
	json_begin_array(&out, NULL);
	json_put_bytes(&out, NULL, bytes + 1, 255);
	json_end_array(&out);
	fclose(out.stream);
	json_t *root = json_loads(text, 0, NULL);
	assert_non_null(root);
	json_decref(root);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commas_keys_and_brackets),
		cmocka_unit_test(test_numbers_are_short_and_finite),
		cmocka_unit_test(test_text_is_escaped),
		cmocka_unit_test(test_any_bytes_make_valid_json),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
