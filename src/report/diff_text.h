/* diff_text.h - two profiles compared, as text and as JSON: `heatline diff`. */
#ifndef HEATLINE_REPORT_DIFF_TEXT_H
#define HEATLINE_REPORT_DIFF_TEXT_H

#include "profile/diff.h"
#include "report/style.h"

/* One sentence: "Faster: 2.33 s instead of 4.20 s (1.8 times as fast); peak memory
 * 12 MB less; 3 lines got slower".  Without its full stop; no newline.  The caller frees it. */
char *diff_verdict_text(const struct profile_diff *diff);

/* The verdict, the totals, the lines and functions that changed beyond noise. */
void diff_print(FILE *out, const struct profile_diff *diff, const struct style *style);

/* One line of the diff: "+1.20 s  1.46 s -> 2.66 s  app.py:11  source", its time or its
 * peak. */
void diff_print_line(FILE *out, const struct style *style, const struct diff_line *line);
void diff_print_memory_line(FILE *out, const struct style *style, const struct diff_line *line);

/* The same as JSON, all lines and functions included (docs/exports.md). */
void diff_print_json(FILE *out, const struct profile_diff *diff);

#endif
