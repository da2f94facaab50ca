/* diff_match.h - which item of one list is which of another; inner part of diff.c.
 *
 * Items are matched by keys, in passes from the most to the least particular key.
 * Of several with the same key the first goes with the first, and so on. */
#ifndef HEATLINE_PROFILE_DIFF_MATCH_H
#define HEATLINE_PROFILE_DIFF_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define DIFF_NO_MATCH UINT32_MAX

/* Appends the key of an item (side 0 or 1) for this pass to the empty buf; false:
 * it has none and is left to later passes. */
typedef bool diff_key(const void *context, int side, uint32_t item, int pass, struct buf *key);

/* matches[side][item]: the item of the other side, or DIFF_NO_MATCH.  The caller
 * frees both. */
void diff_match(const uint32_t count[2], int passes, diff_key *key, const void *context,
		uint32_t *matches[2]);

#endif
