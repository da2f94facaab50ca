/* memory.c - the functions that stand in for the C library's allocators and
 * copies.
 *
 * Everything is forwarded to the next library that has the function, which may
 * be the C library or an allocator that the user has preloaded.  What is
 * counted and sampled is in heap.h.
 *
 * These functions are called from the very first moment, also by dlsym while
 * we look for the real ones; a small arena serves until they are found. */
#undef _FILE_OFFSET_BITS /* both mmap and mmap64 are to be defined here */

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/heap.h"

/* Every function that is looked up: result type, name, parameters. */
#define REAL_FUNCTIONS(X)                                                                          \
	X(void *, malloc, (size_t))                                                                \
	X(void *, calloc, (size_t, size_t))                                                        \
	X(void *, realloc, (void *, size_t))                                                       \
	X(void *, reallocarray, (void *, size_t, size_t))                                          \
	X(void, free, (void *))                                                                    \
	X(int, posix_memalign, (void **, size_t, size_t))                                          \
	X(void *, aligned_alloc, (size_t, size_t))                                                 \
	X(void *, memalign, (size_t, size_t))                                                      \
	X(void *, valloc, (size_t))                                                                \
	X(void *, mmap, (void *, size_t, int, int, int, off_t))                                    \
	X(int, munmap, (void *, size_t))                                                           \
	X(void *, memcpy, (void *, const void *, size_t))                                          \
	X(void *, memmove, (void *, const void *, size_t))

static struct {
#define X(type, name, parameters) type(*name) parameters;
	REAL_FUNCTIONS(X)
#undef X
} real;

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

static bool resolve(void)
{
	static _Atomic bool is_resolving;
	if (real.memmove != NULL)
		return true;
	if (atomic_exchange(&is_resolving, true))
		return false;
#define X(type, name, parameters) *(void **)&real.name = dlsym(RTLD_NEXT, #name);
	REAL_FUNCTIONS(X)
#undef X
	atomic_store(&is_resolving, false);
	return true;
}

#define IS_READY() (__builtin_expect(real.memmove != NULL, 1) || resolve())

/* --- allocations --- */

static inline void *counted(void *block, size_t size)
{
	return heap_count(size) ? heap_sample(block, size, 0) : block;
}

AGENT_EXPORT void *malloc(size_t size)
{
	if (!IS_READY())
		return arena_alloc(size);
	if (!heap_count(size))
		return real.malloc(size);
	return heap_sample(real.malloc(size), size, 0);
}

AGENT_EXPORT void *calloc(size_t count, size_t size)
{
	if (!IS_READY())
		return arena_alloc(count * size); /* zero from the start */
	return counted(real.calloc(count, size), count * size);
}

AGENT_EXPORT void free(void *block)
{
	if (is_in_arena(block))
		return;
	if (heap_may_be_sampled(block))
		heap_forget(block);
	if (IS_READY())
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

/* Ends the old block's sample if the call moved or resized it. */
static void *resized(void *block, uint64_t id, void *moved, size_t size)
{
	if (moved == NULL && size != 0) {
		if (id != 0)
			heap_put_back(block, id);
		return NULL;
	}
	if (id != 0)
		heap_end(id);
	return counted(moved, size);
}

AGENT_EXPORT void *realloc(void *block, size_t size)
{
	if (is_in_arena(block))
		return leave_arena(block, size);
	if (!IS_READY())
		return arena_alloc(size);
	uint64_t id = heap_take(block);
	return resized(block, id, real.realloc(block, size), size);
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

/* Only memory that is the process's own: a file's pages are not allocated. */
static bool is_memory(int flags)
{
	return (flags & MAP_ANONYMOUS) != 0 && (flags & MAP_FIXED) == 0;
}

AGENT_EXPORT void *mmap(void *address, size_t size, int rights, int flags, int fd, off_t offset)
{
	if (!IS_READY()) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	void *block = real.mmap(address, size, rights, flags, fd, offset);
	if (block != MAP_FAILED && is_memory(flags) && rights != PROT_NONE)
		counted(block, size);
	return block;
}

AGENT_EXPORT void *mmap64(void *address, size_t size, int rights, int flags, int fd, off64_t offset)
{
	return mmap(address, size, rights, flags, fd, offset);
}

AGENT_EXPORT int munmap(void *block, size_t size)
{
	if (!IS_READY()) {
		errno = ENOMEM;
		return -1;
	}
	if (heap_may_be_sampled(block))
		heap_forget(block);
	return real.munmap(block, size);
}

/* --- copies --- */

/* Before the real one is known, and only then: it must not call memcpy. */
static void *copy_bytes(void *to, const void *from, size_t size)
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

AGENT_EXPORT void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	if (heap_copy_count(size))
		heap_copy_sample(size);
	if (__builtin_expect(real.memcpy == NULL, 0))
		return copy_bytes(to, from, size);
	return real.memcpy(to, from, size);
}

AGENT_EXPORT void *memmove(void *to, const void *from, size_t size)
{
	if (heap_copy_count(size))
		heap_copy_sample(size);
	if (__builtin_expect(real.memmove == NULL, 0))
		return copy_bytes(to, from, size);
	return real.memmove(to, from, size);
}

/* --- Python's allocators --- */

/* As in CPython's pymem.h; the same since 3.5. */
struct python_allocator {
	void *context;
	void *(*malloc)(void *context, size_t size);
	void *(*calloc)(void *context, size_t count, size_t size);
	void *(*realloc)(void *context, void *block, size_t size);
	void (*free)(void *context, void *block);
};

enum python_domain { DOMAIN_RAW, DOMAIN_MEM, DOMAIN_OBJ, DOMAIN_COUNT };

/* What was installed before us, by domain; our context points here. */
static struct python_allocator python_real[DOMAIN_COUNT];
static void (*get_allocator)(int domain, struct python_allocator *allocator);
static void (*set_allocator)(int domain, struct python_allocator *allocator);

/* Set by a calloc that came through our hook; see is_installed. */
static __thread bool probe_seen __attribute__((tls_model("initial-exec")));

/* Below Python's allocator nothing is counted: what it takes from malloc or
 * mmap to serve a request is that request.  Returns the count to go on with. */
static inline int64_t pause_count(void)
{
	int64_t left = g_heap_left;
	g_heap_left = HEAP_PAUSE;
	return left;
}

static inline void *counted_python(void *block, size_t size, int64_t left)
{
	g_heap_left = left;
	return heap_count(size) ? heap_sample(block, size, ALLOC_PYTHON) : block;
}

/* Python serves requests up to this size from its arenas, whose own making is
 * kept out of the count by arena_map. */
#define PYTHON_SMALL 512u

static void *python_malloc_paused(const struct python_allocator *next, size_t size)
{
	int64_t left = pause_count();
	return counted_python(next->malloc(next->context, size), size, left);
}

static void *python_malloc(void *context, size_t size)
{
	const struct python_allocator *next = context;
	if (__builtin_expect(size > PYTHON_SMALL || g_heap_left < (int64_t)size, 0))
		return python_malloc_paused(next, size);
	g_heap_left -= (int64_t)size;
	return next->malloc(next->context, size);
}

static void *python_calloc(void *context, size_t count, size_t size)
{
	const struct python_allocator *next = context;
	probe_seen = true;
	int64_t left = pause_count();
	return counted_python(next->calloc(next->context, count, size), count * size, left);
}

static void *python_realloc(void *context, void *block, size_t size)
{
	const struct python_allocator *next = context;
	uint64_t id = heap_take(block);
	int64_t left = pause_count();
	void *moved = next->realloc(next->context, block, size);
	if (moved == NULL && id != 0)
		heap_put_back(block, id);
	else if (id != 0)
		heap_end(id);
	return counted_python(moved, size, left);
}

static void python_free(void *context, void *block)
{
	const struct python_allocator *next = context;
	if (heap_may_be_sampled(block))
		heap_forget(block);
	next->free(next->context, block);
}

/* Whether a request still comes through our hook, perhaps below another one
 * (tracemalloc): wrapping it a second time would make a circle.  While Python
 * has not started its allocators cannot be called. */
static bool is_installed(const struct python_allocator *now, bool is_started)
{
	if (now->malloc == python_malloc || !is_started)
		return now->malloc == python_malloc;
	probe_seen = false;
	void *block = now->calloc(now->context, 1, 1);
	now->free(now->context, block);
	return probe_seen;
}

static void install(enum python_domain domain, bool is_started)
{
	struct python_allocator now;
	get_allocator(domain, &now);
	if (is_installed(&now, is_started))
		return;
	python_real[domain] = now;
	struct python_allocator ours = {&python_real[domain], python_malloc, python_calloc,
					python_realloc, python_free};
	set_allocator(domain, &ours);
}

/* --- Python's arenas --- */

struct python_arena_allocator {
	void *context;
	void *(*alloc)(void *context, size_t size);
	void (*free)(void *context, void *block, size_t size);
};

static struct python_arena_allocator arena_real;

static void *arena_map(void *context, size_t size)
{
	(void)context;
	int64_t left = pause_count();
	void *block = arena_real.alloc(arena_real.context, size);
	g_heap_left = left;
	return block;
}

static void arena_unmap(void *context, void *block, size_t size)
{
	(void)context;
	arena_real.free(arena_real.context, block, size);
}

static void install_arenas(void)
{
	void (*get)(struct python_arena_allocator *);
	void (*set)(struct python_arena_allocator *);
	*(void **)&get = dlsym(RTLD_DEFAULT, "PyObject_GetArenaAllocator");
	*(void **)&set = dlsym(RTLD_DEFAULT, "PyObject_SetArenaAllocator");
	if (get == NULL || set == NULL)
		return;
	get(&arena_real);
	set(&(struct python_arena_allocator){NULL, arena_map, arena_unmap});
}

static void install_all(bool is_started)
{
	if (get_allocator == NULL || set_allocator == NULL)
		return;
	install(DOMAIN_MEM, is_started);
	install(DOMAIN_OBJ, is_started);
}

void memory_python_started(void)
{
	static bool is_settled;
	if (is_settled)
		return;
	is_settled = true;
	install_all(true);
}

/* --- life --- */

int64_t memory_pause(void)
{
	int64_t left = g_copy_left;
	g_copy_left = HEAP_PAUSE;
	return left;
}

void memory_resume(int64_t paused)
{
	g_copy_left = paused;
}

int memory_start(void)
{
	if (!resolve())
		return -EAGAIN;
	int status = heap_start(g_agent.control->memory_window);
	if (status != 0)
		return status;
	*(void **)&get_allocator = dlsym(RTLD_DEFAULT, "PyMem_GetAllocator");
	*(void **)&set_allocator = dlsym(RTLD_DEFAULT, "PyMem_SetAllocator");
	install_all(false);
	install_arenas();
	return 0;
}

void memory_after_fork(void)
{
	heap_after_fork();
}
