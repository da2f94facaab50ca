/* test_stream.c - answers cut anywhere, damaged, or not what was asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "suggest/stream.h"

static void collect(void *closure, const char *text, size_t size)
{
	buf_append(closure, text, size);
}

/* Feeds the bytes in pieces of this size; the text that came out is in *text. */
static void feed(struct stream *stream, struct buf *text, enum stream_shape shape,
		 const char *bytes, size_t size, size_t piece)
{
	buf_init(text, 65536);
	stream_init(stream, shape, collect, text);
	for (size_t i = 0; i < size; i += piece)
		stream_feed(stream, bytes + i, size - i < piece ? size - i : piece);
	stream_end(stream);
}

static void done(struct stream *stream, struct buf *text)
{
	stream_fini(stream);
	buf_fini(text);
}

static void expect(enum stream_shape shape, const char *bytes, size_t size, const char *expected)
{
	struct stream stream;
	struct buf text;

	for (size_t piece = 1; piece <= 64; piece++) {
		feed(&stream, &text, shape, bytes, size, piece);
		assert_int_equal(stream.error.code, 0);
		assert_string_equal(text.data, expected);
		assert_true(stream.is_complete);
		done(&stream, &text);
	}
}

static void test_events_cut_anywhere(void **state)
{
	static const char bytes[] = ": hello\n\nevent: x\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"h\xc3\xa9 "
				    "\xf0\x9f\x98\x80\"}}]}\r\n\r\ndata:{\"choices\":[{\"delta\":{\"content\":\"!\"}}]}\n\n"
				    "data: [DONE]";

	expect(STREAM_CHAT, bytes, sizeof(bytes) - 1, "h\xc3\xa9 \xf0\x9f\x98\x80!");
}

static void test_one_object_instead_of_a_stream(void **state)
{
	static const char bytes[] = "{\n \"choices\": [\n {\"message\": {\"content\": \"whole\"},\n"
				    " \"finish_reason\": \"stop\"}]\n}\n";

	expect(STREAM_CHAT, bytes, sizeof(bytes) - 1, "whole");
}

static void test_lines(void **state)
{
	static const char bytes[] = "{\"message\":{\"content\":\"a\"}}\n{\"message\":{\"content\":\"b\"}}\n"
				    "{\"done\":true,\"done_reason\":\"stop\"}\n";

	expect(STREAM_OLLAMA, bytes, sizeof(bytes) - 1, "ab");
}

static void put_number(struct buf *buf, uint32_t number)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		buf_char(buf, (char)(number >> shift));
}

static void put_frame(struct buf *buf, const char *event, const char *body)
{
	struct buf head, frame;

	buf_init(&head, 1024);
	buf_init(&frame, 4096);
	buf_printf(&head, "\x0b:event-type\x07%c%c%s", 0, (char)strlen(event), event);
	buf_char(&head, 13);
	buf_text(&head, ":message-type\x07");
	buf_append(&head, "\0\5event", 7);
	put_number(&frame, (uint32_t)(16 + head.size + strlen(body)));
	put_number(&frame, (uint32_t)head.size);
	put_number(&frame, (uint32_t)crc32(0, (const unsigned char *)frame.data, 8));
	buf_append(&frame, head.data, head.size);
	buf_text(&frame, body);
	put_number(&frame, (uint32_t)crc32(0, (const unsigned char *)frame.data, (unsigned)frame.size));
	buf_append(buf, frame.data, frame.size);
	buf_fini(&head);
	buf_fini(&frame);
}

static void test_frames(void **state)
{
	struct stream stream;
	struct buf bytes, text;

	buf_init(&bytes, 65536);
	put_frame(&bytes, "messageStart", "{}");
	put_frame(&bytes, "contentBlockDelta", "{\"delta\":{\"text\":\"h\xc3\xa9\"}}");
	put_frame(&bytes, "messageStop", "{\"stopReason\":\"end_turn\"}");
	expect(STREAM_CONVERSE, bytes.data, bytes.size, "h\xc3\xa9");
	/* Any damaged byte is noticed, and nothing is read that is not there. */
	for (size_t i = 0; i < bytes.size; i++) {
		bytes.data[i] ^= 0x40;
		feed(&stream, &text, STREAM_CONVERSE, bytes.data, bytes.size, 50);
		assert_int_not_equal(stream.error.code, 0);
		done(&stream, &text);
		bytes.data[i] ^= 0x40;
	}
	feed(&stream, &text, STREAM_CONVERSE, bytes.data, bytes.size - 1, 50);
	assert_int_not_equal(stream.error.code, 0);
	done(&stream, &text);
	buf_fini(&bytes);
}

static void expect_error(enum stream_shape shape, const char *bytes)
{
	struct stream stream;
	struct buf text;

	feed(&stream, &text, shape, bytes, strlen(bytes), 7);
	assert_int_not_equal(stream.error.code, 0);
	done(&stream, &text);
}

static void test_errors(void **state)
{
	expect_error(STREAM_CHAT, "data: not json\n\n");
	expect_error(STREAM_CHAT, "data: [1]\n\n");
	expect_error(STREAM_CHAT, "data: {\"error\":{\"message\":\"no\"}}\n\n");
	expect_error(STREAM_OLLAMA, "{\"error\":\"out of memory\"}\n");
	expect_error(STREAM_ANTHROPIC, "data: {\"type\":\"error\",\"error\":{\"message\":\"no\"}}\n\n");
	expect_error(STREAM_RESPONSES, "data: {\"type\":\"error\",\"message\":\"no\"}\n\n");
	expect_error(STREAM_GEMINI, "data: {\"error\":{\"code\":400,\"message\":\"no\"}}\n\n");
}

static void test_a_message_without_end(void **state)
{
	struct stream stream;
	struct buf text;
	char piece[4096];
	size_t fed = 0;

	memset(piece, 'x', sizeof(piece));
	buf_init(&text, 1024);
	stream_init(&stream, STREAM_CHAT, collect, &text);
	while (stream_feed(&stream, piece, sizeof(piece)) && fed < 4 * STREAM_MAX_MESSAGE_BYTES)
		fed += sizeof(piece);
	assert_true(fed <= STREAM_MAX_MESSAGE_BYTES);
	assert_int_not_equal(stream.error.code, 0);
	done(&stream, &text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_cut_anywhere),
		cmocka_unit_test(test_one_object_instead_of_a_stream),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_a_message_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
