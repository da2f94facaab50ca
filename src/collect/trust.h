/* trust.h - which calls are known to happen, for stacks read from a thread that
 * runs on.
 *
 * A copy can mix two moments: one function's frame above another's caller.  It
 * is told by what is seen again and again.  Of every stack that was the same in
 * two copies, each three frames that follow each other are noted (code objects;
 * of callers the instruction too): how often the three were met, and how often
 * the innermost with any callers, and the two callers with anything called.
 * A stack is believed
 *  - if it stood still, when none of its threes can be a mix;
 *  - else, when its threes were also met TRUST_TIMES standing still.
 *
 * What can be a mix: both halves of it come from stacks that do happen, so both
 * must have been met far more often with something else than with each other.
 * A mix of callers that take turns every microsecond is the same in two copies
 * by chance in some 0.3 % of all looks, so it stays far below one in
 * TRUST_RARE.  What is rare because it is rare, or new, is not suspected: one
 * of its halves was hardly met otherwise.
 *
 * Taking only what stands still would leave out code that changes all the time
 * (that made shares wrong by 5 to 8 points).
 *
 * The memory is bounded, and fades: every TRUST_FADE notes all counts are
 * halved, so that a program in its next phase is not judged by its last. */
#ifndef HEATLINE_COLLECT_TRUST_H
#define HEATLINE_COLLECT_TRUST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "python/walk.h"

#define TRUST_MAX 200000u
#define TRUST_TIMES 3u
#define TRUST_RARE 32u
#define TRUST_FADE 16384u

struct trust {
	struct map known;
	uint32_t notes; /* since the counts were halved */
};

void trust_init(struct trust *trust);
void trust_fini(struct trust *trust);

/* Notes a stack, innermost first, that stood still; the first `changed` of its
 * frames, the others being those of the stack before. */
void trust_learn(struct trust *trust, const struct walk_frame *frames, uint32_t count, uint32_t changed);

/* Whether the first `changed` frames of a stack are believed on top of the
 * others. */
bool trust_believes(const struct trust *trust, const struct walk_frame *frames, uint32_t count,
		    uint32_t changed, bool stood_still);

#endif
