/* snapshot.h - the memory that a thread's stack lies in, copied in one call.
 *
 * The thread runs on while it is looked at.  Two things keep its stack whole:
 * few, short copies, and a way to see that they do not belong together.  So all
 * that the last look at this thread has touched (its state, the used part of
 * its frame stack, some pages beside) is copied by one process_vm_readv, and
 * twice in that call, the second time backwards (of pages beside a frame stack only
 * the first):
 *
 *	pages  state  frame stack | watched | frame stack  state  pages
 *
 * What is watched are a few bytes of the caller's choice, such as who has the
 * GIL: a piece of this call costs a third of a call of its own.
 *
 * The walker then reads from the first copy as if it were the process; what is
 * in neither is read from the process, and copied along the next time.  Frames
 * that are the same in both copies stood still in between, and so did all of
 * their callers.
 *
 * Of a deep stack most is as it was at the last look.  What the caller marks is
 * kept, and snapshot_steady_end() says how far a new copy is the same, byte by
 * byte.  The part that lies far below the innermost frame is not even copied
 * again, as long as the frames above it are the same with all their variables:
 * SNAPSHOT_STEADY_BYTES of them.  That can be wrong, if hardly ever, so the caller
 * lets the mark be forgotten now and then. */
#ifndef HEATLINE_REMOTE_SNAPSHOT_H
#define HEATLINE_REMOTE_SNAPSHOT_H

#include "remote/remote.h"

#define SNAPSHOT_STATE_BYTES 1024u  /* of a thread state; no version needs more */
#define SNAPSHOT_STACK_BYTES 16384u /* of the newest part of the frame stack */
#define SNAPSHOT_PAGES 16u
#define SNAPSHOT_LOADED 8u
#define SNAPSHOT_WATCHED_BYTES 32u
#define SNAPSHOT_STEADY_BYTES 1024u

struct snapshot_copy {
	unsigned char state[SNAPSHOT_STATE_BYTES];
	unsigned char stack[SNAPSHOT_STACK_BYTES];
	unsigned char pages[SNAPSHOT_PAGES][WALK_PAGE_BYTES];
};

/* A page beside the frame stack: the part of it that is copied along. */
struct snapshot_page {
	py_addr start;
	uint16_t from, to; /* bytes of it */
	uint32_t idle;     /* looks since it was last needed */
};

/* What is to be copied along. */
struct snapshot_plan {
	struct snapshot_page pages[SNAPSHOT_PAGES];
	uint32_t count;
};

/* One thread's; some 200 KB. */
struct snapshot {
	struct mem_reader reader;    /* first: what the walker is given */
	const struct remote *remote; /* borrowed */
	py_addr thread;              /* the thread state */
	uint32_t state_start, state_size; /* the part of it that is copied, */
	uint32_t state_wanted;       /* and how much of it the next time */
	py_addr stack_start;         /* the newest chunk; 0: not known */
	uint32_t stack_size;         /* how much of it is there */
	uint32_t fresh_from;         /* from here on copied; below, kept */
	py_addr marked_start;        /* the chunk that was marked; 0: none */
	uint32_t marked_size;        /* so much of it */
	uint32_t keep_size;          /* so much of it need not be copied again */
	unsigned char marked[SNAPSHOT_STACK_BYTES];
	struct snapshot_plan plans[2]; /* for all of the stack, and for what is left when part of it is kept */
	bool is_short;                 /* the latter was taken, */
	bool is_next_short;            /* and will be the next time */
	struct snapshot_page pages[SNAPSHOT_PAGES]; /* the plan that was taken */
	uint32_t page_count;
	uint32_t twice_count; /* the first pages, which are copied twice */
	struct snapshot_page touched[SNAPSHOT_PAGES]; /* what this look needed, the innermost frame's first */
	uint32_t touched_count;
	py_addr loaded_start[SNAPSHOT_LOADED]; /* whole pages that were missing, and read afterwards */
	uint32_t loaded_count;
	py_addr watched_start;  /* what is watched; */
	uint32_t watched_size;  /* 0: nothing */
	unsigned char watched[SNAPSHOT_WATCHED_BYTES];
	const struct snapshot_copy *current; /* that the reader reads from */
	struct snapshot_copy copies[2];
	unsigned char loaded[SNAPSHOT_LOADED][WALK_PAGE_BYTES];
};

void snapshot_init(struct snapshot *snapshot, const struct remote *remote, py_addr thread);

/* What is copied along into snapshot->watched from now on. */
void snapshot_watch(struct snapshot *snapshot, py_addr start, uint32_t size);

/* Copies anew; the reader then reads from the first copy.  False when the
 * thread state cannot be read: the thread or the process has gone. */
bool snapshot_take(struct snapshot *snapshot);

/* From which copy (0 or 1) the reader reads from now on. */
void snapshot_use(struct snapshot *snapshot, int copy);

/* Marks the newest part of the frame stack as it is in the first copy: it was
 * understood.  What lies below keep_end need not be copied again. */
void snapshot_mark(struct snapshot *snapshot, py_addr keep_end);

/* Before 3.11: whether the next copies need only the innermost frames, those that looks at such
 * copies have read; the caller knows the others. */
void snapshot_shorten(struct snapshot *snapshot, bool is_short);

/* Forgets what was marked: all of it is copied the next time. */
void snapshot_forget(struct snapshot *snapshot);

/* Up to where the newest part of the frame stack is what was marked; 0: nothing
 * is.  For the copy that the reader reads from. */
py_addr snapshot_steady_end(const struct snapshot *snapshot);

/* Whether the thread's innermost frame and these frames (where they lie) are
 * the same in both copies: code, caller and owner. */
bool snapshot_stood_still(const struct snapshot *snapshot, const py_addr *places, uint32_t count);

#endif
