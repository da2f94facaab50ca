/* check_text.h - what `heatline check` found, as text and as JSON. */
#ifndef HEATLINE_REPORT_CHECK_TEXT_H
#define HEATLINE_REPORT_CHECK_TEXT_H

#include "profile/check.h"
#include "report/style.h"

/* A line for each limit, broken or kept; where the whole program broke one, the lines
 * below it that changed beyond noise.  diff is NULL without a baseline. */
void check_print(FILE *out, const struct check_result *result, const struct profile_diff *diff,
		 const struct style *style);

/* The same as JSON (docs/exports.md). */
void check_print_json(FILE *out, const struct check_result *result,
		      const struct profile_diff *diff);

#endif
