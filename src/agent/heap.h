/* heap.h - which allocations and copies are sampled, and which of the sampled
 * ones live.
 *
 * Sampling is by bytes (meter.h).  Each thread counts down to its next sample;
 * a hook costs a subtraction and a comparison unless the count runs out.  The
 * window starts small, so that a few megabytes are measured well, and widens
 * while samples come too fast.
 *
 * A hook does
 *	if (!heap_count(size))
 *		return real_malloc(size);
 *	return heap_sample(real_malloc(size), size, flags);
 * (counting first lets the common case be a jump), and before a block is given back
 *	if (heap_may_be_sampled(block))
 *		heap_forget(block);
 *
 * Frees are noted before the real call and allocations after it: in between
 * another thread may be given the same address.
 *
 * Not for signal handlers: hooks are called by the program itself. */
#ifndef HEATLINE_AGENT_HEAP_H
#define HEATLINE_AGENT_HEAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEAP_FILTER_SLOTS (1u << 17)

/* Bytes until this thread's next mark; 0 at a thread's start, so that its first
 * allocation sets it up. */
extern __thread uint64_t g_heap_left __attribute__((tls_model("initial-exec")));
extern __thread uint64_t g_copy_left __attribute__((tls_model("initial-exec")));

/* Sampled blocks per address class; says "not sampled" for nearly every free
 * without looking further. */
extern _Atomic uint8_t g_heap_filter[HEAP_FILTER_SLOTS];

/* More than any allocation: nothing below it is counted meanwhile. */
#define HEAP_PAUSE UINT64_MAX

/* Counts a block, or says that a mark falls in it: then it is not counted yet. */
static inline bool heap_count(size_t size)
{
	if (__builtin_expect(size > g_heap_left, 0))
		return true;
	g_heap_left -= size;
	return false;
}

static inline bool heap_copy_count(size_t size)
{
	if (__builtin_expect(size > g_copy_left, 0))
		return true;
	g_copy_left -= size;
	return false;
}

static inline uint32_t heap_filter_slot(const void *block)
{
	uint64_t at = (uint64_t)(uintptr_t)block >> 4;
	return (uint32_t)(at ^ at >> 17) & (HEAP_FILTER_SLOTS - 1);
}

static inline bool heap_may_be_sampled(const void *block)
{
	return __builtin_expect(atomic_load_explicit(&g_heap_filter[heap_filter_slot(block)],
						     memory_order_relaxed) != 0, 0);
}

/* heap_count says so of this block, which is returned; NULL: there is none.
 * flags: enum alloc_flag. */
void *heap_sample(void *block, size_t size, uint32_t flags);

/* heap_copy_count says so. */
void heap_copy_sample(size_t size);

/* The block is about to be given back. */
void heap_forget(const void *block);

/* For realloc, which may fail and leave the block as it is: takes the block's
 * id out (0: it was not sampled), then either ends it or puts it back. */
uint64_t heap_take(const void *block);
void heap_end(uint64_t id);
void heap_put_back(const void *block, uint64_t id);

/* Begins; window 0: automatic.  Returns 0 or -errno. */
int heap_start(uint64_t window);

/* In a forked child: what the parent allocated is the parent's. */
void heap_after_fork(void);

#endif
