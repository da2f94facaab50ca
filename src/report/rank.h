/* rank.h - the lines of a profile that have most of something, and how they
 * are named: "app.py:12  the source of the line". */
#ifndef HEATLINE_REPORT_RANK_H
#define HEATLINE_REPORT_RANK_H

#include "profile/model.h"
#include "report/style.h"

struct ranked_line {
	const struct profile_file *file;
	const struct profile_line *line;
	double value;
};

/* What lines are ranked by; lines with 0 or less are left out. */
typedef double rank_value(const struct profile *profile, const struct profile_line *line);

/* Fills `best` with at most `room` lines of all files, those with most first.
 * Returns how many. */
uint32_t rank_lines(const struct profile *profile, rank_value *value, struct ranked_line *best,
		    uint32_t room);

/* Cells that "file:line" of the longest of the lines takes, within a third of
 * the width. */
uint32_t rank_place_width(const struct style *style, const struct ranked_line *lines,
			  uint32_t count);

/* "file:line" in exactly so many cells, the beginning of the path cut where it
 * does not fit. */
void rank_put_place(FILE *out, const struct style *style, const struct ranked_line *ranked,
		    uint32_t cells);

/* Two spaces and the source of the line, as far as it fits after `used` cells;
 * nothing where there is no room or no source. */
void rank_put_source(FILE *out, const struct style *style, const struct ranked_line *ranked,
		     uint32_t used);

/* " most at ", the place and its source, behind so many cells; on a line of its own, so far
 * indented, where the terminal is too narrow for the place. */
void rank_put_most(FILE *out, const struct style *style, const struct ranked_line *ranked,
		   uint32_t used, uint32_t indent);

#endif
