/* thread_view.h - a profile of one thread, out of a profile of all.
 *
 * From the stacks by thread (profile->thread_stacks): the time of each stack that
 * is the thread's, split by kind as the whole stack's time is; and its idle time, from
 * profile->idle_stacks.  What it waited for is told by the line.  Memory is known for stacks
 * only, not by thread, and is left out. */
#ifndef HEATLINE_PROFILE_THREAD_VIEW_H
#define HEATLINE_PROFILE_THREAD_VIEW_H

#include "base/err.h"
#include "profile/model.h"

/* The profile of the threads of this name, which may be one in each process; the
 * caller frees it.  NULL with a sentence in err when there is none, or no time is
 * known of it. */
struct profile *thread_view_new(const struct profile *profile, const char *name,
				struct err *err);

#endif
