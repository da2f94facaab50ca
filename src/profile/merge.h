/* merge.h - several profiles as one: the same program run again, or several programs.
 *
 * The runs are laid one after the other: seconds, samples, allocations and copies
 * add up, and with them the base of all percentages; moments of the later run come
 * after the end of the earlier one.  They did not run at the same time, so the peak
 * of memory, of the whole and of each line, is the highest of them, and what was live
 * at the peak is that run's.  Lines are matched by file and number. */
#ifndef HEATLINE_PROFILE_MERGE_H
#define HEATLINE_PROFILE_MERGE_H

#include "profile/model.h"

/* Adds a finished profile to another one, which is finished after.  `from` stays as
 * it is. */
void profile_merge(struct profile *into, const struct profile *from);

#endif
