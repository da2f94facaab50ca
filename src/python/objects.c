/* objects.c - str and bytes objects of a target, copied out.
 *
 * Lengths come from the target: they are compared with the room that is left
 * before anything is copied. */
#include "python/objects.h"

#include <string.h>

#include "python/bits.h"

#define NAME_COPY_BYTES 256u

/* Appends one character as UTF-8, if it fits in `left`; returns its bytes. */
static size_t utf8_put(uint32_t character, unsigned char *to, size_t left)
{
	size_t size = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;

	if (size > left)
		return 0;
	if (size == 1) {
		to[0] = (unsigned char)character;
		return 1;
	}
	for (size_t i = size - 1; i > 0; i--, character >>= 6)
		to[i] = (unsigned char)(0x80 | (character & 0x3f));
	to[0] = (unsigned char)((0xf00u >> size & 0xff) | character);
	return size;
}

/* What cannot be said in UTF-8 is replaced. */
static uint32_t character_valid(uint32_t character)
{
	bool is_surrogate = character >= 0xd800 && character < 0xe000;

	return is_surrogate || character > 0x10ffff ? 0xfffd : character;
}

/* Converts the characters at addr, `kind` bytes each, into room as UTF-8.  The
 * text is cut where OBJECT_STR_MAX or the room ends, between characters. */
static bool text_copy(const struct mem_reader *reader, py_addr addr, uint64_t length, uint32_t kind,
		      struct object_room *room, uint32_t *size)
{
	unsigned char part[NAME_COPY_BYTES];
	size_t max = room->left < OBJECT_STR_MAX ? room->left : OBJECT_STR_MAX;
	size_t used = 0;
	bool is_full = false;

	while (length > 0 && !is_full) {
		uint64_t many = length < sizeof(part) / kind ? length : sizeof(part) / kind;

		if (!reader->read(reader, addr, part, many * kind))
			return false;
		for (uint64_t i = 0; i < many && !is_full; i++) {
			uint32_t character = 0;
			size_t put;

			memcpy(&character, part + i * kind, kind); /* little-endian */
			put = utf8_put(character_valid(character), room->at + used, max - used);
			is_full = put == 0;
			used += put;
		}
		addr += many * kind;
		length -= many;
	}
	room->at += used;
	room->left -= used;
	*size = (uint32_t)used;
	return true;
}

bool object_copy_str(const struct walker *walker, py_addr addr, struct object_room *room,
			 const char **text, uint32_t *size)
{
	const struct py_layout *layout = walker->layout;
	unsigned char head[128];
	uint64_t length;
	uint32_t state, kind;
	bool is_compact, is_ascii;

	if (!is_pointer(addr) || layout->unicode_ascii_data > sizeof(head) ||
	    !walker->reader->read(walker->reader, addr, head, layout->unicode_ascii_data))
		return false;
	length = load_u64(head + layout->unicode_length);
	state = load_u32(head + layout->unicode_state) >> layout->unicode_kind_shift;
	kind = state & 7;
	is_compact = state & 8;
	is_ascii = state & 16;
	if (!is_compact || (kind != 1 && kind != 2 && kind != 4) || length > 1u << 30)
		return false;
	*text = (const char *)room->at;
	addr += is_ascii ? layout->unicode_ascii_data : layout->unicode_compact_data;
	return text_copy(walker->reader, addr, length, kind, room, size);
}

bool object_copy_memory(const struct walker *walker, py_addr addr, uint64_t size, struct object_room *room,
		       const unsigned char **data, uint32_t *data_size)
{
	if (size > room->left || !walker->reader->read(walker->reader, addr, room->at, size))
		return false;
	*data = room->at;
	*data_size = (uint32_t)size;
	room->at += size;
	room->left -= size;
	return true;
}

bool object_copy_bytes(const struct walker *walker, py_addr addr, struct object_room *room,
		       const unsigned char **data, uint32_t *size)
{
	const struct py_layout *layout = walker->layout;
	uint64_t length;

	if (!is_pointer(addr) || !walker->reader->read(walker->reader, addr + layout->bytes_length,
						       &length, sizeof(length)))
		return false;
	return object_copy_memory(walker, addr + layout->bytes_data, length, room, data, size);
}
