/* output.h - the profile is written: in between, for those who watch, in the end.
 *
 * In between the rings are drained first, so that it has all until now.  At the outfile a profile
 * without a line replaces no file that was there; one that cannot be written in the end has a
 * second place (rescue.h). */
#ifndef HEATLINE_COLLECT_OUTPUT_H
#define HEATLINE_COLLECT_OUTPUT_H

#include <stdbool.h>

struct collector;
struct err;
struct run_result;

/* Writes the profile so far to the options' outfile.  Returns 0 also when there is nothing to write;
 * a negative code in a session, which has no file. */
int output_in_between(struct collector *collector);

/* Writes the profile so far into the run's folder, for those who watch. */
void output_show(struct collector *collector);

/* Writes the profile so far into the run's folder, for the case that this
 * collector is killed; output_keep_checkpoint: an earlier one was, and what it
 * wrote goes beside the profile. */
void output_checkpoint(struct collector *collector);
void output_keep_checkpoint(struct collector *collector);

/* Makes the result's profile and writes it; err says what is wrong, if anything. */
void output_finish(struct collector *collector, bool is_partial, struct run_result *result,
		   struct err *err);

#endif
