/* build.h - makes a profile of all that the collector knows, as often as wanted.
 *
 * The run may go on afterwards.  builder.h has what the parts share; what is measured apart adds
 * itself to the profile (tasks_build, marks_build, build_gpu). */
#ifndef HEATLINE_COLLECT_BUILD_H
#define HEATLINE_COLLECT_BUILD_H

#include <stdbool.h>

struct collector;
struct profile;

/* The profile so far; the caller frees it.  NULL when no process was Python. */
struct profile *build_profile(struct collector *collector, bool is_partial);

/* Adds a sentence to the profile's warnings. */
void build_warn(struct profile *profile, const char *text);

#endif
