/* decorated_search.c - which files of a program have functions with @profile. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "profile/decorated.h"
#include "profile/source.h"

/* A file takes some 20 us, the whole search a few milliseconds at most. */
#define FILES_MAX 300u
#define FILE_BYTES_MAX ((size_t)1 << 20)
#define BYTES_MAX ((size_t)8 << 20)
#define DEPTH_MAX 5u
#define ENTRIES_MAX 4000u /* of all folders; the current one may be / */

struct search {
	uint32_t files, entries;
	size_t bytes;
	bool has_any, needs_name;
};

static bool has_hint(const char *text, size_t size)
{
	return memmem(text, size, "@profile", strlen("@profile")) != NULL ||
	       memmem(text, size, "@heatline.profile", strlen("@heatline.profile")) != NULL;
}

static void search_text(struct search *search, const char *path)
{
	size_t size;
	char *text = source_load(path, &size);
	struct decorated decorated;
	if (text == NULL)
		return;
	decorated_find(&decorated, text, size);
	search->has_any = search->has_any || decorated.count > 0;
	search->needs_name = search->needs_name || decorated.needs_name;
	decorated_fini(&decorated);
	free(text);
}

static void search_file(struct search *search, const char *path)
{
	char *bytes;
	size_t size;
	if (file_read(path, FILE_BYTES_MAX, &bytes, &size, NULL) != 0)
		return;
	search->files++;
	search->bytes += size;
	bool is_hinted = has_hint(bytes, size);
	free(bytes);
	if (is_hinted)
		search_text(search, path);
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
	while (entries != NULL && search->files < FILES_MAX && search->bytes < BYTES_MAX &&
	       search->entries++ < ENTRIES_MAX && (entry = readdir(entries)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		char *path = path_join(folder, entry->d_name);
		if (entry->d_type == DT_REG && text_ends_with(entry->d_name, ".py"))
			search_file(search, path);
		else if (entry->d_type == DT_DIR && depth < DEPTH_MAX &&
			 !is_passed_over(path, entry->d_name))
			search_folder(search, path, depth + 1);
		free(path);
	}
	if (entries != NULL)
		closedir(entries);
}

bool decorated_search(const char *program, const char *folder, bool *needs_name)
{
	struct search search = {0};
	if (program != NULL)
		search_file(&search, program);
	if (folder != NULL)
		search_folder(&search, folder, 0);
	*needs_name = search.needs_name;
	return search.has_any;
}
