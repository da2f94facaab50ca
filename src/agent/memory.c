/* memory.c - the functions that stand in for the C library's allocators and
 * copies.
 *
 * Everything is forwarded to the next library that has the function, which may
 * be the C library or an allocator that the user has preloaded.  What is
 * counted and sampled is in heap.h.
 *
 * These functions are called from the very first moment, also by dlsym while
 * we look for the real ones; a small arena serves until they are found.
 *
 * The common case of each is short and ends in a jump: what a mark or a sample
 * needs is in functions of its own, so that it needs no stack frame. */
#undef _FILE_OFFSET_BITS /* both mmap and mmap64 are to be defined here */

#include "agent/memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/allocators.h"
#include "agent/heap.h"
#include "agent/mappings.h"
#include "agent/python_hooks.h"
#include "agent/redirect.h"
#include "agent/small_copy.h"
#include "agent/start.h"

/* Every function that is looked up: result type, name, parameters. */
#define REAL_FUNCTIONS(X)                                                                          \
	X(void *, malloc, (size_t))                                                                \
	X(void *, calloc, (size_t, size_t))                                                        \
	X(void *, realloc, (void *, size_t))                                                       \
	X(void *, reallocarray, (void *, size_t, size_t))                                          \
	X(void, free, (void *))                                                                    \
	X(size_t, malloc_usable_size, (void *))                                                    \
	X(int, posix_memalign, (void **, size_t, size_t))                                          \
	X(void *, aligned_alloc, (size_t, size_t))                                                 \
	X(void *, memalign, (size_t, size_t))                                                      \
	X(void *, valloc, (size_t))                                                                \
	X(void *, mmap, (void *, size_t, int, int, int, off_t))                                    \
	X(void *, mremap, (void *, size_t, size_t, int, ...))                                      \
	X(int, munmap, (void *, size_t))                                                           \
	X(void *, memcpy, (void *, const void *, size_t))                                          \
	X(void *, __memcpy_chk, (void *, const void *, size_t, size_t))                            \
	X(void *, __memmove_chk, (void *, const void *, size_t, size_t))                           \
	X(void *, memmove, (void *, const void *, size_t))

#define RARE __attribute__((noinline))

static void *early_malloc(size_t size);
static void *early_calloc(size_t count, size_t size);
static void *early_realloc(void *block, size_t size);
static void early_free(void *block);
static void *early_copy(void *to, const void *from, size_t size);

/* What is called most is never looked at before the call: it begins as a
 * function that looks the real one up. */
static struct {
#define X(type, name, parameters) type(*name) parameters;
	REAL_FUNCTIONS(X)
#undef X
} real = {.malloc = early_malloc, .calloc = early_calloc, .realloc = early_realloc,
	  .free = early_free, .memcpy = early_copy, .memmove = early_copy};

/* --- before the real functions are known --- */

#define ARENA_BYTES 65536u
static _Alignas(16) unsigned char arena[ARENA_BYTES];
static _Atomic size_t arena_used;

static void *arena_alloc(size_t size)
{
	size_t wanted = (size + 31u) & ~(size_t)15u;
	size_t at = atomic_fetch_add(&arena_used, wanted);
	return at + wanted <= ARENA_BYTES ? arena + at : NULL;
}

static bool is_in_arena(const void *block)
{
	const unsigned char *at = block;
	return at >= arena && at < arena + ARENA_BYTES;
}

static bool is_ready;

static bool resolve(void)
{
	static _Atomic bool is_resolving;
	if (is_ready)
		return true;
	if (atomic_exchange(&is_resolving, true))
		return false;
	/* A loaded agent is behind all libraries, and an allocator that the user has
	 * preloaded is in front of them. */
#define X(type, name, parameters) \
	*(void **)&real.name = g_agent.is_loaded ? redirect_find(#name) : dlsym(RTLD_NEXT, #name);
	REAL_FUNCTIONS(X)
#undef X
	is_ready = true;
	atomic_store(&is_resolving, false);
	return true;
}

void memory_prepare(void)
{
	resolve();
}

#define IS_READY() (__builtin_expect(is_ready, 1) || resolve())

static void *early_malloc(size_t size)
{
	return resolve() ? real.malloc(size) : arena_alloc(size);
}

static void *early_calloc(size_t count, size_t size)
{
	return resolve() ? real.calloc(count, size) : arena_alloc(count * size); /* all zero */
}

static void *early_realloc(void *block, size_t size)
{
	return resolve() ? real.realloc(block, size) : arena_alloc(size);
}

static void early_free(void *block)
{
	if (resolve())
		real.free(block);
}

/* Must not call memcpy, nor be made into a call of it. */
static void *early_copy(void *to, const void *from, size_t size)
{
	volatile unsigned char *out = to;
	const unsigned char *in = from;
	if ((uintptr_t)to <= (uintptr_t)from) {
		for (size_t i = 0; i < size; i++)
			out[i] = in[i];
	} else {
		for (size_t i = size; i-- > 0;)
			out[i] = in[i];
	}
	return to;
}

/* --- allocations --- */

static inline void *counted(void *block, size_t size)
{
	return heap_count(size) ? heap_meet(block, size, g_passed_on) : block;
}

static RARE void *malloc_met(size_t size)
{
	return heap_meet(real.malloc(size), size, g_passed_on);
}

AGENT_EXPORT void *malloc(size_t size)
{
	return heap_count(size) ? malloc_met(size) : real.malloc(size);
}

static RARE void *calloc_met(size_t count, size_t size)
{
	return heap_meet(real.calloc(count, size), count * size, 0);
}

AGENT_EXPORT void *calloc(size_t count, size_t size)
{
	return heap_count(count * size) ? calloc_met(count, size) : real.calloc(count, size);
}

static RARE void free_met(void *block)
{
	heap_forget(block);
	real.free(block);
}

AGENT_EXPORT void free(void *block)
{
	if (is_in_arena(block))
		return;
	if (live_may_have(block))
		free_met(block);
	else
		real.free(block);
}

/* A block from the arena moves to the real heap. */
static void *leave_arena(void *block, size_t size)
{
	size_t most = (size_t)(arena + ARENA_BYTES - (unsigned char *)block);
	void *moved = malloc(size);
	if (moved != NULL)
		memcpy(moved, block, size < most ? size : most);
	return moved;
}

/* The code of the allocator behind malloc. */
static uint64_t allocator_start, allocator_end;
static bool has_sizes; /* it tells how large its blocks are */

/* The bytes that there is room for in a block; 0: not known. */
static size_t size_of(void *block)
{
	return has_sizes && block != NULL ? real.malloc_usable_size(block) : 0;
}

/* Whether Python has counted the block before it passed it on to us. */
static inline bool is_counted_by_python(const void *block)
{
	return block == g_heap.resizing && block != NULL;
}

/* Python has counted it as any new block: its old sample ends. */
static RARE void *resize_counted(void *block, size_t size)
{
	g_heap.resizing = NULL;
	uint64_t followed = live_may_have(block) ? live_take(block) : 0;
	void *moved = real.realloc(block, size);
	heap_end_old(block, followed, moved == NULL && size != 0, moved != NULL);
	return moved;
}

/* What the block had decides how it is counted.  A small one of Python's is a new block each time:
 * it may come from Python's arenas, where that is not known, and all are to be counted alike. */
static bool is_as_new(size_t before)
{
	return before == 0 || (g_passed_on != 0 && before <= PYMALLOC_ROOM);
}

AGENT_EXPORT void *realloc(void *block, size_t size)
{
	if (is_in_arena(block))
		return leave_arena(block, size);
	if (is_counted_by_python(block))
		return resize_counted(block, size);
	uint64_t followed = live_may_have(block) ? live_take(block) : 0;
	size_t before = size_of(block);
	void *moved = real.realloc(block, size);
	if (moved == NULL || is_as_new(before)) {
		heap_end_old(block, followed, moved == NULL && size != 0, moved != NULL);
		if (moved != NULL)
			counted(moved, size);
	} else {
		heap_resize(&(struct heap_resized){moved, size, before, size_of(moved), followed,
						   g_passed_on});
	}
	return moved;
}

AGENT_EXPORT void *reallocarray(void *block, size_t count, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(block, bytes);
}

AGENT_EXPORT int posix_memalign(void **block, size_t alignment, size_t size)
{
	if (!IS_READY())
		return ENOMEM;
	int status = real.posix_memalign(block, alignment, size);
	if (status == 0)
		counted(*block, size);
	return status;
}

AGENT_EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	return IS_READY() ? counted(real.aligned_alloc(alignment, size), size) : NULL;
}

AGENT_EXPORT void *memalign(size_t alignment, size_t size)
{
	return IS_READY() ? counted(real.memalign(alignment, size), size) : NULL;
}

AGENT_EXPORT void *valloc(size_t size)
{
	return IS_READY() ? counted(real.valloc(size), size) : NULL;
}

/* --- mappings --- */

/* Only memory that is the process's own: a file's pages are not allocated.  What an
 * allocator that is not the C library's maps is what it hands out, and counted there. */
static bool is_memory(int rights, int flags, const void *caller)
{
	uint64_t from = (uint64_t)(uintptr_t)caller;
	return (flags & MAP_ANONYMOUS) != 0 && (flags & MAP_FIXED) == 0 && rights != PROT_NONE &&
	       (from < allocator_start || from >= allocator_end);
}

static void count_mapping(void *block, size_t size, bool is_pool)
{
	if (heap_count(size) && !mappings_add(block, size, is_pool))
		heap_meet(block, size, 0);
}

static void *map(void *address, size_t size, int rights, int flags, int fd, off64_t offset,
		 const void *caller)
{
	if (!IS_READY()) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	void *block = real.mmap(address, size, rights, flags, fd, offset);
	if (block != MAP_FAILED && is_memory(rights, flags, caller))
		/* Allocators ask for no reservation where they take more than they need. */
		count_mapping(block, size, (flags & MAP_NORESERVE) != 0);
	return block;
}

AGENT_EXPORT void *mmap(void *address, size_t size, int rights, int flags, int fd, off_t offset)
{
	return map(address, size, rights, flags, fd, offset, __builtin_return_address(0));
}

AGENT_EXPORT void *mmap64(void *address, size_t size, int rights, int flags, int fd, off64_t offset)
{
	return map(address, size, rights, flags, fd, offset, __builtin_return_address(0));
}

/* A mapping that is not sampled may be a file's, so its new size is not counted. */
AGENT_EXPORT void *mremap(void *block, size_t size, size_t new_size, int flags, ...)
{
	va_list rest;
	va_start(rest, flags);
	void *wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(rest, void *) : NULL;
	va_end(rest);
	if (!IS_READY()) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	struct mapping_slot *slot = mappings_take(block);
	uint64_t id = live_may_have(block) ? live_take(block) : 0;
	void *moved = real.mremap(block, size, new_size, flags, wanted);
	if (moved == MAP_FAILED) {
		if (slot != NULL)
			mappings_put_back(slot, block);
		if (id != 0)
			heap_put_back(block, id);
		return moved;
	}
	if (slot != NULL)
		mappings_moved(slot);
	if (id != 0)
		heap_end(id, true);
	if (slot != NULL || id != 0)
		count_mapping(moved, new_size, false);
	return moved;
}

AGENT_EXPORT int munmap(void *block, size_t size)
{
	if (!IS_READY()) {
		errno = ENOMEM;
		return -1;
	}
	mappings_unmap(block, size);
	if (live_may_have(block))
		heap_forget(block);
	return real.munmap(block, size);
}

/* --- copies --- */

static RARE void *memcpy_met(void *to, const void *from, size_t size)
{
	heap_meet_copy(size);
	return real.memcpy(to, from, size);
}

AGENT_EXPORT void *memcpy(void *to, const void *from, size_t size)
{
	if (heap_copy_count(size))
		return memcpy_met(to, from, size);
	return size <= SMALL_COPY_MOST ? small_copy(to, from, size) : real.memcpy(to, from, size);
}

static RARE void *memmove_met(void *to, const void *from, size_t size)
{
	heap_meet_copy(size);
	return real.memmove(to, from, size);
}

AGENT_EXPORT void *memmove(void *to, const void *from, size_t size)
{
	if (heap_copy_count(size))
		return memmove_met(to, from, size);
	return size <= SMALL_COPY_MOST ? small_copy(to, from, size) : real.memmove(to, from, size);
}

/* What programs built with _FORTIFY_SOURCE call; room is what to has, and the
 * real function ends the program when it is too little. */
void *__memcpy_chk(void *to, const void *from, size_t size, size_t room); /* NOLINT */
void *__memmove_chk(void *to, const void *from, size_t size, size_t room); /* NOLINT */

AGENT_EXPORT void *__memcpy_chk(void *to, const void *from, size_t size, size_t room)
{
	if (heap_copy_count(size))
		heap_meet_copy(size);
	if (size <= SMALL_COPY_MOST && size <= room)
		return small_copy(to, from, size);
	return IS_READY() ? real.__memcpy_chk(to, from, size, room) : early_copy(to, from, size);
}

AGENT_EXPORT void *__memmove_chk(void *to, const void *from, size_t size, size_t room)
{
	if (heap_copy_count(size))
		heap_meet_copy(size);
	if (size <= SMALL_COPY_MOST && size <= room)
		return small_copy(to, from, size);
	return IS_READY() ? real.__memmove_chk(to, from, size, room) : early_copy(to, from, size);
}

/* --- life --- */

uint64_t memory_pause(void)
{
	uint64_t left = g_heap.copy_left;
	g_heap.copy_left = HEAP_PAUSE;
	return left;
}

void memory_resume(uint64_t paused)
{
	g_heap.copy_left = paused;
}

void memory_hide(uint64_t saved[2])
{
	saved[0] = g_heap.left;
	saved[1] = g_heap.copy_left;
	g_heap.left = HEAP_PAUSE;
	g_heap.copy_left = HEAP_PAUSE;
}

void memory_show(const uint64_t saved[2])
{
	g_heap.left = saved[0];
	g_heap.copy_left = saved[1];
}

int memory_start(void)
{
	if (!resolve())
		return -EAGAIN;
	start_find_code((uint64_t)(uintptr_t)real.malloc, &allocator_start, &allocator_end);
	/* Another library's function would misread its blocks. */
	uint64_t sizes = (uint64_t)(uintptr_t)real.malloc_usable_size;
	has_sizes = sizes >= allocator_start && sizes < allocator_end;
	mappings_start();
	int status = heap_start(g_agent.control->memory_window);
	if (status == 0 && !g_agent.is_loaded)
		allocators_start();
	return status;
}

const char *memory_join(void)
{
	return allocators_join();
}

void memory_leave(void)
{
	mappings_tell();
	allocators_leave();
}

void memory_after_fork(void)
{
	mappings_start();
	heap_after_fork();
}

void memory_end(void)
{
	mappings_tell();
}
