/* write.h - a profile as JSON (docs/profile-format.md).
 *
 * The text is streamed, in a stable order of keys, so the same profile gives
 * the same bytes; reading a written profile and writing it again with the
 * same options changes nothing.  The size is bounded whatever the run:
 * beyond the maxima below, lines without figures are left out (the source is
 * then kept as one text), the stack tree is folded, and lists are thinned. */
#ifndef HEATLINE_PROFILE_WRITE_H
#define HEATLINE_PROFILE_WRITE_H

#include <stdio.h>

#include "base/err.h"
#include "profile/model.h"

#define PROFILE_SCHEMA 1 /* "heatline.schema"; readers refuse a higher one */

struct write_options {
	bool is_reduced;              /* leave out lines without figures, and the sources */
	double cpu_percent_threshold; /* leave out files below this share of the whole … */
	double malloc_threshold;      /* … unless they made so many allocations, and 1 MiB of them */
	bool has_stacks;              /* write the stacks */
};

/* Everything, files from 1 % or 100 allocations on. */
#define WRITE_OPTIONS_DEFAULT                                                  \
	((struct write_options){.is_reduced = false, .cpu_percent_threshold = 1.0, \
				.malloc_threshold = 100, .has_stacks = true})

/* Writes the file in one step: on failure an old file is as it was, and err
 * says why.  Returns 0 or a negative code. */
int profile_write(const struct profile *profile, const struct write_options *options,
		  const char *path, struct err *err);

/* Writes to an open stream; the caller looks at ferror. */
void profile_write_stream(const struct profile *profile, const struct write_options *options,
			  FILE *stream);

/* The text, which the caller frees; *size may be NULL. */
char *profile_write_text(const struct profile *profile, const struct write_options *options,
			 size_t *size);

#endif
