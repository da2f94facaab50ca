/* trust.h - which calls are known to happen, for stacks read from a thread that
 * runs on.
 *
 * A copy can mix two moments: one function's frame below another's caller.  In
 * two copies of the same call such a mix does not come out the same twice, so a
 * stack that stood still is right, and every three frames that follow each
 * other in it are noted (code objects; of callers the instruction too).  A
 * stack that did not stand still is taken when all its threes have been seen
 * standing still some times, else not.  So nothing that was never seen standing still is ever reported, and
 * code that changes all the time is not left out, as it would be if only what
 * stands still were taken (that made shares wrong by 5 to 8 points).
 *
 * The memory is bounded: at TRUST_MAX entries it is emptied and learnt anew. */
#ifndef HEATLINE_COLLECT_TRUST_H
#define HEATLINE_COLLECT_TRUST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "python/walk.h"

#define TRUST_MAX 200000u
#define TRUST_TIMES 3u /* a mix may come out the same once, by chance */

struct trust {
	struct map known;
};

void trust_init(struct trust *trust);
void trust_fini(struct trust *trust);

/* Notes a stack, innermost first, that stood still. */
void trust_learn(struct trust *trust, const struct walk_frame *frames, uint32_t count);

/* Whether all of a stack is known. */
bool trust_knows(const struct trust *trust, const struct walk_frame *frames, uint32_t count);

#endif
