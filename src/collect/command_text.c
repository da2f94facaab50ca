/* command_text.c - see command_text.h. */
#include "collect/command_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/procfs.h"
#include "collect/helpers.h"
#include "profile/model.h"
#include "profile/scope.h"
#include "profile/source.h"

#define WORDS_MAX_BYTES ((size_t)256 << 10)
#define TEXT_FILE "<string>"

/* A decorated function begins at its first decorator. */
#define DECORATORS_MAX 16u

/* --- the command line --- */

static const char *next_word(const char *word, const char *end)
{
	const char *zero = memchr(word, '\0', (size_t)(end - word));
	return zero != NULL && zero + 1 < end ? zero + 1 : NULL;
}

/* Options stand before the program's own words; those of one letter may share a word,
 * and the last of them may have its value in it. */
const char *command_text_find(const char *words, size_t size)
{
	const char *end = words + size;
	if (size == 0 || end[-1] != '\0')
		return NULL;
	for (const char *word = next_word(words, end); word != NULL && word[0] == '-' && word[1] != '\0';
	     word = next_word(word, end)) {
		const char *letter = word + 1;
		if (*letter == '-') {
			if (strcmp(word, "--check-hash-based-pycs") == 0)
				word = next_word(word, end);
			if (word == NULL || strcmp(word, "--") == 0)
				return NULL;
			continue;
		}
		letter += strcspn(letter, "cmWX");
		bool has_value_here = *letter != '\0' && letter[1] != '\0';
		if (*letter == 'c')
			return has_value_here ? letter + 1 : next_word(word, end);
		if (*letter == 'm')
			return NULL;
		if (*letter != '\0' && !has_value_here)
			word = next_word(word, end);
		if (word == NULL)
			return NULL;
	}
	return NULL;
}

/* --- processes --- */

static char *read_text(pid_t pid, size_t *size)
{
	char *words = mem_alloc(WORDS_MAX_BYTES);
	ssize_t got = procfs_read(pid, "cmdline", words, WORDS_MAX_BYTES);
	const char *found = got > 0 && (size_t)got + 1 < WORDS_MAX_BYTES
				    ? command_text_find(words, (size_t)got)
				    : NULL;
	char *text = found != NULL ? source_decode(found, strlen(found), size) : NULL;
	free(words);
	return text;
}

void command_text_fini(struct command_text *text)
{
	free(text->text);
}

void command_text_meet(struct command_text *text, pid_t pid, const char *command)
{
	/* A forked child has its parent's, and a helper's is not the program's. */
	if (command == NULL || command == text->command || strstr(command, " -") == NULL ||
	    helpers_find(command) != NULL)
		return;
	size_t size = 0;
	char *found = read_text(pid, &size);
	if (found == NULL)
		return;
	if (text->text == NULL) {
		*text = (struct command_text){.command = command, .text = found, .size = size};
		return;
	}
	text->is_mixed = text->is_mixed || size != text->size || memcmp(found, text->text, size) != 0;
	free(found);
}

/* --- the profile --- */

/* "def name" and its like at the beginning of a line. */
static bool begins(const char *line, size_t size, const char *name)
{
	static const char *const words[] = {"async ", "def ", "class "};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		for (; size > 0 && (*line == ' ' || *line == '\t'); size--)
			line++;
		size_t word = strlen(words[i]);
		if (size > word && memcmp(line, words[i], word) == 0) {
			line += word;
			size -= word;
		}
	}
	return size >= strlen(name) && memcmp(line, name, strlen(name)) == 0;
}

/* Whether the function begins where it says.  Its name may lead through others. */
static bool is_there(const struct source_lines *lines, const struct profile_function *function)
{
	/* What dataclasses make says so too, and is in no scope. */
	if (!scope_function(TEXT_FILE, function->name))
		return true;
	const char *dot = strrchr(function->name, '.');
	const char *name = dot != NULL ? dot + 1 : function->name;
	if (name[0] == '<')
		return true; /* <module>, <lambda> */
	for (uint32_t i = 0; i < DECORATORS_MAX; i++) {
		size_t size;
		const char *line = source_line(lines, function->first_line + i, &size);
		if (begins(line, size, name))
			return true;
		if (i == 0 && !begins(line, size, "@"))
			return false;
	}
	return false;
}

static bool agrees(const struct command_text *text, const struct profile_file *file)
{
	struct source_lines lines;
	source_lines_init(&lines, text->text, text->size);
	bool is_same = true;
	for (uint32_t i = 0; i < file->line_count && is_same; i++)
		is_same = file->lines[i].line <= lines.count;
	for (uint32_t i = 0; i < file->function_count && is_same; i++)
		is_same = is_there(&lines, &file->functions[i]);
	source_lines_fini(&lines);
	return is_same;
}

void command_text_give(const struct command_text *text, struct profile *profile)
{
	if (text->text == NULL || text->is_mixed)
		return;
	for (uint32_t i = 0; i < profile->file_count; i++) {
		struct profile_file *file = &profile->files[i];
		if (strcmp(file->path, TEXT_FILE) == 0 && file->source == NULL && agrees(text, file)) {
			file->source = mem_copy_bytes(text->text, text->size);
			file->source_size = text->size;
		}
	}
}
