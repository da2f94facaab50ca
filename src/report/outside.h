/* outside.h - the time that no line of the program accounts for. */
#ifndef HEATLINE_REPORT_OUTSIDE_H
#define HEATLINE_REPORT_OUTSIDE_H

#include "profile/model.h"

struct outside {
	struct metrics sum;           /* by kind, as far as stacks are known */
	const struct profile_file *most; /* the file that most of it was in; NULL: not known */
	double most_s;
};

/* Where it went, by the innermost Python frame. */
struct outside outside_find(const struct profile *profile);

/* Seconds that more files than are listed account for; the others are on lines that the
 * profile's file has no room for. */
double outside_elsewhere(const struct profile *profile);

/* Seconds of the run until its one process was Python: what a shell or another launcher took,
 * pyenv's say.  0 where there are several. */
double outside_before_python(const struct profile *profile);

#endif
