/* patch.h - apply a model's unified diff to one file, or refuse.
 *
 * Models count lines badly, so numbers are hints only: a hunk belongs where its old
 * lines stand, all of them, the nearest place to the number that it gives.  Lines are
 * compared as they are; if they are nowhere, without the white space at their ends; at
 * last with all of the hunk's lines indented more or less by the same white space.
 * Nothing is ever skipped or guessed.  Context comes from the file, not from the diff,
 * and a line in which the prompt had a secret masked is found by its masked form.
 *
 * Refused: a diff of another file or of several, of files made or removed, a hunk that
 * fits nowhere or in two places equally, one that would write a mask into the file. */
#ifndef HEATLINE_SUGGEST_PATCH_H
#define HEATLINE_SUGGEST_PATCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"

/* The lines of a hunk, before and after; first from 1, count may be 0. */
struct patch_range {
	uint32_t before, before_count;
	uint32_t after, after_count;
};

struct patch {
	struct buf text; /* the file after the change */
	VEC(struct patch_range) ranges;
};

/* Applies the diff to the text of the file at path (its bytes: UTF-8, any line ends).
 * Returns 0, or negative with the sentence in err.  patch_fini in any case. */
int patch_apply(struct patch *patch, const char *path, const char *text, size_t size,
		const char *diff, struct err *err);
void patch_fini(struct patch *patch);

#endif
