/* text.h - a profile as text: `heatline view --cli`.
 *
 * First the run as a whole, then for each file, the hottest first, its source
 * line by line with the figures of each line, and below it its functions.
 * Files that took less than a percent are only named.  At the end, what stands
 * out in the program's memory.
 *
 * Everything that comes from the profile is printed through glyph.h; the
 * report can be made of a file that another tool or an attacker wrote. */
#ifndef HEATLINE_REPORT_TEXT_H
#define HEATLINE_REPORT_TEXT_H

#include "profile/model.h"
#include "report/style.h"

struct text_options {
	bool is_reduced; /* only lines with figures, and some around them */
	bool in_seconds; /* seconds and bytes in the columns instead of percent */
};

void text_report_print(FILE *out, const struct profile *profile,
		       const struct text_options *options, const struct style *style);

#endif
