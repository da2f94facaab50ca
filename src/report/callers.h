/* callers.h - who called a line in the stack that kept most of its memory. */
#ifndef HEATLINE_REPORT_CALLERS_H
#define HEATLINE_REPORT_CALLERS_H

#include "base/buf.h"
#include "profile/model.h"
#include "report/style.h"

/* Appends the frames in scope above the line, innermost first: "load
 * (app.py:31), main (app.py:80)".  Nothing where the profile has no such stack
 * or nobody called the line. */
void callers_append(struct buf *text, const struct style *style, const struct profile *profile,
		    const struct profile_file *file, const struct profile_line *line);

#endif
