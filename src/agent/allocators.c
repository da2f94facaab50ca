/* allocators.c - see allocators.h.
 *
 * They are wrapped twice.  The preload's constructor does it, so that nothing
 * is missed; but where PYTHONMALLOC is set the interpreter then chooses its
 * allocators anew while it starts, so it is looked at again when it has. */
#include "agent/allocators.h"

#include <dlfcn.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/heap.h"

/* As in CPython's pymem.h; the same since 3.5. */
struct python_allocator {
	void *context;
	void *(*malloc)(void *context, size_t size);
	void *(*calloc)(void *context, size_t count, size_t size);
	void *(*realloc)(void *context, void *block, size_t size);
	void (*free)(void *context, void *block);
};

struct python_arena_allocator {
	void *context;
	void *(*alloc)(void *context, size_t size);
	void (*free)(void *context, void *block, size_t size);
};

enum python_domain { DOMAIN_RAW, DOMAIN_MEM, DOMAIN_OBJ, DOMAIN_COUNT };

/* Up to this size, and what debug hooks add to it, Python serves requests from
 * its arenas, whose own making is kept out of the count by arena_map. */
#define PYTHON_SMALL 480u

/* What was installed before us, by domain; our context points here. */
static struct python_allocator python_real[DOMAIN_COUNT];
static struct python_arena_allocator arena_real;
static void (*get_allocator)(int domain, struct python_allocator *allocator);
static void (*set_allocator)(int domain, struct python_allocator *allocator);
static int (*is_finalizing)(void);

/* Set by a calloc that came through our hook; see is_installed. */
static __thread bool probe_seen __attribute__((tls_model("initial-exec")));

/* --- hooks --- */

/* Below Python's allocator nothing is counted: what it takes from malloc or
 * mmap to serve a request is that request.  Returns the count to go on with. */
static inline uint64_t pause_count(void)
{
	uint64_t left = g_heap_left;
	g_heap_left = HEAP_PAUSE;
	return left;
}

static inline void *counted(void *block, size_t size, uint64_t left)
{
	g_heap_left = left;
	return heap_count(size) ? heap_meet(block, size, ALLOC_PYTHON) : block;
}

static void *python_malloc_paused(void *context, size_t size)
{
	const struct python_allocator *next = context;
	uint64_t left = pause_count();
	return counted(next->malloc(next->context, size), size, left);
}

/* The common case, where nothing lies below: no pause, and a jump at the end. */
static void *python_malloc(void *context, size_t size)
{
	const struct python_allocator *next = context;
	if (__builtin_expect(size > PYTHON_SMALL || size > g_heap_left, 0))
		return python_malloc_paused(context, size);
	g_heap_left -= size;
	return next->malloc(next->context, size);
}

static void *python_calloc(void *context, size_t count, size_t size)
{
	const struct python_allocator *next = context;
	probe_seen = true;
	uint64_t left = pause_count();
	return counted(next->calloc(next->context, count, size), count * size, left);
}

static void *python_realloc(void *context, void *block, size_t size)
{
	const struct python_allocator *next = context;
	uint64_t id = live_may_have(block) ? live_take(block) : 0;
	uint64_t left = pause_count();
	void *moved = next->realloc(next->context, block, size);
	if (moved == NULL && id != 0)
		heap_put_back(block, id);
	else if (id != 0)
		heap_end(id, true);
	return counted(moved, size, left);
}

static __attribute__((noinline, cold)) void python_free_met(void *context, void *block)
{
	const struct python_allocator *next = context;
	heap_forget(block);
	next->free(next->context, block);
}

static void python_free(void *context, void *block)
{
	const struct python_allocator *next = context;
	if (live_may_have(block))
		python_free_met(context, block);
	else
		next->free(next->context, block);
}

static void *arena_map(void *context, size_t size)
{
	(void)context;
	uint64_t left = pause_count();
	void *block = arena_real.alloc(arena_real.context, size);
	g_heap_left = left;
	return block;
}

static void arena_unmap(void *context, void *block, size_t size)
{
	(void)context;
	arena_real.free(arena_real.context, block, size);
}

/* --- installing --- */

static bool is_ours(const struct python_allocator *allocator)
{
	return allocator->malloc == python_malloc || allocator->malloc == python_malloc_paused;
}

/* Whether a request still comes through our hook, perhaps below another one
 * (tracemalloc): wrapping it a second time would make a circle. */
static bool is_installed(const struct python_allocator *now)
{
	probe_seen = false;
	void *block = now->calloc(now->context, 1, 1);
	now->free(now->context, block);
	return probe_seen;
}

/* Whether small requests end in malloc too (PYTHONMALLOC=malloc), where they
 * would be counted a second time.  Tried twice: the first may enlarge a table. */
static bool is_through_malloc(const struct python_allocator *next)
{
	uint64_t left = pause_count();
	bool is_counted = true;
	for (int i = 0; i < 2 && is_counted; i++) {
		g_heap_left = HEAP_PAUSE;
		void *block = next->malloc(next->context, 16);
		is_counted = g_heap_left != HEAP_PAUSE;
		next->free(next->context, block);
	}
	g_heap_left = left;
	return is_counted;
}

static void install(enum python_domain domain, const struct python_allocator *next, bool is_paused)
{
	python_real[domain] = *next;
	struct python_allocator ours = {
		&python_real[domain], is_paused ? python_malloc_paused : python_malloc,
		python_calloc, python_realloc, python_free,
	};
	set_allocator(domain, &ours);
}

static void install_arenas(void)
{
	void (*get)(struct python_arena_allocator *);
	void (*set)(struct python_arena_allocator *);
	*(void **)&get = dlsym(RTLD_DEFAULT, "PyObject_GetArenaAllocator");
	*(void **)&set = dlsym(RTLD_DEFAULT, "PyObject_SetArenaAllocator");
	if (get == NULL || set == NULL)
		return;
	struct python_arena_allocator now;
	get(&now);
	if (now.alloc == arena_map)
		return;
	arena_real = now;
	set(&(struct python_arena_allocator){NULL, arena_map, arena_unmap});
}

static void restore_arenas(void)
{
	void (*get)(struct python_arena_allocator *);
	void (*set)(struct python_arena_allocator *);
	*(void **)&get = dlsym(RTLD_DEFAULT, "PyObject_GetArenaAllocator");
	*(void **)&set = dlsym(RTLD_DEFAULT, "PyObject_SetArenaAllocator");
	struct python_arena_allocator now = {0};
	if (get != NULL)
		get(&now);
	if (set != NULL && now.alloc == arena_map)
		set(&arena_real);
}

static bool find_functions(void)
{
	*(void **)&get_allocator = dlsym(RTLD_DEFAULT, "PyMem_GetAllocator");
	*(void **)&set_allocator = dlsym(RTLD_DEFAULT, "PyMem_SetAllocator");
	*(void **)&is_finalizing = dlsym(RTLD_DEFAULT, "Py_IsFinalizing"); /* 3.13 */
	if (is_finalizing == NULL)
		*(void **)&is_finalizing = dlsym(RTLD_DEFAULT, "_Py_IsFinalizing");
	return get_allocator != NULL && set_allocator != NULL;
}

void allocators_start(void)
{
	if (!find_functions())
		return;
	/* None of them can be called yet, so none can be tried. */
	for (int domain = DOMAIN_MEM; domain <= DOMAIN_OBJ; domain++) {
		struct python_allocator now;
		get_allocator(domain, &now);
		install(domain, &now, false);
	}
	install_arenas();
}

static void settle(enum python_domain domain)
{
	struct python_allocator now;
	get_allocator(domain, &now);
	const struct python_allocator *next = is_ours(&now) ? &python_real[domain] : &now;
	if (is_ours(&now) || !is_installed(&now)) {
		struct python_allocator below = *next;
		install(domain, &below, is_through_malloc(&below));
	}
}

void memory_python_started(void)
{
	static bool is_settled;
	if (is_settled || get_allocator == NULL || set_allocator == NULL)
		return;
	is_settled = true;
	settle(DOMAIN_MEM);
	settle(DOMAIN_OBJ);
}

/* --- in a running interpreter --- */

/* Others may have a lock of their own, and be in the allocators while we write. */
static bool has_other_interpreters(void)
{
	void *(*head)(void);
	void *(*next)(void *);
	*(void **)&head = dlsym(RTLD_DEFAULT, "PyInterpreterState_Head");
	*(void **)&next = dlsym(RTLD_DEFAULT, "PyInterpreterState_Next");
	return head == NULL || next == NULL || next(head()) != NULL;
}

const char *allocators_join(void)
{
	if (!find_functions())
		return "memory was not measured: Python hides its allocators";
	if (has_other_interpreters())
		return "memory was not measured: there are several interpreters in the process";
	settle(DOMAIN_MEM);
	settle(DOMAIN_OBJ);
	install_arenas();
	return NULL;
}

void allocators_leave(void)
{
	for (int domain = DOMAIN_MEM; domain <= DOMAIN_OBJ && set_allocator != NULL; domain++) {
		struct python_allocator now;
		get_allocator(domain, &now);
		if (is_ours(&now))
			set_allocator(domain, &python_real[domain]);
	}
	restore_arenas();
}

bool allocators_are_ending(void)
{
	static _Atomic bool has_ended;
	if (!atomic_load_explicit(&has_ended, memory_order_relaxed) && is_finalizing != NULL &&
	    is_finalizing() != 0)
		atomic_store_explicit(&has_ended, true, memory_order_relaxed);
	return atomic_load_explicit(&has_ended, memory_order_relaxed);
}
