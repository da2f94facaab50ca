/* leak.h - which lines leak.
 *
 * Judged at the end, by what a line's site tells of its time: a leak goes on growing until
 * then, is come back to, and nearly none of what it took for longer than a moment was ever
 * given back.  docs/MEMORY.md, "Leaks", has the rules and the reason for each. */
#ifndef HEATLINE_COLLECT_LEAK_H
#define HEATLINE_COLLECT_LEAK_H

#include "collect/heap.h"

/* How likely the line leaks: by Laplace's rule of succession on those of its
 * sampled allocations that outlived the moment; 0 when it does not keep growing
 * until the end; of a line that works when it is asked to, until the last work. */
double leak_likelihood(const struct heap *heap, const struct site *site, double end_s,
		       double *bytes_per_s);

#endif
