/* source.c - the source text of a file of the profile, line by line. */
#include "report/source.h"

#include <string.h>

void source_open(struct source_reader *reader, const struct profile_file *file)
{
	reader->next = file->source;
	reader->end = file->source ? file->source + file->source_size : NULL;
	if (file->source_size >= 3 && memcmp(file->source, "\xef\xbb\xbf", 3) == 0)
		reader->next += 3;
}

bool source_next(struct source_reader *reader, const char **line, size_t *size)
{
	const char *stop = reader->next;

	if (reader->next == reader->end)
		return false;
	while (stop < reader->end && *stop != '\n' && *stop != '\r')
		stop++;
	*line = reader->next;
	*size = (size_t)(stop - reader->next);
	if (stop < reader->end && *stop == '\r' && stop + 1 < reader->end && stop[1] == '\n')
		stop++;
	reader->next = stop < reader->end ? stop + 1 : stop;
	return true;
}

const char *source_find(const struct profile_file *file, uint32_t number, size_t *size)
{
	struct source_reader reader;
	const char *line;
	size_t line_size;

	source_open(&reader, file);
	for (uint32_t i = 1; source_next(&reader, &line, &line_size); i++) {
		if (i == number) {
			*size = line_size;
			return line;
		}
	}
	return NULL;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\f';
}

void source_trim(const char **line, size_t *size)
{
	while (*size && is_space(**line)) {
		(*line)++;
		(*size)--;
	}
	while (*size && is_space((*line)[*size - 1]))
		(*size)--;
}
