/* summary.h - what `heatline run` says at its end: the hottest lines, the
 * peak of memory, how far to trust them, where the profile is and how to look further.
 *
 * It appears under the program's own output without being asked for, so it is
 * short, and it never claims more than was measured. */
#ifndef HEATLINE_REPORT_SUMMARY_H
#define HEATLINE_REPORT_SUMMARY_H

#include "profile/model.h"
#include "report/style.h"

#define SUMMARY_LINES 5

/* Writes the summary.  profile_path: where the profile was saved, as the user
 * would type it; NULL when it was not.  is_explained: where no line is worth showing, the
 * user knows why. */
void summary_print(FILE *out, const struct profile *profile, const char *profile_path,
		   bool is_explained, const struct style *style);

#endif
