/* json_out.c - write JSON as a stream. */
#include "base/json_out.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"

#define NUMBER_LIMIT 1e15 /* beyond, decimals mean nothing */

static void write_string(FILE *stream, const char *text, size_t size)
{
	putc('"', stream);
	size_t at = 0;
	while (at < size) {
		size_t length = text_utf8_length(text + at, size - at);
		unsigned char c = (unsigned char)text[at];
		if (length == 0) {
			fputs("\\ufffd", stream);
			length = 1;
		} else if (c == '"' || c == '\\') {
			putc('\\', stream);
			putc(c, stream);
		} else if (c == '\n') {
			fputs("\\n", stream);
		} else if (c == '\t') {
			fputs("\\t", stream);
		} else if (c < 0x20) {
			fprintf(stream, "\\u%04x", c);
		} else {
			fwrite(text + at, 1, length, stream);
		}
		at += length;
	}
	putc('"', stream);
}

/* The comma and the key that stand before every value. */
static void begin_item(struct json_out *out, const char *key)
{
	if (out->has_item)
		putc(',', out->stream);
	if (key) {
		write_string(out->stream, key, strlen(key));
		putc(':', out->stream);
	}
	out->has_item = true;
}

void json_out_init(struct json_out *out, FILE *stream)
{
	*out = (struct json_out){.stream = stream};
}

static void begin(struct json_out *out, const char *key, char bracket)
{
	begin_item(out, key);
	putc(bracket, out->stream);
	out->has_item = false;
}

static void end(struct json_out *out, char bracket)
{
	putc(bracket, out->stream);
	out->has_item = true;
}

void json_begin_object(struct json_out *out, const char *key)
{
	begin(out, key, '{');
}

void json_end_object(struct json_out *out)
{
	end(out, '}');
}

void json_begin_array(struct json_out *out, const char *key)
{
	begin(out, key, '[');
}

void json_end_array(struct json_out *out)
{
	end(out, ']');
}

void json_put_text(struct json_out *out, const char *key, const char *text)
{
	if (text)
		json_put_bytes(out, key, text, strlen(text));
	else
		json_put_null(out, key);
}

void json_put_bytes(struct json_out *out, const char *key, const char *text, size_t size)
{
	begin_item(out, key);
	write_string(out->stream, text, size);
}

void json_put_number(struct json_out *out, const char *key, double value, int decimals)
{
	begin_item(out, key);
	if (!isfinite(value) || value == 0) {
		putc('0', out->stream);
		return;
	}
	value = fmin(fmax(value, -NUMBER_LIMIT), NUMBER_LIMIT);
	char digits[64];
	int size = snprintf(digits, sizeof(digits), "%.*f", decimals, value);
	if (decimals > 0) {
		while (digits[size - 1] == '0')
			size--;
		if (digits[size - 1] == '.')
			size--;
	}
	bool is_minus_zero = size == 2 && memcmp(digits, "-0", 2) == 0;
	fwrite(is_minus_zero ? "0" : digits, 1, is_minus_zero ? 1 : (size_t)size, out->stream);
}

void json_put_integer(struct json_out *out, const char *key, int64_t value)
{
	begin_item(out, key);
	fprintf(out->stream, "%" PRId64, value);
}

void json_put_unsigned(struct json_out *out, const char *key, uint64_t value)
{
	begin_item(out, key);
	fprintf(out->stream, "%" PRIu64, value);
}

void json_put_bool(struct json_out *out, const char *key, bool value)
{
	begin_item(out, key);
	fputs(value ? "true" : "false", out->stream);
}

void json_put_null(struct json_out *out, const char *key)
{
	begin_item(out, key);
	fputs("null", out->stream);
}

void json_put_newline(struct json_out *out)
{
	if (out->has_item)
		putc(',', out->stream);
	putc('\n', out->stream);
	out->has_item = false;
}
