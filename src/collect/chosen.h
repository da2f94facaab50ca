/* chosen.h - functions that the program marks with @profile: only those count where there are any.
 *
 * From the first marked function on that has been seen to run; what was in scope before is so no
 * longer then.  Without the option (is_decorated_only) everything in scope counts. */
#ifndef HEATLINE_COLLECT_CHOSEN_H
#define HEATLINE_COLLECT_CHOSEN_H

#include <stdbool.h>
#include <stdint.h>

struct code;
struct collector;
struct profile_file;

/* Whether the code is part of a function that is to be reported, given that its file is in
 * scope; whether a line is. */
bool chosen_has(struct collector *collector, const struct code *code);
bool chosen_has_line(struct collector *collector, const char *filename, uint32_t line);

/* The same for a file of the profile; true when it has such functions, which are then
 * noted in it. */
bool chosen_fill(struct collector *collector, const char *filename, struct profile_file *file);
void chosen_fini(struct collector *collector);

#endif
