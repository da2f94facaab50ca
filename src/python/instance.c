/* instance.c - see instance.h.
 *
 * The offsets hold for 64-bit Linux and all versions, but those in the small
 * table.  tests/integration/test_threads.py reads names on every version. */
#include "python/instance.h"

#include <string.h>

#include "python/bits.h"

#define TYPE_BASICSIZE 32u
#define TYPE_FLAGS 168u
#define TYPE_DICTOFFSET 288u
#define FLAG_INLINE_VALUES (1u << 2) /* 3.13+ */
#define FLAG_MANAGED_DICT (1u << 4)  /* 3.11+ */
#define DICT_KEYS 32u
#define DICT_VALUES 40u
#define MANAGED_DICT_BEFORE 24u
#define MANAGED_VALUES_BEFORE 32u /* 3.11 */

#define MAX_KEYS 128u
#define MAX_KEY_BYTES 64u
#define MAX_CHUNKS 64u
#define MAX_FRAME_HOPS 4096u
#define CHUNK_FIRST_FRAME 32u /* in the oldest chunk of the frame stack */

/* Where a class has the keys of its objects (3.11+), where a frame object has
 * its variables (before). */
static const struct {
	uint16_t version;
	uint16_t cached_keys, frame_variables;
} rows[] = {
	{ 0x0307, 0, 360 }, { 0x0308, 0, 360 }, { 0x0309, 0, 360 },
	{ 0x030a, 0, 352 }, { 0x030b, 872, 0 }, { 0x030c, 880, 0 }, { 0x030d, 880, 0 },
	{ 0x030e, 880, 0 }, { 0x030f, 888, 0 },
};

static bool read_word(const struct walker *walker, py_addr addr, uint64_t *value)
{
	return walker->reader->read(walker->reader, addr, value, sizeof(*value));
}

/* The keys of a dictionary, one after the other. */
struct keys {
	py_addr entries;
	uint32_t count;
	uint32_t entry_bytes, key_at; /* the value follows the key */
};

/* Before 3.11 the size of the hash table is kept, and each entry has a hash. */
static bool keys_read_old(const unsigned char *head, struct keys *keys, uint64_t *index_bytes)
{
	uint64_t size = load_u64(head + 8);
	*index_bytes = size * (size <= 0xff ? 1 : size <= 0xffff ? 2 : 4);
	keys->count = (uint32_t)load_u64(head + 32);
	keys->entry_bytes = 24;
	keys->key_at = 8;
	return size <= 1u << 16 && load_u64(head + 32) <= MAX_KEYS;
}

static bool keys_read_new(const unsigned char *head, struct keys *keys, uint64_t *index_bytes)
{
	uint8_t log2_bytes = head[9], kind = head[10];
	bool has_hash = kind == 0;
	*index_bytes = 1ull << (log2_bytes & 31);
	keys->count = (uint32_t)load_u64(head + 24);
	keys->entry_bytes = has_hash ? 24 : 16;
	keys->key_at = has_hash ? 8 : 0;
	return log2_bytes <= 20 && kind <= 2 && load_u64(head + 24) <= MAX_KEYS;
}

static bool keys_read(const struct walker *walker, py_addr addr, struct keys *keys)
{
	unsigned char head[40];
	uint64_t index_bytes;
	bool is_old = walker->layout->version < 0x030b;
	if (!is_pointer(addr) || !walker->reader->read(walker->reader, addr, head, sizeof(head)))
		return false;
	if (!(is_old ? keys_read_old(head, keys, &index_bytes)
		     : keys_read_new(head, keys, &index_bytes)))
		return false;
	keys->entries = addr + (is_old ? 40 : 32) + index_bytes;
	return true;
}

static bool is_key(const struct walker *walker, py_addr key, const char *name)
{
	unsigned char bytes[MAX_KEY_BYTES];
	struct object_room room = { bytes, sizeof(bytes) };
	const char *text;
	uint32_t size;
	return object_copy_str(walker, key, &room, &text, &size) && size == strlen(name) &&
	       memcmp(text, name, size) == 0;
}

/* The value of the key: in values, or where there are none beside the key. */
static py_addr keys_find(const struct walker *walker, py_addr addr, py_addr values,
			 const char *name)
{
	struct keys keys;
	uint64_t value = 0;
	if (!keys_read(walker, addr, &keys))
		return 0;
	for (uint32_t i = 0; i < keys.count; i++) {
		uint64_t entry[2];
		py_addr at = keys.entries + (uint64_t)i * keys.entry_bytes + keys.key_at;
		if (!walker->reader->read(walker->reader, at, entry, sizeof(entry)))
			return 0;
		if (!is_key(walker, entry[0], name))
			continue;
		if (values == 0)
			value = entry[1];
		else if (!read_word(walker, values + 8ull * i, &value))
			return 0;
		return is_pointer(value) ? value : 0;
	}
	return 0;
}

/* From 3.13 on values begin with four bytes about them. */
static py_addr first_value(const struct walker *walker, py_addr values)
{
	return values == 0 || walker->layout->version < 0x030d ? values : values + 8;
}

static bool dict_find_keys(const struct walker *walker, py_addr dict, py_addr *keys,
			   py_addr *values)
{
	if (!is_pointer(dict) || !read_word(walker, dict + DICT_KEYS, keys) ||
	    !read_word(walker, dict + DICT_VALUES, values))
		return false;
	*values = first_value(walker, *values);
	return true;
}

/* The values of an object that has no dictionary (yet), or 0; *dict is the
 * dictionary if it has one. */
static py_addr find_values(const struct walker *walker, py_addr object, py_addr type,
			   uint64_t flags, uint64_t *dict)
{
	unsigned version = walker->layout->version;
	uint64_t word, size;
	if (!read_word(walker, object - MANAGED_DICT_BEFORE, dict))
		return 0;
	if (version == 0x030b)
		return read_word(walker, object - MANAGED_VALUES_BEFORE, &word) ? word : 0;
	if (version == 0x030c) {
		/* One word for both; an odd one is that of values, less one. */
		word = *dict;
		*dict = word & 1 ? 0 : word;
		return word & 1 ? word + 1 : 0;
	}
	if (*dict != 0 || (flags & FLAG_INLINE_VALUES) == 0 ||
	    !read_word(walker, type + TYPE_BASICSIZE, &size))
		return 0;
	return object + size;
}

static uint32_t row_of(const struct walker *walker)
{
	uint32_t count = sizeof(rows) / sizeof(rows[0]), i = 0;
	while (i < count && rows[i].version != walker->layout->version)
		i++;
	return walker->layout->free_threaded ? count : i;
}

bool instance_find_keys(const struct walker *walker, py_addr object, py_addr *keys,
			py_addr *values)
{
	uint32_t row = row_of(walker);
	uint64_t type, flags, offset, dict = 0;
	if (row == sizeof(rows) / sizeof(rows[0]) || !is_pointer(object) ||
	    !read_word(walker, object + walker->layout->object_type, &type) || !is_pointer(type) ||
	    !read_word(walker, type + TYPE_FLAGS, &flags))
		return false;
	if (rows[row].cached_keys != 0 && (flags & FLAG_MANAGED_DICT) != 0) {
		*values = first_value(walker, find_values(walker, object, type, flags, &dict));
		if (*values != 0 && read_word(walker, type + rows[row].cached_keys, keys))
			return true;
	} else if (!read_word(walker, type + TYPE_DICTOFFSET, &offset) || offset == 0 ||
		   offset > 1u << 16 || !read_word(walker, object + offset, &dict)) {
		return false;
	}
	return dict_find_keys(walker, dict, keys, values);
}

py_addr instance_attribute(const struct walker *walker, py_addr object, const char *name)
{
	py_addr keys, values;
	return instance_find_keys(walker, object, &keys, &values)
		       ? keys_find(walker, keys, values, name)
		       : 0;
}

/* Where the variables of the outermost frame lie, if it runs this code; or 0. */
static py_addr outermost_variables(const struct walker *walker, py_addr tstate, py_addr code)
{
	const struct py_layout *layout = walker->layout;
	bool is_object = layout->frame_kind == PY_FRAME_OBJECT;
	uint64_t frame, found, before;
	uint32_t row = row_of(walker);
	if (row == sizeof(rows) / sizeof(rows[0]) ||
	    !read_word(walker, tstate + (is_object ? layout->thread_frame
						  : layout->thread_datastack_chunk), &frame))
		return 0;
	/* The frames one by one; from 3.11 on the chunks of the frame stack, in the
	 * oldest of which the outermost frame comes first. */
	uint32_t hops = is_object ? MAX_FRAME_HOPS : MAX_CHUNKS;
	while (hops-- > 0 && is_pointer(frame) &&
	       read_word(walker, frame + (is_object ? layout->frame_previous : 0), &before) &&
	       before != 0)
		frame = before;
	if (!is_object)
		frame += CHUNK_FIRST_FRAME;
	if (!is_pointer(frame) || !read_word(walker, frame + layout->frame_code, &found))
		return 0;
	if (layout->executable_tagged)
		found &= ~7ull;
	if (found != code)
		return 0;
	return frame + (is_object ? rows[row].frame_variables : layout->frame_specials);
}

bool instance_thread_name(const struct walker *walker, py_addr tstate, py_addr outermost_code,
			  struct object_room *room, const char **text, uint32_t *size)
{
	uint64_t thread;
	py_addr variables = outermost_variables(walker, tstate, outermost_code);
	if (variables == 0 || !read_word(walker, variables, &thread))
		return false;
	/* 3.14+: the low bits of a variable are not part of the address. */
	py_addr name = instance_attribute(walker, thread & ~7ull, "_name");
	return name != 0 && object_copy_str(walker, name, room, text, size) && *size > 0;
}
