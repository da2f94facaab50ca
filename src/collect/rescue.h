/* rescue.h - a second place for a profile that cannot be written where it was to go.
 *
 * The disk is full, the folder was removed while the program ran: hours of measuring must not
 * be lost to it. */
#ifndef HEATLINE_COLLECT_RESCUE_H
#define HEATLINE_COLLECT_RESCUE_H

#include "base/err.h"
#include "profile/write.h"

/* profile_write to path; where that fails, to a new file of the user's alone in the folder for
 * temporary files.  Returns as profile_write does: negative also where only the second place
 * would do, and then the sentence says which it is, and *elsewhere has it (the caller's to
 * free; NULL: there is none). */
int rescue_write(const struct profile *profile, const struct write_options *options,
		 const char *path, char **elsewhere, struct err *err);

#endif
