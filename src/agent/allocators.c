/* allocators.c - see allocators.h.
 *
 * They are wrapped twice.  The preload's constructor does it, so that nothing
 * is missed; but where PYTHONMALLOC is set the interpreter then chooses its
 * allocators anew while it starts, so it is looked at again when it has. */
#include "agent/allocators.h"

#include <dlfcn.h>
#include <string.h>

#include "agent/heap.h"
#include "agent/memory.h"
#include "agent/python_hooks.h"

struct python_arena_allocator {
	void *context;
	void *(*alloc)(void *context, size_t size);
	void (*free)(void *context, void *block, size_t size);
};

enum python_domain { DOMAIN_RAW, DOMAIN_MEM, DOMAIN_OBJ, DOMAIN_COUNT };

/* What was installed before us, by domain; our context points here. */
static struct python_allocator python_real[DOMAIN_COUNT];
static struct python_arena_allocator arena_real;
static void (*get_allocator)(int domain, struct python_allocator *allocator);
static void (*set_allocator)(int domain, struct python_allocator *allocator);
static int (*is_finalizing)(void);

/* --- arenas --- */

static void *arena_map(void *context, size_t size)
{
	(void)context;
	uint64_t left = heap_pause();
	void *block = arena_real.alloc(arena_real.context, size);
	g_heap.left = left;
	return block;
}

static void arena_unmap(void *context, void *block, size_t size)
{
	(void)context;
	arena_real.free(arena_real.context, block, size);
}

/* --- installing --- */

/* Whether requests of this size end in malloc.  Tried twice: the first may enlarge a
 * table. */
static bool is_through_malloc(const struct python_allocator *next, size_t size)
{
	uint64_t left = heap_pause();
	bool is_counted = true;
	for (int i = 0; i < 2 && is_counted; i++) {
		g_heap.left = HEAP_PAUSE;
		void *block = next->malloc(next->context, size);
		is_counted = g_heap.left != HEAP_PAUSE;
		next->free(next->context, block);
	}
	g_heap.left = left;
	return is_counted;
}

/* Whether both domains are plain pymalloc's, without hooks of ours or others.  Not before
 * the interpreter has made its locks. */
static bool is_pymalloc(void)
{
	const char *(*name_of)(void);
	*(void **)&name_of = dlsym(RTLD_DEFAULT, "_PyMem_GetCurrentAllocatorName");
	const char *name = name_of != NULL ? name_of() : NULL;
	return name != NULL && strcmp(name, "pymalloc") == 0;
}

static enum python_way choose_way(const struct python_allocator *next, bool is_arenas)
{
	if (is_through_malloc(next, 16))
		return OVER_MALLOC;
	return is_arenas && is_through_malloc(next, PYMALLOC_MOST + 1) ? OVER_PYMALLOC
								       : OVER_ANYTHING;
}

static void install(enum python_domain domain, const struct python_allocator *next,
		    enum python_way way)
{
	python_real[domain] = *next;
	struct python_allocator ours = python_hooks_over(&python_real[domain], way);
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
		install(domain, &now, OVER_ANYTHING);
	}
	install_arenas();
}

static void unwrap(enum python_domain domain)
{
	struct python_allocator now;
	get_allocator(domain, &now);
	if (python_hooks_are(&now))
		set_allocator(domain, &python_real[domain]);
}

static void settle(enum python_domain domain, bool is_arenas)
{
	struct python_allocator now;
	get_allocator(domain, &now);
	if (!python_hooks_are_below(&now))
		install(domain, &now, choose_way(&now, is_arenas));
}

static void settle_both(void)
{
	unwrap(DOMAIN_MEM);
	unwrap(DOMAIN_OBJ);
	bool is_arenas = is_pymalloc();
	settle(DOMAIN_MEM, is_arenas);
	settle(DOMAIN_OBJ, is_arenas);
}

void memory_python_started(void)
{
	static bool is_settled;
	if (is_settled || get_allocator == NULL || set_allocator == NULL)
		return;
	is_settled = true;
	settle_both();
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
	settle_both();
	install_arenas();
	return NULL;
}

void allocators_leave(void)
{
	if (set_allocator != NULL) {
		unwrap(DOMAIN_MEM);
		unwrap(DOMAIN_OBJ);
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
