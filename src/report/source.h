/* source.h - the source text of a file of the profile, line by line.
 *
 * Lines end where Python ends them: \n, \r\n or \r.  A byte order mark at the
 * beginning is no part of the first line. */
#ifndef HEATLINE_REPORT_SOURCE_H
#define HEATLINE_REPORT_SOURCE_H

#include "profile/model.h"

/* Where a reading stands; points into the file's text. */
struct source_reader {
	const char *next, *end;
};

void source_open(struct source_reader *reader, const struct profile_file *file);

/* The next line, without its end, in `line` and `size`; false after the last. */
bool source_next(struct source_reader *reader, const char **line, size_t *size);

/* One line by its number, from 1; NULL when the file has no such line. */
const char *source_find(const struct profile_file *file, uint32_t number, size_t *size);

/* The line without the white space around it. */
void source_trim(const char **line, size_t *size);

#endif
