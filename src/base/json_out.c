/* json_out.c - write JSON as a stream. */
#include "base/json_out.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

#define NUMBER_LIMIT 1e15 /* beyond, decimals mean nothing */

/* The stream is ours alone while a profile is written, so its lock, which costs
 * more than the character, is left aside. */
static void write_char(FILE *stream, char c)
{
	putc_unlocked(c, stream);
}

static void write_bytes(FILE *stream, const char *bytes, size_t size)
{
	fwrite_unlocked(bytes, 1, size, stream);
}

/* Bytes from here on that stand for themselves. */
static size_t plain_length(const char *text, size_t size)
{
	size_t at = 0;
	while (at < size && text[at] >= ' ' && text[at] < 0x7f && text[at] != '"' && text[at] != '\\')
		at++;
	return at;
}

/* Writes what does not stand for itself; returns its length. */
static size_t write_special(FILE *stream, const char *text, size_t size)
{
	size_t length = text_utf8_length(text, size);
	char c = text[0];
	char escape[8];
	if (length == 0) {
		write_bytes(stream, "\\ufffd", 6);
		return 1;
	}
	if (c == '"' || c == '\\' || c == '\n' || c == '\t') {
		write_char(stream, '\\');
		write_char(stream, c == '\n' ? 'n' : c == '\t' ? 't' : c);
	} else if (length == 1 && c < ' ') {
		write_bytes(stream, escape, (size_t)snprintf(escape, sizeof(escape), "\\u%04x", c));
	} else {
		write_bytes(stream, text, length);
	}
	return length;
}

static void write_string(FILE *stream, const char *text, size_t size)
{
	write_char(stream, '"');
	for (size_t at = 0; at < size;) {
		size_t plain = plain_length(text + at, size - at);
		write_bytes(stream, text + at, plain);
		at += plain;
		if (at < size)
			at += write_special(stream, text + at, size - at);
	}
	write_char(stream, '"');
}

/* The digits of a number, the last `decimals` of them behind the point, without
 * zeros at the end.  (printf takes ten times as long, and a profile has a
 * hundred thousand numbers.) */
static void write_fixed(FILE *stream, uint64_t scaled, int decimals)
{
	char digits[24];
	char *const end = digits + sizeof(digits);
	char *at = end;
	while (decimals > 0 && scaled % 10 == 0) {
		scaled /= 10;
		decimals--;
	}
	for (int written = 0; scaled > 0 || written <= decimals; written++) {
		if (written == decimals && decimals > 0)
			*--at = '.';
		*--at = (char)('0' + scaled % 10);
		scaled /= 10;
	}
	write_bytes(stream, at, (size_t)(end - at));
}

/* The comma and the key that stand before every value. */
static void begin_item(struct json_out *out, const char *key)
{
	if (out->has_item)
		write_char(out->stream, ',');
	if (key) {
		write_string(out->stream, key, strlen(key));
		write_char(out->stream, ':');
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
	write_char(out->stream, bracket);
	out->has_item = false;
}

static void end(struct json_out *out, char bracket)
{
	write_char(out->stream, bracket);
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
	static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
	begin_item(out, key);
	if (!isfinite(value))
		value = 0;
	/* More digits than a double has are not worth writing. */
	while (decimals > 0 && fabs(value) * powers[decimals] > NUMBER_LIMIT)
		decimals--;
	uint64_t scaled = (uint64_t)nearbyint(fmin(fabs(value) * powers[decimals], NUMBER_LIMIT));
	if (value < 0 && scaled != 0)
		write_char(out->stream, '-');
	write_fixed(out->stream, scaled, decimals);
}

void json_put_integer(struct json_out *out, const char *key, int64_t value)
{
	begin_item(out, key);
	if (value < 0)
		write_char(out->stream, '-');
	write_fixed(out->stream, value < 0 ? -(uint64_t)value : (uint64_t)value, 0);
}

void json_put_unsigned(struct json_out *out, const char *key, uint64_t value)
{
	begin_item(out, key);
	write_fixed(out->stream, value, 0);
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
		write_char(out->stream, ',');
	write_char(out->stream, '\n');
	out->has_item = false;
}
