/* advice.h - patterns of the source that are known to be slow, with the evidence.
 *
 * A rule speaks only where the source has its pattern and the figures of the same
 * statement bear it out: the share of time, the kind of time, what was copied,
 * allocated or kept.  docs/ADVICE.md lists the rules.  Nothing is asked of
 * anybody; sources that no Python would accept give some answer, never a failure. */
#ifndef HEATLINE_PROFILE_ADVICE_H
#define HEATLINE_PROFILE_ADVICE_H

#include "profile/model.h"

/* Fills profile->advice anew, from the figures and the sources that the profile
 * holds.  The profile is settled: lines are sorted and have their regions. */
void advice_make(struct profile *profile);

#endif
