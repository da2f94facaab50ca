/* book_index.c - find files, lines and functions of a profile by their keys. */
#include "profile/book_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

/* Names are interned, so the pointer is the name. */
struct function_key {
	const char *name;
	uint32_t file, first_line;
};

static uint64_t line_key(uint32_t file, uint32_t line)
{
	return (uint64_t)file << 32 | line;
}

static uint32_t *put_function(struct book *book, uint32_t file, const char *name,
			      uint32_t first_line, bool *is_new)
{
	struct function_key key;
	memset(&key, 0, sizeof(key));
	key.name = name;
	key.file = file;
	key.first_line = first_line;
	return map_bytes_put(&book->functions, &key, sizeof(key), is_new);
}

static void index_file(struct book *book, const struct profile_file *file, uint32_t index)
{
	*map_bytes_put(&book->files, file->path, strlen(file->path), NULL) = index;
	for (uint32_t i = 0; i < file->line_count; i++)
		*map_put(&book->lines, line_key(index, file->lines[i].line), NULL) = i;
	for (uint32_t i = 0; i < file->function_count; i++) {
		const struct profile_function *function = &file->functions[i];
		*put_function(book, index, function->name, function->first_line, NULL) = i;
	}
}

struct book *book_index(struct profile *profile)
{
	if (profile->book)
		return profile->book;
	struct book *book = mem_zalloc(1, sizeof(*book));
	for (uint32_t i = 0; i < profile->file_count; i++) {
		struct profile_file *file = &profile->files[i];
		index_file(book, file, i);
		for (uint32_t j = 0; j < file->line_count; j++)
			file->lines[j].mark = 0;
		for (uint32_t j = 0; j < file->function_count; j++)
			file->functions[j].mark = 0;
	}
	profile->book = book;
	return book;
}

void book_index_free(struct book *book)
{
	if (!book)
		return;
	map_bytes_fini(&book->files);
	map_fini(&book->lines);
	map_bytes_fini(&book->functions);
	free(book->nodes);
	free(book->seen);
	free(book->last);
	free(book->last_nodes);
	free(book);
}

struct profile_line *book_line(struct profile *profile, uint32_t file_index, uint32_t line)
{
	struct profile_file *file = &profile->files[file_index];
	bool is_new;
	uint64_t *at = map_put(&book_index(profile)->lines, line_key(file_index, line), &is_new);
	if (is_new) {
		*at = file->line_count;
		vec_reserve(file->lines, file->line_room, file->line_count);
		file->lines[file->line_count++] =
			(struct profile_line){.line = line, .sample_stride = 1};
	}
	return &file->lines[*at];
}

struct profile_function *book_function(struct profile *profile, uint32_t file_index,
				       const char *name, uint32_t first_line)
{
	struct profile_file *file = &profile->files[file_index];
	bool is_new;
	uint32_t *at = put_function(book_index(profile), file_index, name, first_line, &is_new);
	if (is_new) {
		*at = file->function_count;
		vec_reserve(file->functions, file->function_room, file->function_count);
		file->functions[file->function_count++] =
			(struct profile_function){.name = name, .first_line = first_line};
	}
	return &file->functions[*at];
}
