/* task_objects.c - types and dicts of a target.
 *
 * A dict is searched entry by entry: the hashes of strings are salted, and
 * this is done rarely. */
#include <string.h>

#include "python/bits.h"
#include "python/inspect.h"
#include "python/task_parts.h"

#define KEYS_MAX 20000u
#define KEYS_BATCH 64u
#define KEY_BYTES 128u /* head and text of a key that is looked for */
#define BASES_MAX 4u
#define HEAP_TYPE (1ull << 9) /* of tp_flags */

bool task_read_word(const struct task_finder *finder, py_addr addr, uint64_t *word)
{
	const struct mem_reader *reader = finder->walker->reader;

	return is_pointer(addr) && reader->read(reader, addr, word, sizeof(*word));
}

py_addr task_read_pointer(const struct task_finder *finder, py_addr addr)
{
	uint64_t word;

	return task_read_word(finder, addr, &word) && is_pointer(word) ? word : 0;
}

/* --- types --- */

/* Types of the interpreter itself; a class of the program is none of these,
 * whatever its name. */
static enum object_kind static_kind(const char *name)
{
	static const struct {
		const char *name;
		enum object_kind kind;
	} kinds[] = {
		{ "coroutine", OBJECT_COROUTINE },
		{ "async_generator", OBJECT_COROUTINE },
		{ "generator", OBJECT_GENERATOR },
		{ "coroutine_wrapper", OBJECT_WRAPPER },
		{ "async_generator_asend", OBJECT_WRAPPER },
		{ "async_generator_athrow", OBJECT_WRAPPER },
		{ "anext_awaitable", OBJECT_WRAPPER },
		{ "set", OBJECT_SET },
		{ "int", OBJECT_INT },
		{ "str", OBJECT_STR },
		{ "float", OBJECT_FLOAT },
		{ "NoneType", OBJECT_NONE },
		{ "member_descriptor", OBJECT_MEMBER },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return kinds[i].kind;
	}
	return OBJECT_OTHER;
}

/* Which of the task types this is or is made from, or OBJECT_OTHER. */
static enum object_kind task_kind(const struct task_finder *finder, py_addr type)
{
	for (unsigned i = 0; i < BASES_MAX && type != 0; i++) {
		if (type == finder->task_type)
			return OBJECT_TASK;
		if (type == finder->python_task_type)
			return OBJECT_PYTHON_TASK;
		if (type == finder->trio.task_type)
			return OBJECT_TRIO_TASK;
		type = task_read_pointer(finder, type + TYPE_BASE);
	}
	return OBJECT_OTHER;
}

static enum object_kind type_find_kind(const struct task_finder *finder, py_addr type)
{
	const struct mem_reader *reader = finder->walker->reader;
	uint64_t flags, name;
	char text[32] = "";
	enum object_kind kind = task_kind(finder, type);

	if (kind != OBJECT_OTHER)
		return kind;
	if (!task_read_word(finder, type + TYPE_FLAGS, &flags) || (flags & HEAP_TYPE) != 0 ||
	    !task_read_word(finder, type + TYPE_NAME, &name) ||
	    !reader->read(reader, name, text, sizeof(text) - 1))
		return OBJECT_OTHER;
	return static_kind(text);
}

enum object_kind task_type_kind(struct task_finder *finder, py_addr type)
{
	uint32_t at = (uint32_t)((type >> 4) * 0x9e3779b97f4a7c15ull >> 58) & (TASK_TYPES - 1);

	if (!is_pointer(type))
		return OBJECT_OTHER;
	if (finder->types[at].type != type) {
		finder->types[at].type = type;
		finder->types[at].kind = (uint8_t)type_find_kind(finder, type);
	}
	return finder->types[at].kind;
}

enum object_kind task_object_kind(struct task_finder *finder, py_addr addr)
{
	uint64_t type;

	return task_read_word(finder, addr + finder->walker->layout->object_type, &type)
		       ? task_type_kind(finder, type)
		       : OBJECT_OTHER;
}

/* --- dicts --- */

/* Where the entries of a dict lie. */
struct dict_view {
	py_addr keys;    /* the table */
	py_addr entries; /* in it */
	uint32_t count;
	uint32_t size; /* bytes of an entry */
	uint32_t key;  /* offset of the key in it; the value follows */
};

/* Before 3.11: reference count, size, function, usable, entries, then the
 * indexes, as wide as the size demands. */
static bool view_wide(const unsigned char *head, py_addr keys, struct dict_view *view)
{
	uint64_t size = load_u64(head + 8), count = load_u64(head + 32);
	uint64_t width = size <= 0xff ? 1 : size <= 0xffff ? 2 : 4;

	if (size > 1u << 24 || (size & (size - 1)) != 0 || count > size)
		return false;
	*view = (struct dict_view){ keys, keys + 40 + size * width, (uint32_t)count, 24, 8 };
	return true;
}

/* Since then: the sizes are powers of two, and keys that are all strings have
 * no hash beside them. */
static bool view_narrow(const unsigned char *head, py_addr keys, struct dict_view *view)
{
	uint8_t index_bytes = head[9], kind = head[10];
	uint64_t count = load_u64(head + 24);

	if (head[8] > 24 || index_bytes > 27 || kind > 2 || count > 1ull << head[8])
		return false;
	*view = (struct dict_view){ keys, keys + 32 + (1ull << index_bytes), (uint32_t)count,
				    kind == 0 ? 24 : 16, kind == 0 ? 8 : 0 };
	return true;
}

static bool keys_open(const struct task_finder *finder, py_addr keys, struct dict_view *view)
{
	const struct mem_reader *reader = finder->walker->reader;
	unsigned char head[40];

	if (!is_pointer(keys) || !reader->read(reader, keys, head, sizeof(head)))
		return false;
	return finder->layout.has_wide_keys ? view_wide(head, keys, view)
					    : view_narrow(head, keys, view);
}

static bool dict_open(const struct task_finder *finder, py_addr dict, struct dict_view *view)
{
	const struct mem_reader *reader = finder->walker->reader;
	uint64_t links[2];

	return is_pointer(dict) && reader->read(reader, dict + DICT_KEYS, links, sizeof(links)) &&
	       links[1] == 0 && keys_open(finder, links[0], view);
}

/* Which of the str objects has this text; count when none. */
static uint32_t find_text(const struct task_finder *finder, const py_addr *keys, uint32_t count,
			  const char *text)
{
	const struct py_layout *layout = finder->walker->layout;
	const struct mem_reader *reader = finder->walker->reader;
	unsigned char heads[KEYS_BATCH][KEY_BYTES];
	struct iovec dst[KEYS_BATCH], src[KEYS_BATCH];
	size_t length = strlen(text), size = layout->unicode_ascii_data + length;
	uint32_t places[KEYS_BATCH], wanted = 0, done = 0;

	if (size > KEY_BYTES)
		return count;
	/* Entries that were deleted have no key. */
	for (uint32_t i = 0; i < count; i++) {
		if (!is_pointer(keys[i]))
			continue;
		dst[wanted] = (struct iovec){ heads[wanted], size };
		src[wanted] = (struct iovec){ (void *)(uintptr_t)keys[i], size };
		places[wanted++] = i;
	}
	/* One that cannot be read is passed over. */
	for (; done < wanted; done++) {
		size_t got = reader->read_many(reader, dst + done, src + done, wanted - done);

		for (; got > 0; got--, done++) {
			if (load_u64(heads[done] + layout->unicode_length) == length &&
			    memcmp(heads[done] + layout->unicode_ascii_data, text, length) == 0)
				return places[done];
		}
	}
	return count;
}

/* Looks through the entries that were not passed yet; the value, or 0, and the place of one that
 * was found. */
static py_addr find_entry(const struct task_finder *finder, const struct dict_view *view,
			  const char *key, struct task_passed *passed, struct task_place *place)
{
	const struct mem_reader *reader = finder->walker->reader;
	unsigned char entries[KEYS_BATCH * 24];
	py_addr keys[KEYS_BATCH];

	for (uint32_t start = passed->count; start < view->count; start += KEYS_BATCH) {
		uint32_t part = view->count - start < KEYS_BATCH ? view->count - start : KEYS_BATCH;
		uint32_t found;

		if (!reader->read(reader, view->entries + (uint64_t)start * view->size, entries,
				  (size_t)part * view->size))
			return 0;
		for (uint32_t i = 0; i < part; i++)
			keys[i] = load_u64(entries + i * view->size + view->key);
		found = find_text(finder, keys, part, key);
		if (found < part) {
			uint32_t at = found * view->size + view->key;
			py_addr value = load_u64(entries + at + 8);

			place->entry = view->entries + (uint64_t)start * view->size + at;
			place->key = keys[found];
			return is_pointer(value) ? value : 0;
		}
	}
	passed->count = view->count;
	return 0;
}

py_addr task_dict_text(const struct task_finder *finder, py_addr dict, const char *key)
{
	struct task_passed passed = { 0 };

	return task_dict_new_text(finder, dict, key, &passed);
}

py_addr task_dict_new_text(const struct task_finder *finder, py_addr dict, const char *key,
			   struct task_passed *passed)
{
	struct task_place place;
	struct dict_view view;

	if (!dict_open(finder, dict, &view) || view.count > KEYS_MAX)
		return 0;
	if (passed->entries != view.entries)
		*passed = (struct task_passed){ view.entries, 0 };
	return find_entry(finder, &view, key, passed, &place);
}

/* The value where the key was found before; 0: it is not there any more. */
static py_addr read_place(const struct task_finder *finder, py_addr at,
			  const struct task_place *place)
{
	const struct mem_reader *reader = finder->walker->reader;
	uint64_t dict, links[2], entry[2];
	struct iovec dst[3] = { { &dict, sizeof(dict) }, { links, sizeof(links) },
				{ entry, sizeof(entry) } };
	struct iovec src[3] = { { (void *)(uintptr_t)at, sizeof(dict) },
				{ (void *)(uintptr_t)(place->dict + DICT_KEYS), sizeof(links) },
				{ (void *)(uintptr_t)place->entry, sizeof(entry) } };

	return place->entry != 0 && reader->read_many(reader, dst, src, 3) == 3 &&
			       dict == place->dict && links[0] == place->keys && links[1] == 0 &&
			       entry[0] == place->key && is_pointer(entry[1])
		       ? entry[1]
		       : 0;
}

py_addr task_dict_text_again(const struct task_finder *finder, py_addr at, const char *key,
			     struct task_place *place)
{
	struct task_passed passed = { 0 };
	struct dict_view view;
	py_addr value = read_place(finder, at, place);

	if (value != 0)
		return value;
	*place = (struct task_place){ .dict = task_read_pointer(finder, at) };
	if (!dict_open(finder, place->dict, &view) || view.count > KEYS_MAX)
		return 0;
	place->keys = view.keys;
	return find_entry(finder, &view, key, &passed, place);
}

bool task_find_attributes(const struct task_finder *finder, py_addr object,
			  const char *const *names, uint32_t count, py_addr *values)
{
	const struct mem_reader *reader = finder->walker->reader;
	unsigned char entries[KEYS_BATCH * 24];
	py_addr keys[KEYS_BATCH], keys_at, values_at;
	struct dict_view view;

	if (!inspect_find_keys(finder->walker, object, &keys_at, &values_at) ||
	    !keys_open(finder, keys_at, &view) || view.count > KEYS_BATCH ||
	    !reader->read(reader, view.entries, entries, (size_t)view.count * view.size))
		return false;
	for (uint32_t i = 0; i < view.count; i++)
		keys[i] = load_u64(entries + i * view.size + view.key);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t found = find_text(finder, keys, view.count, names[i]);

		values[i] = 0;
		if (found < view.count)
			values[i] = values_at != 0
					    ? task_read_pointer(finder, values_at + 8ull * found)
					    : load_u64(entries + found * view.size + view.key + 8);
	}
	return true;
}

py_addr task_dict_object(const struct task_finder *finder, py_addr dict, py_addr key)
{
	const struct mem_reader *reader = finder->walker->reader;
	unsigned char entries[KEYS_BATCH * 24];
	struct dict_view view;

	if (!dict_open(finder, dict, &view))
		return 0;
	if (view.count > KEYS_BATCH)
		view.count = KEYS_BATCH;
	if (!reader->read(reader, view.entries, entries, (size_t)view.count * view.size))
		return 0;
	for (uint32_t i = 0; i < view.count; i++) {
		py_addr value = load_u64(entries + i * view.size + view.key + 8);

		if (load_u64(entries + i * view.size + view.key) == key && is_pointer(value))
			return value;
	}
	return 0;
}
