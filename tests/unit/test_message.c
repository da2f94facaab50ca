/* test_message.c - lines and messages of JSON-RPC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "mcp/message.h"

static struct message parse(const char *text)
{
	struct message message;
	message_parse(&message, text, strlen(text));
	return message;
}

static void check_bad(const char *text, int code)
{
	struct message message = parse(text);
	assert_int_equal(message.kind, MESSAGE_BAD);
	assert_int_equal(message.code, code);
	assert_non_null(message.reason);
	message_fini(&message);
}

static void test_kinds(void **state)
{
	struct message message = parse("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"m\",\"params\":{}}");
	assert_int_equal(message.kind, MESSAGE_REQUEST);
	assert_string_equal(message.method, "m");
	assert_string_equal(json_string_value(message.id), "a");
	assert_non_null(message.params);
	message_fini(&message);
	message = parse("{\"jsonrpc\":\"2.0\",\"method\":\"m\"}");
	assert_int_equal(message.kind, MESSAGE_NOTIFICATION);
	message_fini(&message);
	message = parse("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
	assert_int_equal(message.kind, MESSAGE_RESPONSE);
	message_fini(&message);
}

static void test_bad(void **state)
{
	check_bad("", MESSAGE_PARSE_ERROR);
	check_bad("hello", MESSAGE_PARSE_ERROR);
	check_bad("{\"jsonrpc\":\"2.0\",", MESSAGE_PARSE_ERROR);
	check_bad("[]", MESSAGE_INVALID_REQUEST);
	check_bad("{}", MESSAGE_INVALID_REQUEST);
	check_bad("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"m\"}", MESSAGE_INVALID_REQUEST);
	check_bad("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}", MESSAGE_INVALID_REQUEST);
	check_bad("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"m\"}", MESSAGE_INVALID_REQUEST);
	check_bad("{\"jsonrpc\":\"2.0\",\"id\":1}", MESSAGE_INVALID_REQUEST);
	check_bad("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":[]}", MESSAGE_INVALID_PARAMS);
}

static void expect_line(struct message_lines *lines, const char *text)
{
	const char *line;
	size_t size;
	bool is_too_long;
	assert_true(message_lines_next(lines, &line, &size, &is_too_long));
	assert_false(is_too_long);
	assert_int_equal(size, strlen(text));
	assert_memory_equal(line, text, size);
}

static void expect_none(struct message_lines *lines)
{
	const char *line;
	size_t size;
	bool is_too_long;
	assert_false(message_lines_next(lines, &line, &size, &is_too_long));
}

static void test_lines_come_in_pieces(void **state)
{
	struct message_lines lines;
	message_lines_init(&lines);
	expect_none(&lines);
	message_lines_feed(&lines, "on", 2);
	expect_none(&lines);
	message_lines_feed(&lines, "e\r\n\ntwo\nth", 10);
	expect_line(&lines, "one");
	expect_line(&lines, "");
	expect_line(&lines, "two");
	expect_none(&lines);
	message_lines_feed(&lines, "ree\n", 4);
	expect_line(&lines, "three");
	message_lines_fini(&lines);
}

/* However long it is and however it comes, it is refused once and costs no more memory. */
static void test_a_line_too_long(void **state)
{
	struct message_lines lines;
	const char *line;
	size_t size, refused = 0, piece = 100000;
	bool is_too_long;
	char *bytes = mem_alloc(piece);
	memset(bytes, 'x', piece);
	message_lines_init(&lines);
	for (int i = 0; i < 50; i++) {
		message_lines_feed(&lines, bytes, piece);
		while (message_lines_next(&lines, &line, &size, &is_too_long)) {
			assert_true(is_too_long);
			refused++;
		}
		assert_true(lines.room <= 4 * MESSAGE_MAX_BYTES);
	}
	assert_int_equal(refused, 1);
	message_lines_feed(&lines, "\nnext\n", 6);
	expect_line(&lines, "next");
	expect_none(&lines);
	message_lines_fini(&lines);
	free(bytes);
}

static void test_made(void **state)
{
	json_t *id = json_integer(7);
	json_t *made = message_error(id, MESSAGE_NO_METHOD, "no", NULL);
	char *text = json_dumps(made, JSON_COMPACT | JSON_SORT_KEYS);
	assert_string_equal(text, "{\"error\":{\"code\":-32601,\"message\":\"no\"},\"id\":7,"
				  "\"jsonrpc\":\"2.0\"}");
	free(text);
	json_decref(made);
	json_decref(id);
	made = message_notification("n", json_object());
	assert_null(json_object_get(made, "id"));
	json_decref(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_lines_come_in_pieces),
		cmocka_unit_test(test_a_line_too_long),
		cmocka_unit_test(test_made),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
