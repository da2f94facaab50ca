/* check.h - hold a profile to limits, so that a build can fail.
 *
 * Limits on growth need a baseline, and only what is beyond noise (diff.h) breaks
 * them: a limit of 5 % on a run of few samples does not fail at 6 %.  Absolute limits
 * are taken as they are. */
#ifndef HEATLINE_PROFILE_CHECK_H
#define HEATLINE_PROFILE_CHECK_H

#include "base/err.h"
#include "profile/diff.h"

#define CHECK_NO_LIMIT (-1.0)

/* A line to be held to the growth limits; its number in the checked profile. */
struct check_place {
	const char *path; /* the end of a file's path; borrowed */
	uint32_t line;
};

struct check_limits {
	double max_slowdown;      /* of the total time: 0.05 is 5 % */
	double max_memory_growth; /* of the peak, likewise */
	double max_time_s;        /* wall time of the run */
	double max_peak_bytes;
	const struct check_place *places; /* borrowed; where there are any, they are held
					   * to the growth limits instead of the whole */
	uint32_t place_count;
};

#define CHECK_LIMITS_NONE                                                      \
	((struct check_limits){.max_slowdown = CHECK_NO_LIMIT,                 \
			       .max_memory_growth = CHECK_NO_LIMIT,            \
			       .max_time_s = CHECK_NO_LIMIT,                   \
			       .max_peak_bytes = CHECK_NO_LIMIT})

enum check_kind {
	CHECK_SLOWDOWN,
	CHECK_MEMORY_GROWTH,
	CHECK_TIME,
	CHECK_PEAK,
};

/* One limit, as it was found. */
struct check_finding {
	enum check_kind kind;
	struct diff_value value;      /* before is 0 without a baseline */
	double limit;                 /* as in check_limits */
	const struct diff_line *line; /* borrowed; NULL: the whole program */
	bool is_broken;
	bool is_noise; /* beyond the limit, but not beyond noise */
};

struct check_result {
	struct check_finding *findings; /* owned; one a limit, in the order above */
	uint32_t count, room;
	uint32_t broken;
};

/* diff: against the baseline; NULL when there is none.  Returns 0 whether limits are
 * broken or not, negative with the sentence when they cannot be checked: no baseline,
 * no memory figures, a line of a file that is not in the profile. */
int profile_check(const struct profile *profile, const struct profile_diff *diff,
		  const struct check_limits *limits, struct check_result *result, struct err *err);
void check_result_fini(struct check_result *result);

#endif
