/* prompt_figures.h - what was measured at a place, in words; inner part of prompt.c. */
#ifndef HEATLINE_SUGGEST_PROMPT_FIGURES_H
#define HEATLINE_SUGGEST_PROMPT_FIGURES_H

#include "base/buf.h"
#include "suggest/prompt.h"

/* Appends the figures of the line and of the range around it, and its callers. */
void prompt_put_figures(struct buf *out, const struct profile *profile,
			const struct profile_file *file, const struct prompt_place *place);

#endif
