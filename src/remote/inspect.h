/* inspect.h - objects of a process, looked at from outside: types, numbers,
 * texts, dictionaries, attributes.
 *
 * Nothing is called in the process: what an object is follows from its type's
 * name and flags, and only the built-in types are read further.  The process
 * runs on meanwhile, so whatever is read may be gone or half made: each
 * function says no then, and lengths are bounded before they are used. */
#ifndef HEATLINE_REMOTE_INSPECT_H
#define HEATLINE_REMOTE_INSPECT_H

#include "remote/remote.h"

/* Bits of a type's flags. */
#define TYPE_MANAGED_DICT (1u << 4)  /* 3.11+ */
#define TYPE_INLINE_VALUES (1u << 2) /* 3.13+ */
#define TYPE_HEAP (1u << 9)          /* made by a class statement */
#define TYPE_INT (1u << 24)
#define TYPE_LIST (1u << 25)
#define TYPE_TUPLE (1u << 26)
#define TYPE_BYTES (1u << 27)
#define TYPE_STR (1u << 28)
#define TYPE_DICT (1u << 29)

struct inspect_type {
	py_addr address;
	char name[80];      /* as its C structure has it: "int", "collections.deque" */
	uint64_t flags;     /* TYPE_ bits among others */
	int64_t basic_size; /* bytes of an instance */
	int64_t dict_offset;
};

bool inspect_type_of(const struct remote *remote, py_addr object, struct inspect_type *type);

/* The text of a str as UTF-8, terminated, cut to the room; false: none. */
bool inspect_text(const struct remote *remote, py_addr object, char *text, size_t size);

/* The value of an int; false when it is none or does not fit. */
bool inspect_int(const struct remote *remote, py_addr object, int64_t *value);

/* How many digits of 30 bits an int has, negative for a negative one. */
bool inspect_int_digits(const struct remote *remote, py_addr object, int64_t *digits);

/* A dictionary's entries, unused ones among them. */
struct inspect_dict {
	py_addr entries;
	uint32_t count;
	uint32_t entry_size; /* 24 with the hash, or 16 */
	py_addr values;      /* kept apart from the keys, for instances; else 0 */
};

struct inspect_entry {
	py_addr key, value; /* 0: unused */
};

#define INSPECT_ENTRIES_MAX (1u << 20)
#define INSPECT_ENTRIES_AT_ONCE 64u

bool inspect_dict_open(const struct remote *remote, py_addr object, struct inspect_dict *dict);

/* Reads at most INSPECT_ENTRIES_AT_ONCE entries from `from` on; returns how
 * many, 0 at the end. */
uint32_t inspect_dict_read(const struct remote *remote, const struct inspect_dict *dict, uint32_t from,
			   struct inspect_entry *entries);

/* What the dictionary has under this text, or 0. */
py_addr inspect_dict_get(const struct remote *remote, py_addr object, const char *key);

/* The attribute that an instance has itself, or 0. */
py_addr inspect_attribute(const struct remote *remote, py_addr object, const char *name);

/* A module of the interpreter, or 0; and one of its variables. */
py_addr inspect_module_variable(const struct remote *remote, py_addr interpreter, const char *module,
				const char *name);

#endif
