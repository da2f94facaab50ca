/* redirect.c - see redirect.h. */
#include "agent/redirect.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>

#include "agent/agent.h"
#include "agent/tables.h"

/* Not every C library has it; see start.c. */
#pragma weak dladdr1

/* Without their own names: those would lead to the C library's. */
static const char *const thread_functions[] = {"pthread_create"};
static const char *const memory_functions[] = {
	"malloc",        "calloc",  "realloc", "reallocarray", "free",   "posix_memalign",
	"aligned_alloc", "memalign", "valloc",  "mmap",         "mmap64", "mremap",
	"munmap",        "memcpy",  "memmove", "__memcpy_chk", "__memmove_chk",
};

#define COUNT_OF(list) (sizeof(list) / sizeof((list)[0]))
#define ADDED_MAX 6u
#define HOOKS_MAX (COUNT_OF(thread_functions) + COUNT_OF(memory_functions) + 1 + ADDED_MAX)

static struct table_hook hooks[HOOKS_MAX];
static size_t hook_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *(*real_dlopen)(const char *, int);

/* In the interpreter only, which gives whole paths: the loader looks at its
 * caller when it has to search for a library. */
static void *dlopen_and_redirect(const char *file, int flags)
{
	void *library = real_dlopen(file, flags);
	if (library != NULL && g_agent.is_active) {
		int saved = errno;
		pthread_mutex_lock(&lock);
		tables_redirect(hooks, hook_count);
		pthread_mutex_unlock(&lock);
		errno = saved;
	}
	return library;
}

static void *own_library(void)
{
	Dl_info own;
	if (dladdr(hooks, &own) == 0)
		return NULL;
	return dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD);
}

/* An executable at a fixed address that uses a function's address has a way to it of its own,
 * and that is what the loader calls the function's address then.  Calls do not take it. */
static bool is_only_a_way(void *found)
{
	Dl_info info;
	const ElfW(Sym) *symbol = NULL;
	return dladdr1(found, &info, (void **)&symbol, RTLD_DL_SYMENT) != 0 && symbol != NULL &&
	       symbol->st_shndx == SHN_UNDEF;
}

/* Whether the library itself has the function, not another that it needs. */
static void *find_in(const struct link_map *library, const char *name)
{
	Dl_info info;
	void *handle = dlopen(library->l_name, RTLD_LAZY | RTLD_NOLOAD);
	void *found = handle == NULL ? NULL : dlsym(handle, name);
	if (handle != NULL)
		dlclose(handle);
	bool is_its_own = found != NULL && dladdr(found, &info) != 0 &&
			  (ElfW(Addr))(uintptr_t)info.dli_fbase == library->l_addr;
	return is_its_own ? found : NULL;
}

void *redirect_find(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);
	if (found == NULL || !is_only_a_way(found))
		return found;
	struct link_map *library = NULL;
	void *program = dlopen(NULL, RTLD_LAZY);
	if (program == NULL || dlinfo(program, RTLD_DI_LINKMAP, &library) != 0)
		return NULL;
	dlclose(program);
	found = NULL;
	/* The first is the executable, and the order is the loader's. */
	for (library = library->l_next; library != NULL && found == NULL; library = library->l_next)
		found = find_in(library, name);
	return found;
}

static void add_functions(void *library, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		void *ours = dlsym(library, names[i]);
		void *real = redirect_find(names[i]);
		if (ours != NULL && real != NULL && ours != real)
			hooks[hook_count++] = (struct table_hook){names[i], ours, real, NULL};
	}
}

static void add_dlopen(void)
{
	*(void **)&real_dlopen = redirect_find("dlopen");
	if (real_dlopen == NULL)
		return;
	struct table_hook hook = {.name = "dlopen", .only_in = dlsym(RTLD_DEFAULT, "Py_GetVersion")};
	*(void *(**)(const char *, int))&hook.ours = dlopen_and_redirect;
	*(void *(**)(const char *, int))&hook.real = real_dlopen;
	hooks[hook_count++] = hook;
}

int redirect_start(bool has_memory)
{
	void *library = own_library();
	if (library == NULL)
		return -ENOENT;
	pthread_mutex_lock(&lock);
	hook_count = 0;
	add_functions(library, thread_functions, COUNT_OF(thread_functions));
	if (has_memory)
		add_functions(library, memory_functions, COUNT_OF(memory_functions));
	add_dlopen();
	dlclose(library);
	tables_redirect(hooks, hook_count);
	pthread_mutex_unlock(&lock);
	return 0;
}

void redirect_add(const char *name, void *ours, void *real)
{
	pthread_mutex_lock(&lock);
	bool is_known = false;
	for (size_t i = 0; i < hook_count; i++)
		is_known |= hooks[i].ours == ours;
	if (!is_known && hook_count > 0 && hook_count < HOOKS_MAX) {
		hooks[hook_count++] = (struct table_hook){name, ours, real, NULL};
		tables_redirect(hooks, hook_count);
	}
	pthread_mutex_unlock(&lock);
}

void redirect_stop(void)
{
	pthread_mutex_lock(&lock);
	tables_restore(hooks, hook_count);
	hook_count = 0;
	pthread_mutex_unlock(&lock);
}
