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
static struct py_location find_lnotab(struct py_locator *locator, uint32_t offset)
{
	while (locator->at + 1 < locator->size) {
		uint64_t begin = locator->begin + locator->table[locator->at];

		if (begin > offset)
			break;
		locator->begin = begin;
		locator->line += (uint32_t)(int8_t)locator->table[locator->at + 1];
		locator->at += 2;
	}
	return line_only(locator->line);
}

/* 3.10: ranges of (bytes of code, signed lines); -128: the range has no line. */
static struct py_location find_pep626(struct py_locator *locator, uint32_t offset)
{
	while (offset >= locator->end && locator->at + 1 < locator->size) {
		int8_t delta = (int8_t)locator->table[locator->at + 1];

		locator->begin = locator->end;
		locator->end += locator->table[locator->at];
		if (delta != -128)
			locator->line += (uint32_t)delta;
		locator->last = delta == -128 ? nowhere : line_only(locator->line);
		locator->at += 2;
	}
	return offset < locator->end ? locator->last : nowhere;
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

static struct py_location find_locations(struct py_locator *locator, uint32_t offset)
{
	struct cursor cursor = { locator->table + locator->at, locator->table + locator->size };

	while (offset >= locator->end && cursor.at < cursor.end) {
		uint32_t first = take_byte(&cursor);

		locator->last = take_entry(&cursor, first >> 3 & 15, &locator->line);
		locator->begin = locator->end;
		locator->end += 2 * ((first & 7) + 1);
	}
	locator->at = (uint32_t)(cursor.at - locator->table);
	return offset < locator->end ? locator->last : nowhere;
}

/* ---- all ---- */

static void begin_anew(struct py_locator *locator)
{
	locator->at = 0;
	locator->line = locator->first_line;
	locator->begin = locator->end = 0;
	locator->last = nowhere;
}

void py_locator_init(struct py_locator *locator, enum py_line_kind kind, const unsigned char *table,
		     uint32_t size, int32_t first_line)
{
	*locator = (struct py_locator){ .table = table, .size = size, .kind = kind,
					.first_line = (uint32_t)first_line };
	begin_anew(locator);
}

struct py_location py_locator_find(struct py_locator *locator, uint32_t offset)
{
	if (offset < locator->begin)
		begin_anew(locator);
	switch (locator->kind) {
	case PY_LINES_LNOTAB:
		return find_lnotab(locator, offset);
	case PY_LINES_PEP626:
		return find_pep626(locator, offset);
	case PY_LINES_LOCATIONS:
		return find_locations(locator, offset);
	}
	return nowhere;
}

struct py_location py_locate(enum py_line_kind kind, const unsigned char *table, size_t size,
			     int32_t first_line, uint32_t offset)
{
	struct py_locator locator;

	py_locator_init(&locator, kind, table, (uint32_t)size, first_line);
	return py_locator_find(&locator, offset);
}

uint32_t py_last_line(enum py_line_kind kind, const unsigned char *table, uint32_t size,
		      uint32_t first_line)
{
	struct py_locator locator;
	uint32_t last = first_line, before = UINT32_MAX;

	py_locator_init(&locator, kind, table, size, (int32_t)first_line);
	while (locator.at < size && locator.at != before) {
		/* The first offset that another entry of the table is about. */
		uint64_t offset = kind == PY_LINES_LNOTAB ? locator.begin + table[locator.at]
							  : locator.end;
		struct py_location where;

		if (offset > UINT32_MAX)
			break;
		before = locator.at;
		where = py_locator_find(&locator, (uint32_t)offset);
		if (where.line > 0 && (uint32_t)where.line > last)
			last = (uint32_t)where.line;
	}
	return last;
}
