/* heap.h - allocations and copies, counted by bytes and sampled.
 *
 * Each thread counts down the bytes to its next mark (meter.h); a hook costs a
 * subtraction and a comparison unless a mark falls in the block.  Then the bytes
 * that the mark stands for go to the place in the program (sites.h), and now
 * and then a block is sampled for them: its stack is walked and sent, and it
 * is followed until it is given back (live.h).
 *
 * A hook does
 *	if (!heap_count(size))
 *		return real_malloc(size);
 *	return heap_meet(real_malloc(size), size, flags);
 * (counting first lets the common case be a jump), and before a block is given back
 *	if (live_may_have(block))
 *		heap_forget(block);
 *
 * Frees are noted before the real call and allocations after it: in between
 * another thread may be given the same address.
 *
 * Not for signal handlers: hooks are called by the program itself. */
#ifndef HEATLINE_AGENT_HEAP_H
#define HEATLINE_AGENT_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/live.h"
#include "agent/meter.h"

/* What a thread counts with: one line of the cache. */
struct heap_thread {
	uint64_t left, copy_left; /* bytes until its next mark; 0 at its start, so that the
				     first allocation sets it up */
	const void *resizing;     /* a block that Python passes on to realloc, and that is
				     counted already */
	struct meter meter, copy_meter;
	uint32_t marks, copy_marks; /* met, and not paid for yet */
};

extern __thread _Alignas(64) struct heap_thread g_heap __attribute__((tls_model("initial-exec")));

/* enum alloc_flag of what Python passes on to malloc or realloc without counting it. */
extern __thread uint32_t g_passed_on __attribute__((tls_model("initial-exec")));

/* More than any allocation: nothing below it is counted meanwhile. */
#define HEAP_PAUSE UINT64_MAX

/* Counts a block, or says that a mark falls in it: then it is not counted yet. */
static inline bool heap_count(size_t size)
{
	uint64_t left;
	if (__builtin_expect(__builtin_sub_overflow(g_heap.left, (uint64_t)size, &left), 0))
		return true;
	g_heap.left = left;
	return false;
}

static inline bool heap_copy_count(size_t size)
{
	uint64_t left;
	if (__builtin_expect(__builtin_sub_overflow(g_heap.copy_left, (uint64_t)size, &left), 0))
		return true;
	g_heap.copy_left = left;
	return false;
}

/* Below Python's allocator nothing is counted: what it takes from malloc or mmap to
 * serve a request is that request.  Returns the count to go on with. */
static inline uint64_t heap_pause(void)
{
	uint64_t left = g_heap.left;
	g_heap.left = HEAP_PAUSE;
	return left;
}

/* A mark falls in this block, which is returned; NULL: there is none.
 * flags: enum alloc_flag. */
void *heap_meet(void *block, size_t size, uint32_t flags);

/* A block that is to be sampled. */
struct heap_choice {
	size_t size;
	uint64_t weight;         /* bytes that the sample stands for */
	uint32_t flags;          /* enum alloc_flag */
	struct agent_site *site; /* borrowed */
	uint64_t left, copy_left; /* counts to go on with */
	const struct heap_resized *resized; /* borrowed; NULL: it is a new block */
};

/* The same in two steps, for who wants another block when it is sampled: heap_choose
 * says whether it is.  If not, nothing is left to do, and nearly always that is so; if it
 * is, nothing is counted until heap_settle has taken the sample (block NULL: there is
 * none after all).  Large requests, which may be refused, are better asked for first. */
bool heap_choose(struct heap_choice *choice, size_t size, uint32_t flags);
void heap_settle(const struct heap_choice *choice, const void *block);

/* A mark falls in this copy. */
void heap_meet_copy(size_t size);

/* The block is about to be given back. */
void heap_forget(const void *block);

/* For realloc, which may fail and leave the block as it is: live_take takes out
 * as what the block is followed (0: it was not sampled), then these end it (is_moved:
 * another block has taken its place) or put it back; or realloc has succeeded. */
void heap_end(uint64_t followed, bool is_moved);
void heap_put_back(const void *block, uint64_t followed);

/* One or the other, or nothing where it was not sampled.  is_there: realloc has failed. */
void heap_end_old(const void *block, uint64_t followed, bool is_there, bool is_moved);

/* What realloc has made of a block. */
struct heap_resized {
	void *block;
	size_t size;          /* bytes that were asked for */
	size_t before, after; /* bytes that there was room for, and is; not 0 */
	uint64_t followed;    /* what live_take gave for the old one */
	uint32_t flags;       /* enum alloc_flag */
};

/* Counts it.  What is allocated is the new size, as if it were a new block; what is live changes
 * by the difference, and that is also how likely it is to be sampled: a text of megabytes
 * that grows by 50 bytes at a time allocates terabytes, never has more than itself,
 * and should cost no more than that. */
void heap_resize(const struct heap_resized *now);

/* Begins; window 0: automatic.  Returns 0 or -errno. */
int heap_start(uint64_t window);

/* In a forked child: what the parent allocated is the parent's. */
void heap_after_fork(void);

#endif
