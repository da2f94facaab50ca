/* listing.h - one file of a profile: its source with figures, its functions. */
#ifndef HEATLINE_REPORT_LISTING_H
#define HEATLINE_REPORT_LISTING_H

#include "profile/model.h"
#include "report/table.h"

/* What the listings had to mark, so that the report can explain the marks. */
struct listing_marks {
	bool has_rough;      /* "~": few samples */
	bool has_underlined; /* the hot part of a line */
};

/* Whether the file has anything worth a listing: a percent of the time in
 * itself, or on its behalf; a percent of the program's memory or GPU time. */
bool listing_is_worth(const struct profile *profile, const struct profile_file *file);

/* The file's title, lines and functions.  needs: all but the columns are given,
 * and of these in_seconds; the rest is found out. */
void listing_print(FILE *out, const struct style *style, const struct profile *profile,
		   const struct profile_file *file, struct table_needs needs, bool is_reduced,
		   struct listing_marks *marks);

#endif
