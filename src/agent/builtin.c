/* builtin.c - the name `profile` for programs that use a bare @profile.
 *
 * The collector finds the decorated functions in the source; the decorator itself has
 * nothing to do, but it must be there.  It is put among the builtins, as line_profiler
 * does, by the C interface of the running interpreter: no Python code is run, and
 * neither sys.path nor the environment shows anything.  Only what is the same in all
 * versions (the stable ABI) is used. */
#include "agent/builtin.h"

#include <dlfcn.h>
#include <stddef.h>

#include "agent/agent.h"

/* PyMethodDef. */
struct method {
	const char *name;
	void *(*function)(void *self, void *argument);
	int flags;
	const char *doc;
};

#define METH_O 0x0008

static void (*increase)(void *);

/* Gives the function back as it is. */
static void *identity(void *self, void *argument)
{
	(void)self;
	increase(argument);
	return argument;
}

void builtin_python_started(void)
{
	static bool is_done;
	static struct method profile = {"profile", identity, METH_O,
					"Mark a function as one to report; returns it as it is."};
	void *(*builtins)(void), *(*make)(struct method *, void *, void *);
	void *(*find)(void *, const char *);
	int (*set)(void *, const char *, void *);
	void (*decrease)(void *);
	if (is_done || g_agent.control == NULL || g_agent.control->wants_profile_name == 0)
		return;
	is_done = true;
	*(void **)&builtins = dlsym(RTLD_DEFAULT, "PyEval_GetBuiltins");
	*(void **)&make = dlsym(RTLD_DEFAULT, "PyCFunction_NewEx");
	*(void **)&find = dlsym(RTLD_DEFAULT, "PyDict_GetItemString");
	*(void **)&set = dlsym(RTLD_DEFAULT, "PyDict_SetItemString");
	*(void **)&increase = dlsym(RTLD_DEFAULT, "Py_IncRef");
	*(void **)&decrease = dlsym(RTLD_DEFAULT, "Py_DecRef");
	if (builtins == NULL || make == NULL || find == NULL || set == NULL || increase == NULL ||
	    decrease == NULL || g_agent.this_thread_state() == NULL)
		return;
	void *names = builtins();
	if (names == NULL || find(names, profile.name) != NULL)
		return;
	void *function = make(&profile, NULL, NULL);
	if (function == NULL)
		return;
	set(names, profile.name, function);
	decrease(function);
}
