/* gpu_yield.c - another profiler in the program wants CUPTI, and gets it.
 *
 * CUPTI serves one at a time, and the program has to behave as without us: when
 * torch.profiler and its like begin, we end.  They begin with one of a few
 * functions, before which we stand, being preloaded; our own calls do not come
 * this way (gpu_library.c).  The collector then goes on from outside.
 *
 * A library that asks for the functions by name (dlsym) would find CUPTI's own:
 * gpu_yield_guard makes the names in CUPTI lead here. */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/gpu.h"
#include "agent/redirect.h"
#include "agent/tables.h"

/* musl has none, and no Python either (see start.c). */
#pragma weak dladdr1

/* What another profiler begins with: name, parameters, as they are passed on. */
#define BEGINNINGS(X)                                                                              \
	X(cuptiSubscribe, (void **handle, void *callback, void *data), (handle, callback, data))   \
	X(cuptiSubscribe_v2, (void **handle, void *callback, void *data, void *more),              \
	  (handle, callback, data, more))                                                          \
	X(cuptiActivityRegisterCallbacks, (void *request, void *complete), (request, complete))    \
	X(cuptiActivityEnable, (int kind), (kind))                                                 \
	X(cuptiActivityEnableContext, (void *context, int kind), (context, kind))                  \
	X(cuptiFinalize, (void), ())

enum {
#define X(name, parameters, arguments) AT_##name,
	BEGINNINGS(X)
#undef X
		BEGINNING_COUNT
};

#define X(name, parameters, arguments) int name parameters;
BEGINNINGS(X)
#undef X

/* CUPTI's own, as far as gpu_yield_guard has put ours in their place. */
static void *guarded[BEGINNING_COUNT];

/* The function that the caller would have reached without us: one of the
 * libraries that it is linked with, else of any. */
static void *find_real(int at, const char *name, void *ours, void *caller)
{
	Dl_info info;
	void *real = NULL;
	if (guarded[at] != NULL)
		return guarded[at];
	void *library = dladdr(caller, &info) == 0 ? NULL
						   : dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (library != NULL) {
		real = dlsym(library, name);
		dlclose(library);
	}
	return real != NULL && real != ours ? real : dlsym(RTLD_NEXT, name);
}

/* CUPTI calls its own functions too. */
static bool is_cupti(void *caller)
{
	Dl_info from, own;
	return dladdr(caller, &from) != 0 && g_cupti.cuptiGetVersion != NULL &&
	       dladdr(*(void **)&g_cupti.cuptiGetVersion, &own) != 0 &&
	       from.dli_fbase == own.dli_fbase;
}

static void yield_to(void *caller)
{
	if (g_agent.is_active && !is_cupti(caller))
		gpu_stop("the program uses CUPTI itself, as torch.profiler does");
}

#define X(name, parameters, arguments)                                                             \
	AGENT_EXPORT int name parameters                                                           \
	{                                                                                          \
		int(*real) parameters;                                                             \
		void *caller = __builtin_return_address(0);                                        \
		int(*ours) parameters = name;                                                      \
		yield_to(caller);                                                                  \
		*(void **)&real = find_real(AT_##name, #name, *(void **)&ours, caller);            \
		return real == NULL ? CUPTI_NOT_THERE : real arguments;                            \
	}
BEGINNINGS(X)
#undef X

/* --- by name --- */

/* The library's entry for a name leads to ours; it is one aligned word. */
static void guard(int at, const char *name, void *real, void *ours)
{
	Dl_info info;
	ElfW(Sym) *symbol = NULL;
	if (real == NULL || real == ours || guarded[at] != NULL ||
	    dladdr1(real, &info, (void **)&symbol, RTLD_DL_SYMENT) == 0 || symbol == NULL ||
	    info.dli_sname == NULL || strcmp(info.dli_sname, name) != 0)
		return;
	guarded[at] = real;
	if (!tables_rename(info.dli_fbase, symbol, ours))
		guarded[at] = NULL;
}

void gpu_yield_guard(void)
{
#define X(name, parameters, arguments)                                                             \
	{                                                                                          \
		int(*ours) parameters = name;                                                      \
		void *real = guarded[AT_##name];                                                   \
		if (real == NULL)                                                                  \
			real = gpu_library_find(#name);                                            \
		if (g_agent.is_loaded && real != NULL && real != *(void **)&ours)                  \
			redirect_add(#name, *(void **)&ours, real);                                \
		guard(AT_##name, #name, real, *(void **)&ours);                                    \
	}
	BEGINNINGS(X)
#undef X
}
