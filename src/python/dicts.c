/* dicts.c - see dicts.h. */
#include "python/dicts.h"

#include <string.h>

#include "python/bits.h"

#define DICT_KEYS 16u /* behind the head: the keys, then what is kept apart */
#define HEAD_BYTES 40u
#define TEXT_BYTES 128u /* head and text of a key that is looked for */
#define SIZE_LOG2_MAX 24u

static bool read_bytes(const struct walker *walker, py_addr addr, void *to, size_t size)
{
	return is_pointer(addr) && walker->reader->read(walker->reader, addr, to, size);
}

py_addr dict_links(const struct walker *walker, py_addr dict)
{
	return dict + py_head_bytes(walker->layout) + DICT_KEYS;
}

/* From 3.13 on some bytes of bookkeeping stand before the values. */
py_addr dict_values_start(const struct walker *walker, py_addr values)
{
	return values != 0 && walker->layout->version >= 0x030d ? values + 8 : values;
}

bool dict_find_keys(const struct walker *walker, py_addr dict, py_addr *keys, py_addr *values)
{
	uint64_t links[2];

	if (!is_pointer(dict) || !read_bytes(walker, dict_links(walker, dict), links, sizeof(links)))
		return false;
	*keys = links[0];
	*values = dict_values_start(walker, links[1]);
	return true;
}

/* Before 3.11: reference count, size, function, usable, entries, then the indexes, as wide
 * as the size demands. */
static bool open_wide(const unsigned char *head, struct dict_view *view)
{
	uint64_t size = load_u64(head + 8), count = load_u64(head + 32);
	uint64_t width = size <= 0xff ? 1 : size <= 0xffff ? 2 : 4;

	if (size > 1u << SIZE_LOG2_MAX || (size & (size - 1)) != 0 || count > size)
		return false;
	view->entries = view->keys + 40 + size * width;
	view->count = (uint32_t)count;
	view->entry_bytes = 24;
	return true;
}

/* Since then: the sizes are powers of two, and keys that are all texts have no hash beside
 * them. */
static bool open_narrow(const unsigned char *head, struct dict_view *view)
{
	uint8_t size_log2 = head[8], index_bytes_log2 = head[9], kind = head[10];
	uint64_t count = load_u64(head + 24);

	if (size_log2 > SIZE_LOG2_MAX || index_bytes_log2 > SIZE_LOG2_MAX + 3 || kind > 2 ||
	    count > 1ull << size_log2)
		return false;
	view->entries = view->keys + 32 + (1ull << index_bytes_log2);
	view->count = (uint32_t)count;
	view->entry_bytes = kind == 0 ? 24 : 16;
	return true;
}

bool dict_open_keys(const struct walker *walker, py_addr keys, py_addr values, struct dict_view *view)
{
	unsigned char head[HEAD_BYTES];

	view->keys = keys;
	view->values = values;
	if (!read_bytes(walker, keys, head, sizeof(head)))
		return false;
	return walker->layout->version >= 0x030b ? open_narrow(head, view) : open_wide(head, view);
}

bool dict_open(const struct walker *walker, py_addr dict, struct dict_view *view)
{
	py_addr keys, values;

	return dict_find_keys(walker, dict, &keys, &values) && dict_open_keys(walker, keys, values, view);
}

py_addr dict_entry_place(const struct dict_view *view, uint32_t entry)
{
	return view->entries + (uint64_t)(entry + 1) * view->entry_bytes - 16;
}

uint32_t dict_read(const struct walker *walker, const struct dict_view *view, uint32_t from,
		   struct dict_entry *entries)
{
	unsigned char bytes[DICT_AT_ONCE * 24];
	py_addr values[DICT_AT_ONCE];
	uint32_t size = view->entry_bytes;

	if (from >= view->count)
		return 0;
	uint32_t count = view->count - from < DICT_AT_ONCE ? view->count - from : DICT_AT_ONCE;
	if (!read_bytes(walker, view->entries + (uint64_t)from * size, bytes, (size_t)count * size) ||
	    (view->values != 0 &&
	     !read_bytes(walker, view->values + (uint64_t)from * 8, values, (size_t)count * 8)))
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		const unsigned char *at = bytes + (i + 1) * size - 16;

		entries[i].key = load_u64(at);
		entries[i].value = view->values != 0 ? values[i] : load_u64(at + 8);
	}
	return count;
}

/* A str of characters of one byte, compact, ASCII, with this text. */
static bool is_text(const struct py_layout *layout, const unsigned char *object, const char *text,
		    size_t length)
{
	uint32_t state = load_u32(object + layout->unicode_state) >> layout->unicode_kind_shift;

	return (state & 31) == (1 | 8 | 16) && load_u64(object + layout->unicode_length) == length &&
	       memcmp(object + layout->unicode_ascii_data, text, length) == 0;
}

/* Keys are compared as they lie in memory, all in one call. */
uint32_t dict_find_text(const struct walker *walker, const struct dict_entry *entries, uint32_t count,
			const char *text)
{
	const struct py_layout *layout = walker->layout;
	const struct mem_reader *reader = walker->reader;
	unsigned char objects[DICT_AT_ONCE][TEXT_BYTES];
	struct iovec dst[DICT_AT_ONCE], src[DICT_AT_ONCE];
	size_t length = strlen(text), size = layout->unicode_ascii_data + length;
	uint32_t numbers[DICT_AT_ONCE], wanted = 0, done = 0;

	if (size > TEXT_BYTES)
		return count;
	for (uint32_t i = 0; i < count; i++) {
		if (!is_pointer(entries[i].key))
			continue;
		dst[wanted] = (struct iovec){ objects[wanted], size };
		src[wanted] = (struct iovec){ (void *)(uintptr_t)entries[i].key, size };
		numbers[wanted++] = i;
	}
	/* One that cannot be read (a short text at the end of a page) is passed over. */
	for (; done < wanted; done++) {
		size_t got = reader->read_many(reader, dst + done, src + done, wanted - done);

		for (; got > 0; got--, done++) {
			if (is_text(layout, objects[done], text, length))
				return numbers[done];
		}
	}
	return count;
}

bool dict_search(const struct walker *walker, const struct dict_view *view, const char *text,
		 uint32_t *at, struct dict_entry *found)
{
	struct dict_entry entries[DICT_AT_ONCE];
	uint32_t count;

	while ((count = dict_read(walker, view, *at, entries)) > 0) {
		uint32_t number = dict_find_text(walker, entries, count, text);

		*at += number;
		if (number < count) {
			*found = entries[number];
			return true;
		}
	}
	return false;
}
