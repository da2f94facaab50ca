/* python_hooks.c - see python_hooks.h.
 *
 * What is called most is short and ends in a jump. */
#include "agent/python_hooks.h"

#include <string.h>

#include "agent/heap.h"
#include "wire/record.h"

#define RARE __attribute__((noinline))

/* Up to this size, and what debug hooks add to it, Python serves requests from
 * its arenas, whose own making is kept out of the count by arena_map. */
#define PYTHON_SMALL 480u

/* Set by a calloc that came through our hook; see python_hooks_are_below. */
static __thread bool probe_seen __attribute__((tls_model("initial-exec")));

/* --- a block in which a mark falls --- */

/* A small block outside of Python's arenas, where free() is what ends it; NULL when there
 * is no room.  It is asked for as a large one and then made smaller, so that Python's own
 * count of its blocks stays right. */
static void *malloc_outside(const struct python_allocator *next, size_t size)
{
	void *outside = next->malloc(next->context, PYMALLOC_MOST + 1);
	void *shrunk = outside != NULL ? next->realloc(next->context, outside, size) : NULL;
	return shrunk != NULL ? shrunk : outside;
}

/* The same block there. */
static void *move_out(const struct python_allocator *next, void *block, size_t size)
{
	void *outside = malloc_outside(next, size);
	if (outside == NULL)
		return block;
	memcpy(outside, block, size);
	next->free(next->context, block);
	return outside;
}

static RARE void *met(const struct python_allocator *next, void *block, size_t size)
{
	struct heap_choice choice;
	if (block == NULL || !heap_choose(&choice, size, ALLOC_PYTHON))
		return block;
	if (size <= PYMALLOC_MOST)
		block = move_out(next, block, size);
	heap_settle(&choice, block);
	return block;
}

/* --- hooks --- */

/* What is left behind the block is known before the call, unless a mark falls in it:
 * so nothing but that has to be kept over the call. */

static RARE void *malloc_met(void *context, size_t size)
{
	const struct python_allocator *next = context;
	uint64_t left = heap_pause();
	void *block = next->malloc(next->context, size);
	g_heap.left = left;
	return met(next, block, size);
}

static RARE void *malloc_paused(void *context, size_t size)
{
	const struct python_allocator *next = context;
	if (heap_count(size))
		return malloc_met(context, size);
	uint64_t left = heap_pause();
	void *block = next->malloc(next->context, size);
	g_heap.left = left;
	return block;
}

static void *malloc_small(void *context, size_t size)
{
	const struct python_allocator *next = context;
	if (__builtin_expect(size > PYTHON_SMALL, 0))
		return malloc_paused(context, size);
	return heap_count(size) ? malloc_met(context, size) : next->malloc(next->context, size);
}

static RARE void *calloc_met(void *context, size_t count, size_t size)
{
	const struct python_allocator *next = context;
	uint64_t left = heap_pause();
	void *block = next->calloc(next->context, count, size);
	g_heap.left = left;
	return met(next, block, count * size);
}

static RARE void *calloc_paused(void *context, size_t count, size_t size)
{
	const struct python_allocator *next = context;
	probe_seen = true;
	if (heap_count(count * size))
		return calloc_met(context, count, size);
	uint64_t left = heap_pause();
	void *block = next->calloc(next->context, count, size);
	g_heap.left = left;
	return block;
}

static RARE void *realloc_met(void *context, void *block, size_t size)
{
	const struct python_allocator *next = context;
	uint64_t followed = live_may_have(block) ? live_take(block) : 0;
	uint64_t left = heap_pause();
	void *moved = next->realloc(next->context, block, size);
	heap_end_old(block, followed, moved == NULL, true);
	g_heap.left = left;
	return heap_count(size) ? met(next, moved, size) : moved;
}

static RARE void *realloc_paused(void *context, void *block, size_t size)
{
	const struct python_allocator *next = context;
	if (live_may_have(block) || heap_count(size))
		return realloc_met(context, block, size);
	uint64_t left = heap_pause();
	void *moved = next->realloc(next->context, block, size);
	g_heap.left = left;
	return moved;
}

/* What goes on to realloc() is counted there, by what the block had before, or in malloc() where
 * it is moved out of the arenas. */
static void *realloc_passed_on(void *context, void *block, size_t size)
{
	const struct python_allocator *next = context;
	g_passed_on = ALLOC_PYTHON;
	void *moved = next->realloc(next->context, block, size);
	g_passed_on = 0;
	return moved;
}

/* --- pymalloc, which makes no use of its context --- */

/* Small requests end there and are counted here.  Larger ones end in malloc and are counted
 * there, which is told apart from a request of others only when a mark falls in them: for
 * these it is looked ahead, and the mark is met here. */
static inline bool is_mark_ahead(size_t size)
{
	return __builtin_expect(g_heap.left < size, 0);
}

static RARE void *small_malloc_met(void *context, size_t size)
{
	const struct python_allocator *next = context;
	struct heap_choice choice;
	if (!heap_choose(&choice, size, ALLOC_PYTHON))
		return next->malloc(context, size);
	void *block = malloc_outside(next, size);
	heap_settle(&choice, block);
	return block != NULL ? block : next->malloc(context, size);
}

static RARE void *large_malloc(void *context, size_t size)
{
	const struct python_allocator *next = context;
	return is_mark_ahead(size) ? malloc_met(context, size) : next->malloc(context, size);
}

static void *malloc_pymalloc(void *context, size_t size)
{
	const struct python_allocator *next = context;
	if (__builtin_expect(size > PYMALLOC_MOST, 0))
		return large_malloc(context, size);
	return heap_count(size) ? small_malloc_met(context, size) : next->malloc(context, size);
}

static void *calloc_pymalloc(void *context, size_t count, size_t size)
{
	const struct python_allocator *next = context;
	size_t bytes = count * size;
	probe_seen = true;
	if (bytes > PYMALLOC_MOST ? is_mark_ahead(bytes) : heap_count(bytes))
		return calloc_met(context, count, size);
	return next->calloc(context, count, size);
}

/* Only a block outside of the arenas goes on to realloc(): a large one that shrinks, or
 * one that is sampled.  There its sample ends; and it is not counted again. */
static inline void *resize_counted(void *context, void *block, size_t size)
{
	const struct python_allocator *next = context;
	g_heap.resizing = block;
	return next->realloc(context, block, size);
}

static RARE void *small_realloc_met(void *context, void *block, size_t size)
{
	const struct python_allocator *next = context;
	struct heap_choice choice;
	if (!heap_choose(&choice, size, ALLOC_PYTHON))
		return resize_counted(context, block, size);
	void *moved = resize_counted(context, block, size);
	if (moved != NULL)
		moved = move_out(next, moved, size);
	heap_settle(&choice, moved);
	return moved;
}

static void *realloc_pymalloc(void *context, void *block, size_t size)
{
	if (__builtin_expect(size > PYMALLOC_MOST, 0))
		return realloc_passed_on(context, block, size);
	return heap_count(size) ? small_realloc_met(context, block, size)
				: resize_counted(context, block, size);
}

/* --- frees --- */

static RARE void free_met(void *context, void *block)
{
	const struct python_allocator *next = context;
	heap_forget(block);
	next->free(next->context, block);
}

static void free_looked_up(void *context, void *block)
{
	const struct python_allocator *next = context;
	if (live_may_have(block))
		free_met(context, block);
	else
		next->free(next->context, block);
}

/* --- which of them --- */

struct python_allocator python_hooks_over(struct python_allocator *next, enum python_way way)
{
	struct python_allocator ours = {next, malloc_small, calloc_paused, realloc_paused,
					free_looked_up};
	if (way == OVER_MALLOC) {
		ours.malloc = malloc_paused;
		ours.realloc = realloc_passed_on;
	}
	if (way == OVER_PYMALLOC) {
		ours.malloc = malloc_pymalloc;
		ours.calloc = calloc_pymalloc;
		ours.realloc = realloc_pymalloc;
		ours.free = next->free;
	}
	return ours;
}

bool python_hooks_are(const struct python_allocator *now)
{
	return now->malloc == malloc_small || now->malloc == malloc_paused ||
	       now->malloc == malloc_pymalloc;
}

bool python_hooks_are_below(const struct python_allocator *now)
{
	probe_seen = false;
	void *block = now->calloc(now->context, 1, 1);
	now->free(now->context, block);
	return probe_seen;
}
