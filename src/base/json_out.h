/* json_out.h - write JSON as a stream.
 *
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

void json_object_begin(struct json_out *out, const char *key);
void json_object_end(struct json_out *out);
void json_array_begin(struct json_out *out, const char *key);
void json_array_end(struct json_out *out);

/* NULL is written as null.  What is no UTF-8 is replaced by U+FFFD. */
void json_text(struct json_out *out, const char *key, const char *text);
void json_bytes(struct json_out *out, const char *key, const char *text, size_t size);

/* With at most so many decimals, no trailing zeros, never an exponent; what
 * is not finite is written as 0. */
void json_number(struct json_out *out, const char *key, double value, int decimals);
void json_integer(struct json_out *out, const char *key, int64_t value);
void json_unsigned(struct json_out *out, const char *key, uint64_t value);
void json_bool(struct json_out *out, const char *key, bool value);
void json_null(struct json_out *out, const char *key);

/* The next item begins on a new line. */
void json_newline(struct json_out *out);

#endif
