/* dicts.h - dictionaries of a process, read from outside.
 *
 * One is searched entry by entry: the hashes of texts are salted.  The process runs
 * on meanwhile, so a table may be gone or half made: its counts are checked against
 * each other before they are used, and whatever cannot be read is passed over. */
#ifndef HEATLINE_PYTHON_DICTS_H
#define HEATLINE_PYTHON_DICTS_H

#include <stdbool.h>
#include <stdint.h>

#include "python/walk.h"

#define DICT_AT_ONCE 64u /* entries */

/* Where the entries of a dictionary lie. */
struct dict_view {
	py_addr keys;         /* the table of keys */
	py_addr entries;      /* in it */
	py_addr values;       /* apart from the keys, for instances; else 0 */
	uint32_t count;       /* of entries, unused ones among them */
	uint32_t entry_bytes; /* 24 with the hash, or 16 */
};

struct dict_entry {
	py_addr key, value; /* 0: unused */
};

/* Where a dict object has its keys, and its values if they are kept apart, else 0. */
bool dict_find_keys(const struct walker *walker, py_addr dict, py_addr *keys, py_addr *values);

/* The words that dict_find_keys reads lie here, for who reads them with others: the keys,
 * then what is kept apart. */
py_addr dict_links(const struct walker *walker, py_addr dict);

/* Values that an instance has, where they begin: a version keeps bookkeeping before them. */
py_addr dict_values_start(const struct walker *walker, py_addr values);

/* A dict object (its type is not looked at); or the keys and values of an instance. */
bool dict_open(const struct walker *walker, py_addr dict, struct dict_view *view);
bool dict_open_keys(const struct walker *walker, py_addr keys, py_addr values, struct dict_view *view);

/* Where the entry's key stands; where its value does if that is kept beside it, comes next. */
py_addr dict_entry_place(const struct dict_view *view, uint32_t entry);

/* Reads at most DICT_AT_ONCE entries from `from` on; returns how many, 0 at the end. */
uint32_t dict_read(const struct walker *walker, const struct dict_view *view, uint32_t from,
		   struct dict_entry *entries);

/* Which of at most DICT_AT_ONCE entries has this (ASCII) text as its key; count when none has. */
uint32_t dict_find_text(const struct walker *walker, const struct dict_entry *entries, uint32_t count,
			const char *text);

/* The first entry from *at on that has this text as its key, and *at is its number then.  False:
 * there is none up to *at, which is the end of what could be read. */
bool dict_search(const struct walker *walker, const struct dict_view *view, const char *text,
		 uint32_t *at, struct dict_entry *found);

#endif
