/* command_text.c - see command_text.h. */
#include "collect/command_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/procfs.h"
#include "collect/helpers.h"
#include "profile/model.h"
#include "profile/source.h"

#define WORDS_MAX_BYTES ((size_t)256 << 10)
#define TEXT_FILE "<string>"

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

void command_text_give(const struct command_text *text, struct profile *profile)
{
	if (text->text == NULL || text->is_mixed)
		return;
	for (uint32_t i = 0; i < profile->file_count; i++) {
		struct profile_file *file = &profile->files[i];
		if (strcmp(file->path, TEXT_FILE) == 0 && file->source == NULL &&
		    source_agrees(text->text, text->size, file)) {
			file->source = mem_copy_bytes(text->text, text->size);
			file->source_size = text->size;
		}
	}
}
