/* stream.c - the framings. */
#include "suggest/stream.h"

#include <stdint.h>
#include <string.h>
#include <zlib.h>

void stream_init(struct stream *stream, enum stream_shape shape,
		 void (*on_text)(void *closure, const char *text, size_t size), void *closure)
{
	*stream = (struct stream){.shape = shape, .on_text = on_text, .closure = closure};
	buf_init(&stream->pending, STREAM_MAX_MESSAGE_BYTES);
	buf_init(&stream->refusal, 1024);
	err_clear(&stream->error);
}

void stream_fini(struct stream *stream)
{
	buf_fini(&stream->pending);
	buf_fini(&stream->refusal);
}

static void spoil(struct stream *stream, const char *what)
{
	if (!stream->error.code)
		err_set(&stream->error, ERR_FORMAT, "the answer is not what was expected: %s", what);
}

static void take_json(struct stream *stream, const char *event, const char *text, size_t size)
{
	json_t *message = json_loadb(text, size, 0, NULL);

	if (json_is_object(message))
		stream_take_message(stream, event, message);
	else
		spoil(stream, "a part of it is no JSON object");
	json_decref(message);
}

/* Drops the first bytes of what is pending. */
static void drop(struct buf *pending, size_t size)
{
	memmove(pending->data, pending->data + size, pending->size - size);
	pending->size -= size;
	pending->data[pending->size] = '\0';
}

/* --- lines: server-sent events and JSON lines --- */

/* One line without its end.  Events are one data line each with every provider, and
 * their names are repeated in the data. */
static void take_line(struct stream *stream, const char *line, size_t size)
{
	static const char data[] = "data:", done[] = "[DONE]";

	if (size && line[size - 1] == '\r')
		size--;
	if (!size)
		return;
	if (*line == '{') { /* a JSON line; or one object instead of a stream */
		take_json(stream, "", line, size);
		return;
	}
	if (size < sizeof(data) - 1 || memcmp(line, data, sizeof(data) - 1) != 0)
		return; /* a comment, an event's name */
	line += sizeof(data) - 1;
	size -= sizeof(data) - 1;
	while (size && *line == ' ') {
		line++;
		size--;
	}
	if (size >= sizeof(done) - 1 && memcmp(line, done, sizeof(done) - 1) == 0)
		stream->is_complete = true;
	else if (size)
		take_json(stream, "", line, size);
}

static void take_lines(struct stream *stream)
{
	struct buf *pending = &stream->pending;
	size_t used = 0;

	/* An object over several lines is no JSON line: it is taken whole, at the end. */
	if (stream->shape != STREAM_OLLAMA && pending->size && pending->data[0] == '{')
		return;
	while (!stream->error.code) {
		const char *line = pending->data + used;
		const char *end = memchr(line, '\n', pending->size - used);

		if (!end)
			break;
		take_line(stream, line, (size_t)(end - line));
		used += (size_t)(end - line) + 1;
	}
	drop(pending, used);
}

/* --- Amazon's event stream --- */

#define PRELUDE_BYTES 12u /* size of all, size of the headers, checksum of the two */
#define LEAST_BYTES 16u
#define TYPE_TEXT 7

static uint32_t number_at(const char *bytes)
{
	const unsigned char *b = (const unsigned char *)bytes;

	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static bool is_sum_right(const char *bytes, size_t size)
{
	return crc32(0, (const unsigned char *)bytes, (unsigned)size) == number_at(bytes + size);
}

/* Copies the value of the text header of this name; others than text end the search. */
static void find_header(const char *at, size_t size, const char *name, char *value, size_t room)
{
	const char *end = at + size;

	*value = '\0';
	while (end - at > 4) {
		size_t name_size = (unsigned char)*at;
		const char *type = at + 1 + name_size;

		if (end - type < 3 || *type != TYPE_TEXT)
			return;
		size_t value_size = (size_t)(unsigned char)type[1] << 8 | (unsigned char)type[2];
		if ((size_t)(end - type) < 3 + value_size)
			return;
		if (name_size == strlen(name) && memcmp(at + 1, name, name_size) == 0 &&
		    value_size < room) {
			memcpy(value, type + 3, value_size);
			value[value_size] = '\0';
			return;
		}
		at = type + 3 + value_size;
	}
}

static void take_frame(struct stream *stream, const char *frame, size_t size)
{
	uint32_t headers = number_at(frame + 4);
	const char *head = frame + PRELUDE_BYTES;
	char event[64], kind[32];

	find_header(head, headers, ":message-type", kind, sizeof(kind));
	find_header(head, headers, ":event-type", event, sizeof(event));
	if (strcmp(kind, "event") != 0)
		find_header(head, headers, ":exception-type", event, sizeof(event));
	take_json(stream, *event ? event : "exception", head + headers, size - headers - LEAST_BYTES);
}

static void take_frames(struct stream *stream)
{
	struct buf *pending = &stream->pending;

	while (pending->size >= PRELUDE_BYTES && !stream->error.code) {
		uint32_t size = number_at(pending->data), headers = number_at(pending->data + 4);

		if (!is_sum_right(pending->data, 8) || size < LEAST_BYTES ||
		    size > STREAM_MAX_MESSAGE_BYTES || headers > size - LEAST_BYTES) {
			spoil(stream, "its frames are damaged");
			return;
		}
		if (pending->size < size)
			return;
		if (!is_sum_right(pending->data, size - 4))
			spoil(stream, "a checksum is wrong");
		else
			take_frame(stream, pending->data, size);
		drop(pending, size);
	}
}

/* --- both --- */

bool stream_feed(struct stream *stream, const char *bytes, size_t size)
{
	/* In steps, so that no piece is larger than what may be pending. */
	while (size && !stream->error.code) {
		size_t room = stream->pending.maximum - stream->pending.size;
		size_t step = size < room ? size : room;

		if (!step) {
			spoil(stream, "a message is too large");
			break;
		}
		buf_append(&stream->pending, bytes, step);
		bytes += step;
		size -= step;
		if (stream->shape == STREAM_CONVERSE)
			take_frames(stream);
		else
			take_lines(stream);
	}
	return !stream->error.code;
}

void stream_end(struct stream *stream)
{
	struct buf *pending = &stream->pending;

	if (!pending->size || stream->error.code)
		return;
	if (stream->shape == STREAM_CONVERSE)
		spoil(stream, "it ends within a frame");
	else if (pending->data[0] == '{')
		take_json(stream, "", pending->data, pending->size);
	else
		take_line(stream, pending->data, pending->size);
	buf_clear(pending);
}
