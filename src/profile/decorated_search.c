/* decorated_search.c - which files of a program have functions with @profile.
 *
 * What will be imported cannot be known before the run; but a name that nothing mentions is
 * not, and a folder may hold other programs, whose marks must not give this one a new builtin. */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "profile/decorated.h"
#include "profile/source.h"

/* A file takes some 20 us, the whole search a few milliseconds at most. */
#define FILES_MAX 300u
#define FILE_BYTES_MAX ((size_t)1 << 20)
#define BYTES_MAX ((size_t)8 << 20)
#define DEPTH_MAX 5u
#define ENTRIES_MAX 4000u /* of all folders; the current one may be / */

#define LOOKS_MAX 40u     /* files whose names are searched for; then it is taken to be imported */

struct searched_file {
	char *path;  /* owned */
	char *bytes; /* owned */
	size_t size;
	bool is_met; /* the program imports this one, or one that does, if it imports any of them */
};

struct search {
	const struct decorated_program *program;
	VEC(struct searched_file) files; /* the script is the first, if it is a Python file */
	uint32_t entries;
	size_t bytes;
	bool has_any, has_script;
};

static bool has_hint(const char *text, size_t size)
{
	return memmem(text, size, "@profile", strlen("@profile")) != NULL ||
	       memmem(text, size, "@heatline.profile", strlen("@heatline.profile")) != NULL;
}

static void search_text(struct search *search, struct searched_file *file)
{
	size_t size;
	char *text = source_decode(file->bytes, file->size, &size);
	struct decorated decorated;
	decorated_find(&decorated, text, size);
	search->has_any = search->has_any || decorated.count > 0;
	file->is_met = decorated.needs_name;
	decorated_fini(&decorated);
	free(text);
}

static bool search_file(struct search *search, const char *path)
{
	struct searched_file file = {.path = NULL};
	if (file_read(path, FILE_BYTES_MAX, &file.bytes, &file.size, NULL) != 0)
		return false;
	file.path = mem_copy_text(path);
	search->bytes += file.size;
	if (has_hint(file.bytes, file.size))
		search_text(search, &file);
	vec_push(&search->files, file);
	return true;
}

static bool is_passed_over(const char *folder, const char *name)
{
	static const char *const names[] = {"__pycache__", "site-packages", "dist-packages",
					    "node_modules"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	char *mark = path_join(folder, "pyvenv.cfg");
	bool is_environment = access(mark, F_OK) == 0;
	free(mark);
	return is_environment;
}

static void search_folder(struct search *search, const char *folder, uint32_t depth)
{
	DIR *entries = opendir(folder);
	struct dirent *entry;
	while (entries != NULL && search->files.count < FILES_MAX && search->bytes < BYTES_MAX &&
	       search->entries++ < ENTRIES_MAX && (entry = readdir(entries)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		char *path = path_join(folder, entry->d_name);
		if (search->has_script && strcmp(path, search->files.items[0].path) == 0)
			; /* it was the first */
		else if (entry->d_type == DT_REG && text_ends_with(entry->d_name, ".py"))
			search_file(search, path);
		else if (entry->d_type == DT_DIR && depth < DEPTH_MAX &&
			 !is_passed_over(path, entry->d_name))
			search_folder(search, path, depth + 1);
		free(path);
	}
	if (entries != NULL)
		closedir(entries);
}

/* --- who is imported --- */

static bool has_word(const char *text, size_t size, const char *word, size_t word_size)
{
	const char *end = text + size;
	for (const char *at = text; (at = memmem(at, (size_t)(end - at), word, word_size)) != NULL; at++) {
		bool begins = at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
		const char *next = at + word_size;
		if (begins && (next == end || (!isalnum((unsigned char)*next) && *next != '_')))
			return true;
	}
	return false;
}

/* Whether a text names the file: the last part of its path, or one before it, below the folder. */
static bool names_file(const struct search *search, const char *text, size_t size, const char *path)
{
	const char *folder = search->program->folder;
	const char *at = folder != NULL && path_is_inside(path, folder) ? path + strlen(folder)
									: path_basename(path);
	while (*at == '/')
		at++;
	while (*at != '\0') {
		size_t part = strcspn(at, "/");
		size_t word = at[part] == '\0' ? strcspn(at, ".") : part;
		if (word > 0 && at[0] != '_' && has_word(text, size, at, word))
			return true;
		at += part + (at[part] == '/');
	}
	return false;
}

static bool is_argument(const struct search *search, const char *path)
{
	char *const *args = search->program->args;
	for (; args != NULL && *args != NULL; args++) {
		if (names_file(search, *args, strlen(*args), path))
			return true;
	}
	return false;
}

/* From the files with marks back to those that name them, until that is the script. */
static bool is_any_imported(struct search *search)
{
	VEC(uint32_t) met = VEC_EMPTY;
	bool is_imported = false;
	for (uint32_t i = 0; i < search->files.count; i++) {
		if (search->files.items[i].is_met)
			vec_push(&met, i);
	}
	for (uint32_t i = 0; i < met.count && !is_imported; i++) {
		const struct searched_file *file = &search->files.items[met.items[i]];
		is_imported = !search->has_script || met.items[i] == 0 || i >= LOOKS_MAX ||
			      is_argument(search, file->path);
		for (uint32_t f = 0; f < search->files.count && !is_imported; f++) {
			struct searched_file *other = &search->files.items[f];
			if (other->is_met || !names_file(search, other->bytes, other->size, file->path))
				continue;
			other->is_met = true;
			vec_push(&met, f);
		}
	}
	vec_free(&met);
	return is_imported;
}

bool decorated_search(const struct decorated_program *program, bool *needs_name)
{
	struct search search = {.program = program};
	if (program->script != NULL)
		search.has_script = search_file(&search, program->script) &&
				    text_ends_with(program->script, ".py");
	if (program->folder != NULL)
		search_folder(&search, program->folder, 0);
	*needs_name = is_any_imported(&search);
	for (uint32_t i = 0; i < search.files.count; i++) {
		free(search.files.items[i].path);
		free(search.files.items[i].bytes);
	}
	vec_free(&search.files);
	return search.has_any;
}
