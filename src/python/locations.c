/* locations.c - decoders for the three kinds of line tables.
 *
 * All are delta codes that can only be read from the start.  Arithmetic is
 * unsigned and wraps: hostile bytes give a wrong line, nothing worse; every
 * step consumes at least one byte, so the table's size bounds the loop. */
#include "python/locations.h"

static const struct py_location nowhere = { 0, 0, -1, -1 };

static struct py_location line_only(uint32_t line)
{
	/* A line that is not positive is no line. */
	if (line == 0 || line > INT32_MAX)
		return nowhere;
	return (struct py_location){ (int32_t)line, (int32_t)line, -1, -1 };
}

/* 3.6-3.9: pairs of (bytes of code, signed lines), applied up to the offset. */
static struct py_location locate_lnotab(const unsigned char *table, size_t size, uint32_t line,
					uint32_t offset)
{
	uint64_t at = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		at += table[i];
		if (at > offset)
			break;
		line += (uint32_t)(int8_t)table[i + 1];
	}
	return line_only(line);
}

/* 3.10: ranges of (bytes of code, signed lines); -128: the range has no line. */
static struct py_location locate_pep626(const unsigned char *table, size_t size, uint32_t line,
					uint32_t offset)
{
	uint64_t end = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		int8_t delta = (int8_t)table[i + 1];

		end += table[i];
		if (delta != -128)
			line += (uint32_t)delta;
		if (offset < end)
			return delta == -128 ? nowhere : line_only(line);
	}
	return nowhere;
}

/* ---- 3.11 and later ---- */

struct cursor {
	const unsigned char *at, *end;
};

static uint32_t take_byte(struct cursor *cursor)
{
	return cursor->at < cursor->end ? *cursor->at++ : 0;
}

/* Six bits a byte, the least significant first; bit 6 says that more follow. */
static uint32_t take_varint(struct cursor *cursor)
{
	uint32_t value = 0, shift = 0, byte;

	do {
		byte = take_byte(cursor);
		if (shift < 32)
			value |= (byte & 0x3f) << shift;
		shift += 6;
	} while (byte & 0x40);
	return value;
}

/* The lowest bit is the sign. */
static uint32_t take_signed_varint(struct cursor *cursor)
{
	uint32_t value = take_varint(cursor);

	return value & 1 ? 0u - (value >> 1) : value >> 1;
}

enum entry_code {
	ENTRY_ONE_LINE_0 = 10, /* 0 to 9 are the short forms: same line, small columns */
	ENTRY_ONE_LINE_2 = 12,
	ENTRY_NO_COLUMNS = 13,
	ENTRY_LONG = 14,
	ENTRY_NONE = 15,
};

/* Columns are stored plus one, 0 meaning none. */
static int32_t column_of(uint32_t stored)
{
	return stored == 0 || stored > INT32_MAX ? -1 : (int32_t)(stored - 1);
}

/* Reads what follows the first byte of an entry.  *line goes on to the
 * entry's line, also where the location has none. */
static struct py_location take_entry(struct cursor *cursor, uint32_t code, uint32_t *line)
{
	struct py_location location;

	switch (code) {
	case ENTRY_NONE:
		return nowhere;
	case ENTRY_LONG: {
		uint32_t lines, first, last;

		*line += take_signed_varint(cursor);
		lines = take_varint(cursor);
		first = take_varint(cursor);
		last = take_varint(cursor);
		location = line_only(*line);
		if (location.line != 0 && lines <= (uint32_t)(INT32_MAX - location.line))
			location.end_line += (int32_t)lines;
		location.column = column_of(first);
		location.end_column = column_of(last);
		break;
	}
	case ENTRY_NO_COLUMNS:
		*line += take_signed_varint(cursor);
		return line_only(*line);
	default:
		if (code >= ENTRY_ONE_LINE_0) {
			*line += code - ENTRY_ONE_LINE_0;
			location = line_only(*line);
			location.column = (int32_t)take_byte(cursor);
			location.end_column = (int32_t)take_byte(cursor);
		} else {
			uint32_t columns = take_byte(cursor);

			location = line_only(*line);
			location.column = (int32_t)(code << 3 | columns >> 4);
			location.end_column = location.column + (int32_t)(columns & 15);
		}
	}
	return location.line == 0 ? nowhere : location;
}

static struct py_location locate_locations(const unsigned char *table, size_t size, uint32_t line,
					   uint32_t offset)
{
	struct cursor cursor = { table, table + size };
	uint64_t end = 0;

	while (cursor.at < cursor.end) {
		uint32_t first = take_byte(&cursor);
		struct py_location location = take_entry(&cursor, first >> 3 & 15, &line);

		end += 2 * ((first & 7) + 1);
		if (offset < end)
			return location;
	}
	return nowhere;
}

struct py_location py_locate(enum py_line_kind kind, const unsigned char *table, size_t size,
			     int32_t first_line, uint32_t offset)
{
	switch (kind) {
	case PY_LINES_LNOTAB:
		return locate_lnotab(table, size, (uint32_t)first_line, offset);
	case PY_LINES_PEP626:
		return locate_pep626(table, size, (uint32_t)first_line, offset);
	case PY_LINES_LOCATIONS:
		return locate_locations(table, size, (uint32_t)first_line, offset);
	}
	return nowhere;
}
