/* outfile.c - see outfile.h. */
#include "cli/outfile.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/places.h"

#define LOOK_BYTES 256u

/* How files of a kind begin, and what they are called. */
static const struct {
	char first;
	const char *name;
} looks[] = {
	[OUTFILE_PROFILE] = {'{', "a profile"},
	[OUTFILE_PAGE] = {'<', "a page"},
};

/* Whether a file of this kind would replace one that is none. */
static bool is_in_the_way(const char *path, enum outfile_kind kind)
{
	static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8 */
	char begin[LOOK_BYTES + 1];
	size_t size = file_begin(path, begin, LOOK_BYTES);
	const char *text = begin;

	begin[size] = '\0';
	if (text_starts_with(text, mark))
		text += strlen(mark);
	while (isspace((unsigned char)*text))
		text++;
	return text < begin + size && *text != looks[kind].first;
}

int outfile_check(const char *path, enum outfile_kind kind, const char *input, struct err *err)
{
	if (input && file_is_same(path, input))
		return err_set(err, ERR_USAGE, "-o '%s' is %s, which would be lost; name another file",
			       path, kind == OUTFILE_PROFILE ? "the program itself"
							     : "the profile that is read");
	if (is_in_the_way(path, kind))
		return err_set(err, ERR_USAGE,
			       "'%s' is there already and is not %s; name another file with -o, or "
			       "remove it",
			       path, looks[kind].name);
	return 0;
}

static bool is_descriptor(const char *path)
{
	static const char *const names[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr", NULL};
	char *whole = places_absolute(path);
	bool is_one = text_starts_with(whole, "/dev/fd/") ||
		      text_starts_with(whole, "/proc/self/fd/");

	for (const char *const *name = names; *name && !is_one; name++)
		is_one = strcmp(whole, *name) == 0;
	free(whole);
	return is_one;
}

int outfile_check_run(const char *path, const char *program, struct err *err)
{
	if (is_descriptor(path))
		return err_set(err, ERR_USAGE,
			       "-o '%s' is a descriptor of the program's, which is closed when the "
			       "profile is written; name a file, or a FIFO",
			       path);
	return outfile_check(path, OUTFILE_PROFILE, program, err);
}
