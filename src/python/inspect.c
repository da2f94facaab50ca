/* inspect.c - see inspect.h. */
#include "python/inspect.h"

#include <string.h>

#include "python/bits.h"
#include "python/objects.h"

/* The same in all versions: where a type has its name, sizes and flags, behind the head. */
#define TYPE_NAME 8u
#define TYPE_BASIC_SIZE 16u
#define TYPE_FLAGS 152u
#define TYPE_DICT_OFFSET 272u
#define TYPE_BYTES_READ 280u

#define DIGIT_BITS 30u

static bool read_bytes(const struct walker *walker, py_addr addr, void *to, size_t size)
{
	return is_pointer(addr) && walker->reader->read(walker->reader, addr, to, size);
}

static bool read_pointer(const struct walker *walker, py_addr addr, py_addr *value)
{
	return read_bytes(walker, addr, value, sizeof(*value));
}

/* ---- types, numbers, texts ---- */

/* Copies a C string up to where its page can be read. */
static bool read_c_text(const struct walker *walker, py_addr addr, char *text, size_t size)
{
	const struct mem_reader *reader = walker->reader;
	size_t used = 0;

	/* Eight bytes at a time: it may end just before an unmapped page. */
	while (used < size - 1) {
		size_t part = 8 - ((addr + used) & 7);

		part = part < size - 1 - used ? part : size - 1 - used;
		if (!reader->read(reader, addr + used, text + used, part))
			return false;
		if (memchr(text + used, '\0', part) != NULL)
			return true;
		used += part;
	}
	text[used] = '\0';
	return true;
}

bool inspect_type_of(const struct walker *walker, py_addr object, struct inspect_type *type)
{
	unsigned char bytes[TYPE_BYTES_READ];
	py_addr address;

	if (!read_pointer(walker, object + walker->layout->object_type, &address) ||
	    !read_bytes(walker, address + py_head_bytes(walker->layout), bytes, sizeof(bytes)))
		return false;
	type->address = address;
	type->flags = load_u64(bytes + TYPE_FLAGS);
	type->basic_size = (int64_t)load_u64(bytes + TYPE_BASIC_SIZE);
	type->dict_offset = (int64_t)load_u64(bytes + TYPE_DICT_OFFSET);
	return read_c_text(walker, load_u64(bytes + TYPE_NAME), type->name, sizeof(type->name)) &&
	       type->name[0] != '\0';
}

bool inspect_text(const struct walker *walker, py_addr object, char *text, size_t size)
{
	struct object_room room = { (unsigned char *)text, size - 1 };
	const char *at;
	uint32_t bytes;

	if (!is_pointer(object) || !object_copy_str(walker, object, &room, &at, &bytes))
		return false;
	text[bytes] = '\0';
	return true;
}

bool inspect_int_digits(const struct walker *walker, py_addr object, int64_t *digits)
{
	uint64_t size;

	if (!read_bytes(walker, object + py_head_bytes(walker->layout), &size, sizeof(size)))
		return false;
	/* 3.12 keeps the sign in the two lowest bits: 0, none, 2 for minus. */
	if (walker->layout->version >= 0x030c)
		*digits = (size & 3) == 1 ? 0 : (size & 3) == 2 ? -(int64_t)(size >> 3) : (int64_t)(size >> 3);
	else
		*digits = (int64_t)size;
	return true;
}

bool inspect_int(const struct walker *walker, py_addr object, int64_t *value)
{
	uint32_t parts[3] = { 0, 0, 0 };
	uint64_t sum = 0;
	int64_t digits;

	if (!inspect_int_digits(walker, object, &digits) || digits < -3 || digits > 3)
		return false;
	uint64_t count = (uint64_t)(digits < 0 ? -digits : digits);
	if (count > 0 && !read_bytes(walker, object + py_head_bytes(walker->layout) + 8, parts,
				     count * sizeof(parts[0])))
		return false;
	if (parts[2] > 7)
		return false;
	for (uint64_t i = count; i-- > 0;)
		sum = sum << DIGIT_BITS | (parts[i] & ((1u << DIGIT_BITS) - 1));
	if (sum > INT64_MAX)
		return false;
	*value = digits < 0 ? -(int64_t)sum : (int64_t)sum;
	return true;
}

/* ---- dictionaries ---- */

bool inspect_dict_open(const struct walker *walker, py_addr object, struct dict_view *dict)
{
	struct inspect_type type;

	return inspect_type_of(walker, object, &type) && (type.flags & FLAG_DICT) != 0 &&
	       dict_open(walker, object, dict);
}

static py_addr search_text(const struct walker *walker, const struct dict_view *dict, const char *text)
{
	struct dict_entry found;
	uint32_t at = 0;

	return dict_search(walker, dict, text, &at, &found) ? found.value : 0;
}

py_addr inspect_dict_get(const struct walker *walker, py_addr object, const char *key)
{
	struct dict_view dict;

	return inspect_dict_open(walker, object, &dict) ? search_text(walker, &dict, key) : 0;
}

/* ---- attributes ---- */

/* 3.11 and later: a dictionary at a place before the object; else values, beside the
 * names that its class keeps. */
static bool find_managed_keys(const struct walker *walker, py_addr object, const struct inspect_type *type,
			      py_addr *keys, py_addr *values)
{
	unsigned version = walker->layout->version;
	py_addr dict = 0, own = 0;

	if (!read_pointer(walker, object - 24, &dict) ||
	    (version == 0x030b && !read_pointer(walker, object - 32, &own)))
		return false;
	if (version == 0x030c && (dict & 1) != 0) {
		own = dict + 1;
		dict = 0;
	}
	if (dict != 0)
		return dict_find_keys(walker, dict, keys, values);
	if (version >= 0x030d && (type->flags & FLAG_INLINE_VALUES) != 0 && type->basic_size > 0 &&
	    type->basic_size < 1 << 20)
		own = object + (uint64_t)type->basic_size;
	*values = dict_values_start(walker, own);
	return own != 0 && walker->layout->type_cached_keys != PY_ABSENT &&
	       read_pointer(walker, type->address + walker->layout->type_cached_keys, keys);
}

bool inspect_find_keys(const struct walker *walker, py_addr object, py_addr *keys, py_addr *values)
{
	struct inspect_type type;
	py_addr dict;

	if (walker->layout->free_threaded || !inspect_type_of(walker, object, &type))
		return false; /* builds without the GIL keep them otherwise */
	if (walker->layout->version >= 0x030b && (type.flags & FLAG_MANAGED_DICT) != 0)
		return find_managed_keys(walker, object, &type, keys, values);
	return type.dict_offset > 0 && type.dict_offset <= 1 << 20 &&
	       read_pointer(walker, object + (uint64_t)type.dict_offset, &dict) &&
	       dict_find_keys(walker, dict, keys, values);
}

py_addr inspect_attribute(const struct walker *walker, py_addr object, const char *name)
{
	struct dict_view dict;
	py_addr keys, values;

	if (!inspect_find_keys(walker, object, &keys, &values) ||
	    !dict_open_keys(walker, keys, values, &dict))
		return 0;
	return search_text(walker, &dict, name);
}

py_addr inspect_module_variable(const struct walker *walker, py_addr interpreter, const char *module,
				const char *name)
{
	py_addr modules, found, dict;

	if (walker->layout->interp_modules == PY_ABSENT ||
	    !read_pointer(walker, interpreter + walker->layout->interp_modules, &modules))
		return 0;
	found = inspect_dict_get(walker, modules, module);
	/* A module has its dictionary right behind its head. */
	if (found == 0 || !read_pointer(walker, found + py_head_bytes(walker->layout), &dict))
		return 0;
	return inspect_dict_get(walker, dict, name);
}
