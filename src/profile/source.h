/* source.h - Python source text, whatever its encoding.
 *
 * Follows PEP 263: a byte order mark, or a coding comment in the first two
 * lines, else UTF-8.  What cannot be decoded becomes U+FFFD; nothing here
 * fails because of what a file contains.  Line ends become "\n". */
#ifndef HEATLINE_PROFILE_SOURCE_H
#define HEATLINE_PROFILE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "profile/model.h"

#define SOURCE_MAX_BYTES ((size_t)8 << 20)

/* The text of a file, or of one in a zip archive ("app.pyz/module.py"), as UTF-8 without zero
 * bytes, terminated; the caller frees.  NULL when there is no such regular file, it may not be read, or it
 * is larger than SOURCE_MAX_BYTES. */
char *source_load(const char *path, size_t *size);

/* The same for bytes already read; never NULL. */
char *source_decode(const char *bytes, size_t size, size_t *text_size);

/* Where each line begins.  starts has count + 1 entries: line n (from 1) is
 * text[starts[n - 1] .. starts[n]), its "\n" included. */
struct source_lines {
	const char *text; /* borrowed */
	uint32_t *starts; /* owned */
	uint32_t count;
};

void source_lines_init(struct source_lines *lines, const char *text, size_t size);
void source_lines_fini(struct source_lines *lines);

/* The text of line n without its "\n", not terminated; "" and size 0 when
 * there is no such line. */
const char *source_line(const struct source_lines *lines, uint32_t line, size_t *size);

/* The text of a line of a file in a profile, from its source or from what a
 * reduced profile kept; as source_line.  Slow for many lines: it searches. */
const char *source_file_line(const struct profile_file *file, uint32_t line, size_t *size);

/* Whether the lines and functions that the file has figures for can be those of this text:
 * they are there, lines hold code, functions begin where they say. */
bool source_agrees(const char *text, size_t size, const struct profile_file *file);

/* Loads the sources of files in scope that have figures, the hottest first,
 * until total_bytes of text are held; also finds the regions of their lines. */
void source_load_hottest(struct profile *profile, size_t total_bytes);

#endif
