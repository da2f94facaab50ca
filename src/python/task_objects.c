/* task_objects.c - types and dicts of a target. */
#include <string.h>

#include "python/bits.h"
#include "python/dicts.h"
#include "python/inspect.h"
#include "python/task_parts.h"

#define KEYS_MAX 20000u
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

/* Looks through the entries that were not passed yet; the value, or 0, and the place of one that
 * was found. */
static py_addr find_entry(const struct task_finder *finder, const struct dict_view *view,
			  const char *key, struct task_passed *passed, struct task_place *place)
{
	struct dict_entry found;
	uint32_t at = passed->count;

	if (!dict_search(finder->walker, view, key, &at, &found)) {
		passed->count = at;
		return 0;
	}
	place->entry = dict_entry_place(view, at);
	place->key = found.key;
	return is_pointer(found.value) ? found.value : 0;
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

	if (!dict_open(finder->walker, dict, &view) || view.count > KEYS_MAX)
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
				{ (void *)(uintptr_t)(dict_links(finder->walker, place->dict)), sizeof(links) },
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
	if (!dict_open(finder->walker, place->dict, &view) || view.count > KEYS_MAX || view.values != 0)
		return 0;
	place->keys = view.keys;
	return find_entry(finder, &view, key, &passed, place);
}

bool task_find_attributes(const struct task_finder *finder, py_addr object,
			  const char *const *names, uint32_t count, py_addr *values)
{
	const struct walker *walker = finder->walker;
	struct dict_entry entries[DICT_AT_ONCE];
	py_addr keys_at, values_at;
	struct dict_view view;

	if (!inspect_find_keys(walker, object, &keys_at, &values_at) ||
	    !dict_open_keys(walker, keys_at, values_at, &view) || view.count > DICT_AT_ONCE ||
	    dict_read(walker, &view, 0, entries) != view.count)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t found = dict_find_text(walker, entries, view.count, names[i]);

		values[i] = found < view.count ? entries[found].value : 0;
	}
	return true;
}

py_addr task_dict_object(const struct task_finder *finder, py_addr dict, py_addr key)
{
	struct dict_entry entries[DICT_AT_ONCE];
	struct dict_view view;

	if (!dict_open(finder->walker, dict, &view))
		return 0;
	uint32_t count = dict_read(finder->walker, &view, 0, entries);
	for (uint32_t i = 0; i < count; i++) {
		if (entries[i].key == key && is_pointer(entries[i].value))
			return entries[i].value;
	}
	return 0;
}
