/* marks.h - what the program said of itself with heatline.mark(text): read,
 * written, merged. */
#ifndef HEATLINE_PROFILE_MARKS_H
#define HEATLINE_PROFILE_MARKS_H

#include <jansson.h>

#include "base/json_out.h"
#include "profile/model.h"

struct profile_reader;

/* Adds a mark, unless the profile has MARKS_MAX of them.  text ends with 0. */
void marks_add(struct profile *profile, double when_s, const char *text, int32_t pid);

/* "marks": [...], where there are any. */
void marks_write(struct json_out *out, const struct profile *profile);
void marks_read(struct profile_reader *reader, const json_t *heatline);

/* Those of another run that began shift_s later. */
void marks_merge(struct profile *into, const struct profile *from, double shift_s);

#endif
