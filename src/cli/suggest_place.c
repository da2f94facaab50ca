/* suggest_place.c - from the user's words to a file and a line of the profile. */
#include "cli/suggest_place.h"

#include <stdlib.h>
#include <string.h>


/* Whether the path ends with the name, at a slash. */
static bool is_named(const char *path, const char *name, size_t size)
{
	size_t length = strlen(path);

	return length >= size && memcmp(path + length - size, name, size) == 0 &&
	       (length == size || path[length - size - 1] == '/');
}

static int find_file(const struct profile *profile, const char *name, size_t size, uint32_t *file,
		     struct err *err)
{
	uint32_t found = UINT32_MAX;

	if (size > 2 && name[0] == '.' && name[1] == '/') {
		name += 2;
		size -= 2;
	}
	for (uint32_t i = 0; i < profile->file_count; i++) {
		const struct profile_file *candidate = &profile->files[i];

		if (!is_named(candidate->path, name, size))
			continue;
		if (strlen(candidate->path) == size) {
			found = i;
			break;
		}
		if (found != UINT32_MAX && candidate->in_scope == profile->files[found].in_scope)
			return err_set(err, ERR_USAGE, "'%.*s' is both '%s' and '%s'; say which",
				       (int)size, name, profile->files[found].path,
				       candidate->path);
		if (found == UINT32_MAX || candidate->in_scope)
			found = i;
	}
	if (found == UINT32_MAX)
		return err_set(err, ERR_NOT_FOUND, "the profile has no file '%.*s'", (int)size, name);
	*file = found;
	return 0;
}

int suggest_place_find(const struct profile *profile, const char *text, struct prompt_place *place,
		       struct err *err)
{
	const char *colon = strrchr(text, ':');
	char *end = NULL;
	unsigned long line = colon ? strtoul(colon + 1, &end, 10) : 0;

	if (!colon || colon == text || end == colon + 1 || *end || line < 1 || line > INT32_MAX)
		return err_set(err, ERR_USAGE, "--line takes FILE:LINE, such as app.py:12, not '%s'",
			       text);
	place->line1 = (uint32_t)line;
	return find_file(profile, text, (size_t)(colon - text), &place->file, err);
}
