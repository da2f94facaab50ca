/* values.c - see values.h. */
#include "remote/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "python/bits.h"
#include "python/inspect.h"

#define ITEMS_SHOWN 5u
#define TEXT_SHOWN 80u
#define DEPTH_MAX 2
#define DIGITS_MAX (1ll << 40) /* no int has so many */

/* Behind an object's head. */
#define SEQUENCE_LENGTH 0u
#define LIST_ITEMS 8u /* where they are */
#define VALUE_IN_CELL 0u
#define FLOAT_VALUE 0u
#define DICT_LENGTH 0u
#define SET_LENGTH 8u

/* Kinds of variables (3.11+). */
#define KIND_HIDDEN 0x10u

static py_addr behind_head(const struct remote *remote, py_addr object)
{
	return object + py_head_bytes(&remote->layout);
}

/* Where a tuple's items begin; from 3.14 on its hash stands before them. */
static py_addr tuple_items(const struct remote *remote, py_addr tuple)
{
	return behind_head(remote, tuple) + (remote->layout.version >= 0x030e ? 16 : 8);
}

static bool read_word(const struct remote *remote, py_addr addr, uint64_t *value)
{
	return is_pointer(addr) && remote->reader.read(&remote->reader, addr, value, sizeof(*value));
}

/* ---- values ---- */

static void put_value(const struct remote *remote, py_addr object, struct buf *text, int depth);

/* A text as Python would write it, cut after TEXT_SHOWN characters or so. */
static void put_quoted(struct buf *text, const char *bytes, size_t size, bool is_cut)
{
	buf_char(text, '\'');
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c == '\'' || c == '\\')
			buf_printf(text, "\\%c", c);
		else if (c == '\n')
			buf_text(text, "\\n");
		else if (c < 0x20 || c == 0x7f)
			buf_printf(text, "\\x%02x", c);
		else
			buf_char(text, (char)c);
	}
	buf_text(text, is_cut ? "…'" : "'");
}

static void put_str(const struct remote *remote, py_addr object, struct buf *text)
{
	char bytes[TEXT_SHOWN + 5];
	uint64_t length = 0;

	if (!inspect_text(&remote->walker, object, bytes, sizeof(bytes)) ||
	    !read_word(remote, object + remote->layout.unicode_length, &length)) {
		buf_text(text, "<str>");
		return;
	}
	size_t size = strlen(bytes);
	bool is_cut = size + 4 >= TEXT_SHOWN && length > TEXT_SHOWN;
	put_quoted(text, bytes, size, is_cut);
	if (is_cut)
		buf_printf(text, " (%llu characters)", (unsigned long long)length);
}

static void put_bytes(const struct remote *remote, py_addr object, struct buf *text)
{
	uint64_t length;
	char bytes[TEXT_SHOWN];

	if (!read_word(remote, object + remote->layout.bytes_length, &length)) {
		buf_text(text, "<bytes>");
		return;
	}
	size_t shown = length < sizeof(bytes) ? (size_t)length : sizeof(bytes);
	if (!remote->reader.read(&remote->reader, object + remote->layout.bytes_data, bytes, shown))
		shown = 0;
	for (size_t i = 0; i < shown; i++)
		bytes[i] = (unsigned char)bytes[i] < 0x80 ? bytes[i] : '?';
	buf_char(text, 'b');
	put_quoted(text, bytes, shown, shown < length);
	if (shown < length)
		buf_printf(text, " (%llu bytes)", (unsigned long long)length);
}

static void put_int(const struct remote *remote, py_addr object, struct buf *text)
{
	int64_t value, digits;

	if (inspect_int(&remote->walker, object, &value))
		buf_printf(text, "%lld", (long long)value);
	else if (inspect_int_digits(&remote->walker, object, &digits) && digits > -DIGITS_MAX && digits < DIGITS_MAX)
		buf_printf(text, "<%sint of some %lld bits>", digits < 0 ? "negative " : "",
			   30 * (long long)(digits < 0 ? -digits : digits));
	else
		buf_text(text, "<int>");
}

/* The shortest text that is read back as the same number. */
static void put_float(const struct remote *remote, py_addr object, struct buf *text)
{
	char digits[40];
	double value;

	if (!remote->reader.read(&remote->reader, behind_head(remote, object) + FLOAT_VALUE, &value, sizeof(value))) {
		buf_text(text, "<float>");
		return;
	}
	for (int precision = 15; precision <= 17; precision++) {
		snprintf(digits, sizeof(digits), "%.*g", precision, value);
		if (strtod(digits, NULL) == value)
			break;
	}
	buf_text(text, digits);
	if (strspn(digits, "-0123456789") == strlen(digits))
		buf_text(text, ".0");
}

static void put_size(struct buf *text, const char *name, uint64_t length)
{
	buf_printf(text, "<%s of %llu item%s>", name, (unsigned long long)length, length == 1 ? "" : "s");
}

/* The first items of a list or tuple, which has `length` of them at `items`. */
static void put_items(const struct remote *remote, py_addr items, uint64_t length, const char *brackets,
		      struct buf *text, int depth)
{
	py_addr item;

	buf_char(text, brackets[0]);
	for (uint64_t i = 0; i < length && i < ITEMS_SHOWN; i++) {
		if (i > 0)
			buf_text(text, ", ");
		if (read_word(remote, items + 8 * i, &item))
			put_value(remote, item, text, depth + 1);
	}
	buf_text(text, length > ITEMS_SHOWN ? ", …" : length == 1 && brackets[0] == '(' ? "," : "");
	buf_char(text, brackets[1]);
	if (length > ITEMS_SHOWN)
		buf_printf(text, " (%llu items)", (unsigned long long)length);
}

static void put_sequence(const struct remote *remote, py_addr object, bool is_list, struct buf *text,
			 int depth)
{
	uint64_t length;
	py_addr items = tuple_items(remote, object);

	if (!read_word(remote, behind_head(remote, object) + SEQUENCE_LENGTH, &length) ||
	    (is_list && !read_word(remote, behind_head(remote, object) + LIST_ITEMS, &items)))
		buf_text(text, is_list ? "<list>" : "<tuple>");
	else if (depth >= DEPTH_MAX)
		put_size(text, is_list ? "list" : "tuple", length);
	else
		put_items(remote, items, length, is_list ? "[]" : "()", text, depth);
}

/* Dictionaries and sets are shown by their size: their items come in pieces
 * that change places while the program runs.  Both keep it in the same field
 * or the one after. */
static void put_sized(const struct remote *remote, py_addr object, const char *name, uint32_t place,
		      struct buf *text)
{
	uint64_t length;

	if (read_word(remote, behind_head(remote, object) + place, &length))
		put_size(text, name, length);
	else
		buf_printf(text, "<%s>", name);
}

static void put_value(const struct remote *remote, py_addr object, struct buf *text, int depth)
{
	struct inspect_type type;
	int64_t number;

	if (!inspect_type_of(&remote->walker, object, &type)) {
		buf_text(text, "<unreadable>");
		return;
	}
	bool is_own = (type.flags & FLAG_HEAP) != 0; /* a class of the program's */
	if (is_own)
		buf_printf(text, "<%s object>", type.name);
	else if (strcmp(type.name, "NoneType") == 0)
		buf_text(text, "None");
	else if (strcmp(type.name, "bool") == 0 && inspect_int(&remote->walker, object, &number))
		buf_text(text, number != 0 ? "True" : "False");
	else if ((type.flags & FLAG_INT) != 0)
		put_int(remote, object, text);
	else if ((type.flags & FLAG_STR) != 0)
		put_str(remote, object, text);
	else if ((type.flags & FLAG_BYTES) != 0)
		put_bytes(remote, object, text);
	else if ((type.flags & (FLAG_LIST | FLAG_TUPLE)) != 0)
		put_sequence(remote, object, (type.flags & FLAG_LIST) != 0, text, depth);
	else if ((type.flags & FLAG_DICT) != 0)
		put_sized(remote, object, type.name, DICT_LENGTH, text);
	else if (strcmp(type.name, "set") == 0 || strcmp(type.name, "frozenset") == 0)
		put_sized(remote, object, type.name, SET_LENGTH, text);
	else if (strcmp(type.name, "float") == 0)
		put_float(remote, object, text);
	else
		buf_printf(text, "<%s object>", type.name);
}

void remote_value_put(const struct remote *remote, py_addr object, struct buf *text)
{
	put_value(remote, object, text, 0);
}

/* ---- variables ---- */

/* A variable's value in a frame's word: 3.14 marks words in their lowest bits,
 * and keeps some small numbers there; variables shared with inner functions
 * are in a cell. */
static void put_variable(const struct remote *remote, uint64_t word, struct buf *text)
{
	struct inspect_type type;
	py_addr object = word;

	if (remote->layout.executable_tagged) {
		if ((word & 3) == 3) {
			buf_printf(text, "%lld", (long long)word >> 2);
			return;
		}
		object = word & ~(uint64_t)7;
	}
	if (inspect_type_of(&remote->walker, object, &type) && strcmp(type.name, "cell") == 0 &&
	    (!read_word(remote, behind_head(remote, object) + VALUE_IN_CELL, &object) || object == 0)) {
		buf_text(text, "<not set>");
		return;
	}
	put_value(remote, object, text, 0);
}

/* Adds the variables that a tuple names, whose values begin at `values`;
 * kinds is their bytes object or 0.  Returns how many the tuple has. */
static uint64_t add_variables(const struct remote *remote, py_addr names, py_addr kinds, py_addr values,
			      struct remote_local *locals, uint32_t *count)
{
	uint64_t length, word;
	py_addr name;

	if (!read_word(remote, behind_head(remote, names) + SEQUENCE_LENGTH, &length) || length > 1u << 16)
		return 0;
	for (uint64_t i = 0; i < length && *count < REMOTE_LOCALS_MAX; i++) {
		struct remote_local *local = &locals[*count];
		struct buf text;
		uint8_t kind = 0;

		if (kinds != 0)
			remote->reader.read(&remote->reader, kinds + remote->layout.bytes_data + i, &kind, 1);
		if ((kind & KIND_HIDDEN) != 0 || !read_word(remote, values + 8 * i, &word) || word == 0 ||
		    word == 1 || !read_word(remote, tuple_items(remote, names) + 8 * i, &name) ||
		    !inspect_text(&remote->walker, name, local->name, sizeof(local->name)))
			continue;
		buf_init(&text, REMOTE_VALUE_BYTES);
		put_variable(remote, word, &text);
		snprintf(local->value, sizeof(local->value), "%s%s", text.data ? text.data : "",
			 buf_is_cut(&text) ? "…" : "");
		buf_fini(&text);
		(*count)++;
	}
	return length;
}

uint32_t remote_locals_read(const struct remote *remote, py_addr code, py_addr place,
			    struct remote_local *locals)
{
	const struct py_layout *layout = &remote->layout;
	py_addr values = place + layout->frame_locals;
	/* Names and kinds; before 3.11 plain, free and cell variables. */
	py_addr lists[3] = { 0, 0, 0 };
	uint32_t count = 0;

	if (layout->code_local_names == PY_ABSENT || layout->frame_locals == PY_ABSENT ||
	    !is_pointer(code) ||
	    !remote->reader.read(&remote->reader, code + layout->code_local_names, lists, sizeof(lists)))
		return 0;
	if (layout->version >= 0x030b) {
		add_variables(remote, lists[0], lists[1], values, locals, &count);
		return count;
	}
	values += 8 * add_variables(remote, lists[0], 0, values, locals, &count);
	values += 8 * add_variables(remote, lists[2], 0, values, locals, &count);
	add_variables(remote, lists[1], 0, values, locals, &count);
	return count;
}
