/* json_out.h - write JSON as a stream.
 *
 * The names differ from those of jansson, which the same program links.
 * Commas take care of themselves; keys and brackets are the caller's order.
 * key is NULL inside arrays and for the outermost value.  Errors of the
 * stream are for the caller to look at, once, at the end. */
#ifndef HEATLINE_BASE_JSON_OUT_H
#define HEATLINE_BASE_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json_out {
	FILE *stream; /* borrowed */
	bool has_item; /* the next item of the open object or array needs a comma */
};

void json_out_init(struct json_out *out, FILE *stream);

void json_begin_object(struct json_out *out, const char *key);
void json_end_object(struct json_out *out);
void json_begin_array(struct json_out *out, const char *key);
void json_end_array(struct json_out *out);

/* NULL is written as null.  What is no UTF-8 is replaced by U+FFFD. */
void json_put_text(struct json_out *out, const char *key, const char *text);
void json_put_bytes(struct json_out *out, const char *key, const char *text, size_t size);

/* With at most so many decimals (9 are the most), no trailing zeros, never an exponent; what
 * is not finite is written as 0. */
void json_put_number(struct json_out *out, const char *key, double value, int decimals);
void json_put_integer(struct json_out *out, const char *key, int64_t value);
void json_put_unsigned(struct json_out *out, const char *key, uint64_t value);
void json_put_bool(struct json_out *out, const char *key, bool value);
void json_put_null(struct json_out *out, const char *key);

/* The next item begins on a new line. */
void json_put_newline(struct json_out *out);

#endif
