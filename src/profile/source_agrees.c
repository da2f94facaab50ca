/* source_agrees.c - whether what was measured can have been this text. */
#include <string.h>

#include "profile/scope.h"
#include "profile/source.h"

/* A decorated function begins at its first decorator. */
#define DECORATORS_MAX 16u

static void skip_blanks(const char **line, size_t *size)
{
	for (; *size > 0 && (**line == ' ' || **line == '\t' || **line == '\f'); --*size)
		++*line;
}

/* "def name" and its like at the beginning of a line. */
static bool begins(const char *line, size_t size, const char *name)
{
	static const char *const words[] = {"async ", "def ", "class "};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		skip_blanks(&line, &size);
		size_t word = strlen(words[i]);
		if (size > word && memcmp(line, words[i], word) == 0) {
			line += word;
			size -= word;
		}
	}
	return size >= strlen(name) && memcmp(line, name, strlen(name)) == 0;
}

/* Whether the function begins where it says.  Its name may lead through others. */
static bool is_there(const struct source_lines *lines, const char *path,
		     const struct profile_function *function)
{
	/* What dataclasses make says so too, and is in no scope. */
	if (!scope_function(path, function->name))
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

/* Nothing can be measured in an empty line, or in a comment; the first line has what a
 * module does that stands on none. */
static bool holds_code(const struct source_lines *lines, uint32_t number)
{
	size_t size;
	const char *line = source_line(lines, number, &size);
	skip_blanks(&line, &size);
	return number <= lines->count && (number == 1 || (size > 0 && *line != '#'));
}

bool source_agrees(const char *text, size_t size, const struct profile_file *file)
{
	struct source_lines lines;
	source_lines_init(&lines, text, size);
	bool agrees = true;
	for (uint32_t i = 0; i < file->line_count && agrees; i++)
		agrees = holds_code(&lines, file->lines[i].line);
	for (uint32_t i = 0; i < file->function_count && agrees; i++)
		agrees = is_there(&lines, file->path, &file->functions[i]);
	source_lines_fini(&lines);
	return agrees;
}
