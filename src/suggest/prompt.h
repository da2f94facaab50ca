/* prompt.h - what is asked of a model about a hot place: the one builder of prompts.
 *
 * A prompt holds the code of the place with the figures of its lines, the file's
 * imports, what was measured there, and who called it.  It holds no other file, no
 * argument of the program and no path above the program's folder; secrets are
 * masked (mask.h), here and nowhere else.  It is at most PROMPT_MAX_BYTES long.
 *
 * The source is the one in the profile: what was measured, not what is on disk now. */
#ifndef HEATLINE_SUGGEST_PROMPT_H
#define HEATLINE_SUGGEST_PROMPT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "profile/model.h"

#define PROMPT_MAX_BYTES ((size_t)32 << 10)

enum prompt_scope { PROMPT_LINE, PROMPT_LOOP, PROMPT_FUNCTION, PROMPT_SCOPES };

/* "line", "loop", "function". */
extern const char *const prompt_scope_names[PROMPT_SCOPES];

struct prompt_place {
	uint32_t file;  /* index in the profile's files */
	uint32_t line1;
	enum prompt_scope scope;
};

struct prompt {
	const char *system; /* static: the task, and the form of the answer */
	char *text;         /* owned; UTF-8 */
	size_t size;
	uint32_t masked; /* secrets that were masked */
};

/* Builds it; negative with the sentence in err when the profile has no such line. */
int prompt_build(struct prompt *prompt, const struct profile *profile,
		 const struct prompt_place *place, struct err *err);
void prompt_fini(struct prompt *prompt); /* accepts a zeroed one */

/* As JSON: {"prompt", "system", "bytes", "masked"}. */
void prompt_write_json(const struct prompt *prompt, FILE *stream);

/* The lines in scope with the most time (memory, where nothing has time), the hottest
 * first; returns how many, at most room. */
uint32_t prompt_hottest(const struct profile *profile, struct prompt_place *places, uint32_t room);

/* As JSON, the prompts of the hottest lines that have at least a hundredth of the time:
 * {"PATH:LINE": {…}, …}, at most so many. */
void prompt_write_hottest(const struct profile *profile, uint32_t most, FILE *stream);

/* The range of lines, both included, that a scope means at a line of a file. */
struct line_range {
	uint32_t first, last;
};
struct line_range prompt_range(const struct profile_file *file, uint32_t line1,
			       enum prompt_scope scope);

#endif
