/* marks.h - what the program says of itself (heatline.mark), for the timeline.
 *
 * The first MARKS_MAX are kept, the others counted. */
#ifndef HEATLINE_COLLECT_MARKS_H
#define HEATLINE_COLLECT_MARKS_H

#include <stdbool.h>

struct collector;
struct process;
struct profile;
struct record_mark;

/* False when the record makes no sense. */
bool marks_on_record(struct collector *collector, const struct process *process,
		     const struct record_mark *record);
void marks_build(const struct collector *collector, struct profile *profile);

#endif
