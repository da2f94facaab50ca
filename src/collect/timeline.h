/* timeline.h - when it all happened: time by bin, for threads and for stacks.
 *
 * The run is cut into at most TIMELINE_MAX_BINS bins of equal width.  When it
 * outgrows them pairs are joined and bins are twice as wide from then on, so a
 * run of any length takes the same memory.  Three tables:
 *
 *	rows     of a thread: nanoseconds by kind and bin
 *	stacks   of a stack node and bin: nanoseconds
 *	threads  of a stack node and thread: nanoseconds
 *
 * There are at most TIMELINE_ROWS rows; a thread without one is in stacks only.
 * Rows can be joined (threads that have ended), which makes room for others.  The tables of nodes are bounded by folding light entries into
 * those of the calling node (profile/stack_parts.h).
 *
 * Times are nanoseconds since the start of the run.  Always: a thread's row has
 * the sum of what was added for it, whatever was joined or folded. */
#ifndef HEATLINE_COLLECT_TIMELINE_H
#define HEATLINE_COLLECT_TIMELINE_H

#include "base/map.h"
#include "base/vec.h"
#include "collect/tree.h"
#include "profile/model.h"

#define TIMELINE_ROWS 512u
#define TIMELINE_NO_ROW UINT32_MAX
#define TIMELINE_FIRST_BIN_NS 5000000u
#define TIMELINE_MAX_ENTRIES 50000u /* of each table of nodes */

struct timeline_row {
	uint64_t ns[TIMELINE_KINDS][TIMELINE_MAX_BINS];
};

struct timeline {
	uint64_t bin_ns;
	uint32_t bins; /* in use so far */
	VEC(struct timeline_row *) rows; /* owned; NULL: free */
	bool has_free_row; /* perhaps */
	struct map stacks;  /* node and bin */
	struct map threads; /* node and row */
	struct map idle;    /* the same, of waiting that does not count for the total */
};

void timeline_init(struct timeline *timeline);
void timeline_fini(struct timeline *timeline);

/* A new row; TIMELINE_NO_ROW when there are enough. */
uint32_t timeline_add_row(struct timeline *timeline);

/* Joins rows.  Begin gives a list, one item a row, which the caller fills: the
 * row that it becomes part of (which is no part of another), or itself.  End
 * takes it back. */
uint32_t *timeline_begin_join(const struct timeline *timeline);
void timeline_end_join(struct timeline *timeline, uint32_t *moved_to);

/* What a thread did in the ns before end_ns. */
void timeline_add_time(struct timeline *timeline, uint32_t row, enum timeline_kind kind,
		       uint64_t end_ns, uint64_t ns);

/* The same for a stack: time that counts for the total. */
void timeline_add_stack(struct timeline *timeline, const struct tree *tree, uint32_t node,
			uint32_t row, uint64_t end_ns, uint64_t ns);

/* The same for time that does not count. */
void timeline_add_idle(struct timeline *timeline, const struct tree *tree, uint32_t node,
		       uint32_t row, uint64_t ns);

/* A table of nodes as a list with nanoseconds in place of microseconds, in no
 * order; the caller frees. */
struct stack_part *timeline_list(const struct map *table, uint32_t *count);

#endif
