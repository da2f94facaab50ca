/* diff.h - two profiles of a program compared: what got faster, slower, heavier.
 *
 * Lines are matched by file, function and text rather than by number, so a line
 * that moved is the same line (of several with the same text the one at the same place in the
 * function, else the next); then by file and text (its function was renamed),
 * then by function and text (it moved to another file), at last by function and the
 * letters of the text (a number in it was changed).  Files are the same when their
 * paths below the program's folder are.
 *
 * Noise.  Time that k samples stand for is known to the 95 % interval of that count,
 * k + z^2/2 +- z * sqrt(k + z^2/4) with z = 1.96: for small shares the interval that
 * the profile gives for each line, and for large ones wider, as the whole time of a
 * run is never twice the same either.  A difference of times is real when the
 * intervals of both profiles do not overlap.  The whole is one figure, not the
 * largest change of hundreds: it differs when the difference is beyond z standard
 * deviations, 1/sqrt(samples) of it each but never more than 5 % and 10 ms, since it is
 * measured by clocks, also where samples are few.  A busy machine makes every run longer: both the time and the part of it
 * that was the program's own (on a CPU or waiting, not ready to run and kept from it) must
 * have changed, in the same direction.
 * Memory is sampled by bytes (docs/MEMORY.md): the variance of an estimate is at most
 * bytes * window for small blocks, and nothing for large ones; a difference is real
 * beyond 1.96 standard deviations and one percent.  GPU time is measured, not sampled, but
 * the device's clock rate varies: a difference is real beyond five percent.  Everything that says "faster" or
 * "slower", here and in the reports, in check.h and on the page, keeps to these rules. */
#ifndef HEATLINE_PROFILE_DIFF_H
#define HEATLINE_PROFILE_DIFF_H

#include "profile/model.h"

enum { DIFF_BEFORE, DIFF_AFTER, DIFF_SIDES };

struct diff_value {
	double before, after;
	bool is_real; /* the difference is beyond noise */
};

/* A line or function of both profiles, or of one: then the other's pointers are
 * NULL and its figures 0. */
struct diff_line {
	const struct profile_file *file[DIFF_SIDES]; /* borrowed */
	const struct profile_line *line[DIFF_SIDES]; /* borrowed */
	const char *function;                        /* borrowed; "" when not known */
	struct diff_value time_s;                    /* self */
	struct diff_value peak_bytes, alloc_bytes, copy_bytes;
	struct diff_value gpu_s;
};

struct diff_function {
	const struct profile_file *file[DIFF_SIDES];
	const struct profile_function *function[DIFF_SIDES];
	struct diff_value time_s, inclusive_s; /* self, and with all it called */
	struct diff_value alloc_bytes;
};

struct profile_diff {
	const struct profile *profile[DIFF_SIDES]; /* borrowed */
	struct diff_value total_s, elapsed_s, cpu_s;
	struct diff_value python_s, native_s, system_s, wait_s;
	bool has_memory; /* both profiles have it */
	struct diff_value peak_bytes, alloc_bytes, copy_bytes;
	bool has_gpu; /* both profiles have measured GPU time */
	struct diff_value gpu_s;
	struct diff_line *lines; /* owned; the largest change of time first */
	uint32_t line_count;
	struct diff_function *functions; /* owned; the largest change of inclusive time first */
	uint32_t function_count;
	uint32_t slower, faster;   /* lines whose time changed beyond noise */
	uint32_t heavier, lighter; /* lines whose peak did */
};

/* Both profiles must outlive the diff. */
void profile_diff_init(struct profile_diff *diff, const struct profile *before,
		       const struct profile *after);
void profile_diff_fini(struct profile_diff *diff);

/* after - before. */
static inline double diff_change(const struct diff_value *value)
{
	return value->after - value->before;
}

/* The line's file and number, of the later profile if it is there. */
const struct profile_file *diff_line_file(const struct diff_line *line);
uint32_t diff_line_number(const struct diff_line *line);

#endif
