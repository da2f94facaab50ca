/* inspect.h - objects of a process, looked at from outside: types, numbers,
 * texts, dictionaries, attributes.
 *
 * Nothing is called in the process: what an object is follows from its type's
 * name and flags, and only the built-in types are read further.  The process
 * runs on meanwhile, so whatever is read may be gone or half made: each
 * function says no then, and lengths are bounded before they are used. */
#ifndef HEATLINE_PYTHON_INSPECT_H
#define HEATLINE_PYTHON_INSPECT_H

#include "python/dicts.h"
#include "python/walk.h"

/* Bits of a type's flags. */
#define FLAG_MANAGED_DICT (1u << 4)  /* 3.11+ */
#define FLAG_INLINE_VALUES (1u << 2) /* 3.13+ */
#define FLAG_HEAP (1u << 9)          /* made by a class statement */
#define FLAG_INT (1u << 24)
#define FLAG_LIST (1u << 25)
#define FLAG_TUPLE (1u << 26)
#define FLAG_BYTES (1u << 27)
#define FLAG_STR (1u << 28)
#define FLAG_DICT (1u << 29)

struct inspect_type {
	py_addr address;
	char name[80];      /* as its C structure has it: "int", "collections.deque" */
	uint64_t flags;     /* FLAG_ bits among others */
	int64_t basic_size; /* bytes of an instance */
	int64_t dict_offset;
};

bool inspect_type_of(const struct walker *walker, py_addr object, struct inspect_type *type);

/* The text of a str as UTF-8, terminated, cut to the room; false: none. */
bool inspect_text(const struct walker *walker, py_addr object, char *text, size_t size);

/* The value of an int; false when it is none or does not fit. */
bool inspect_int(const struct walker *walker, py_addr object, int64_t *value);

/* How many digits of 30 bits an int has, negative for a negative one. */
bool inspect_int_digits(const struct walker *walker, py_addr object, int64_t *digits);

/* The entries of an object that is a dictionary; see dicts.h. */
bool inspect_dict_open(const struct walker *walker, py_addr object, struct dict_view *dict);

/* What the dictionary has under this text, or 0. */
py_addr inspect_dict_get(const struct walker *walker, py_addr object, const char *key);

/* Where an instance keeps its attributes: the keys of a dictionary, and their
 * values, which stand beside the keys where *values is 0.  False: it has none. */
bool inspect_find_keys(const struct walker *walker, py_addr object, py_addr *keys, py_addr *values);

/* The attribute that an instance has itself, or 0. */
py_addr inspect_attribute(const struct walker *walker, py_addr object, const char *name);

/* A module of the interpreter, or 0; and one of its variables. */
py_addr inspect_module_variable(const struct walker *walker, py_addr interpreter, const char *module,
				const char *name);

#endif
