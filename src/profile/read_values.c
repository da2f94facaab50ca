/* read_values.c - take values out of JSON that may be anything. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "profile/read_parts.h"

#define MAX_NUMBER 1e15

void reader_fail(struct profile_reader *reader, const char *format, ...)
{
	if (reader->has_failed)
		return;
	char what[ERR_MESSAGE_BYTES / 2];
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	reader->has_failed = true;
	err_set(reader->err, ERR_FORMAT, "'%s' cannot be read as a profile: %s", reader->name,
		what);
}

/* The member, or NULL when it is missing, null, or there was a failure. */
static json_t *member(struct profile_reader *reader, const json_t *object, const char *key)
{
	if (reader->has_failed)
		return NULL;
	json_t *value = json_object_get(object, key);
	return json_is_null(value) ? NULL : value;
}

static double checked_number(struct profile_reader *reader, const json_t *value, const char *key)
{
	double number = json_number_value(value);
	if (!json_is_number(value) || !isfinite(number) || number < 0 || number > MAX_NUMBER) {
		reader_fail(reader, "\"%s\" is not a number from 0 on", key);
		return 0;
	}
	return number;
}

static int64_t checked_integer(struct profile_reader *reader, const json_t *value, const char *key,
			       int64_t minimum, int64_t maximum)
{
	if (!json_is_integer(value)) {
		reader_fail(reader, "\"%s\" is not a whole number", key);
		return 0;
	}
	json_int_t number = json_integer_value(value);
	if (number < minimum || number > maximum) {
		reader_fail(reader, "\"%s\" is out of range", key);
		return 0;
	}
	return number;
}

double reader_number(struct profile_reader *reader, const json_t *object, const char *key)
{
	json_t *value = member(reader, object, key);
	return value ? checked_number(reader, value, key) : 0;
}

double reader_mb(struct profile_reader *reader, const json_t *object, const char *key)
{
	return rint(reader_number(reader, object, key) * MB);
}

uint64_t reader_unsigned(struct profile_reader *reader, const json_t *object, const char *key,
			 uint64_t maximum)
{
	json_t *value = member(reader, object, key);
	int64_t limit = maximum > INT64_MAX ? INT64_MAX : (int64_t)maximum;
	return value ? (uint64_t)checked_integer(reader, value, key, 0, limit) : 0;
}

int32_t reader_pid(struct profile_reader *reader, const json_t *object, const char *key)
{
	json_t *value = member(reader, object, key);
	return value ? (int32_t)checked_integer(reader, value, key, INT32_MIN, INT32_MAX) : 0;
}

bool reader_bool(struct profile_reader *reader, const json_t *object, const char *key)
{
	json_t *value = member(reader, object, key);
	if (value && !json_is_boolean(value))
		reader_fail(reader, "\"%s\" is neither true nor false", key);
	return json_is_true(value);
}

const char *reader_text(struct profile_reader *reader, const json_t *object, const char *key)
{
	json_t *value = member(reader, object, key);
	if (value && !json_is_string(value)) {
		reader_fail(reader, "\"%s\" is not a text", key);
		return NULL;
	}
	return profile_intern(reader->profile, json_string_value(value));
}

json_t *reader_array(struct profile_reader *reader, const json_t *object, const char *key)
{
	json_t *value = member(reader, object, key);
	if (value && !json_is_array(value)) {
		reader_fail(reader, "\"%s\" is not a list", key);
		return NULL;
	}
	return value;
}

json_t *reader_object(struct profile_reader *reader, const json_t *object, const char *key)
{
	json_t *value = member(reader, object, key);
	if (value && !json_is_object(value)) {
		reader_fail(reader, "\"%s\" is not an object", key);
		return NULL;
	}
	return value;
}

double reader_item_number(struct profile_reader *reader, const json_t *array, size_t index,
			  const char *what)
{
	json_t *value = reader->has_failed ? NULL : json_array_get(array, index);
	return value ? checked_number(reader, value, what) : 0;
}

int64_t reader_item_integer(struct profile_reader *reader, const json_t *array, size_t index,
			    int64_t minimum, int64_t maximum, const char *what)
{
	json_t *value = reader->has_failed ? NULL : json_array_get(array, index);
	return value ? checked_integer(reader, value, what, minimum, maximum) : 0;
}

void reader_seconds(struct profile_reader *reader, const json_t *object, struct metrics *metrics)
{
	metrics->python_s = reader_number(reader, object, "python_s");
	metrics->native_s = reader_number(reader, object, "native_s");
	metrics->system_s = reader_number(reader, object, "system_s");
	metrics->wait_s = reader_number(reader, object, "wait_s");
	metrics->idle_s = reader_number(reader, object, "idle_s");
	metrics->cpu_s = reader_number(reader, object, "cpu_s");
	metrics->gil_s = reader_number(reader, object, "gil_s");
	metrics->gc_s = reader_number(reader, object, "gc_s");
}

/* How much was for the other reasons is not kept. */
void reader_waits_for(struct profile_reader *reader, const json_t *object,
		      struct metrics *metrics)
{
	const char *name = reader_text(reader, object, "waits_for");
	for (uint32_t i = 0; name && i < WAIT_KINDS; i++) {
		if (strcmp(name, wait_kind_names[i]) == 0)
			metrics->waits_s[i] = (float)(metrics->wait_s + metrics->idle_s -
						      metrics->gil_s);
	}
}

const char **reader_texts(struct profile_reader *reader, const json_t *object, const char *key,
			  uint32_t *count)
{
	json_t *list = reader_array(reader, object, key);
	size_t size = json_array_size(list);
	const char **texts = mem_alloc(size * sizeof(*texts));
	for (size_t i = 0; i < size; i++) {
		const char *text = json_string_value(json_array_get(list, i));
		if (!text)
			reader_fail(reader, "an item of \"%s\" is not a text", key);
		texts[i] = profile_intern(reader->profile, text ? text : "");
	}
	*count = (uint32_t)size;
	return texts;
}
