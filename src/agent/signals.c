/* signals.c - our signal, and the program's view of it.
 *
 * The program must not notice that one signal is taken.  So what it asks or
 * sets for that number is kept here and answered from here, and a signal of
 * that number that is not from our clocks goes where the program wanted it.
 * Blocking it is the matter of masks.c. */
#include "agent/agent.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

typedef void (*handler_function)(int);

static int (*real_sigaction)(int, const struct sigaction *, struct sigaction *);
static handler_function (*real_signal)(int, handler_function);

/* What the program believes to be installed. */
static struct sigaction program_action;

static void resolve(void)
{
	if (real_signal != NULL)
		return;
	*(void **)&real_sigaction = dlsym(RTLD_NEXT, "sigaction");
	*(void **)&real_signal = dlsym(RTLD_NEXT, "signal");
}

static uint64_t program_counter(const void *context)
{
	const ucontext_t *user = context;
#if defined(__x86_64__)
	return (uint64_t)user->uc_mcontext.gregs[REG_RIP];
#else
	return (uint64_t)user->uc_mcontext.pc;
#endif
}

/* Blocks what the program's handler would find blocked, where ours has all. */
static void mask_for_program(const ucontext_t *interrupted)
{
	sigset_t mask;
	sigorset(&mask, &interrupted->uc_sigmask, &program_action.sa_mask);
	masks_set_real(&mask);
}

/* A signal of our number that somebody else sent. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	mask_for_program(context);
	if ((program_action.sa_flags & SA_SIGINFO) != 0) {
		program_action.sa_sigaction(number, info, context);
	} else if (program_action.sa_handler == SIG_DFL) {
		struct sigaction standard = {.sa_handler = SIG_DFL};
		real_sigaction(number, &standard, NULL);
		syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
	} else if (program_action.sa_handler != SIG_IGN) {
		program_action.sa_handler(number);
	}
}

static bool is_tick(const siginfo_t *info)
{
	return info->si_code == SI_TIMER && info->si_ptr == &g_agent;
}

bool signals_is_ours(const siginfo_t *info)
{
	return is_tick(info) || info->si_code == POLL_IN || info->si_code == POLL_HUP;
}

static void sample_quietly(struct agent_thread *self, uint64_t pc, bool by_tick)
{
	uint64_t paused = memory_pause != NULL ? memory_pause() : 0;
	sample_take(self, pc, by_tick);
	if (memory_resume != NULL)
		memory_resume(paused);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	int saved = errno;
	struct agent_thread *self = NULL;
	if (!signals_is_ours(info)) {
		if (!masks_hold(info))
			pass_on(number, info, context);
	} else if (g_agent.is_active && (self = threads_self()) != NULL &&
		   !atomic_exchange(&self->is_busy, true)) {
		if (agent_is_current(self))
			sample_quietly(self, program_counter(context), is_tick(info));
		atomic_store_explicit(&self->is_busy, false, memory_order_release);
	}
	errno = saved;
}

int signals_start(void)
{
	resolve();
	if (real_sigaction == NULL || real_signal == NULL)
		return -ENOSYS;
	struct sigaction ours;
	memset(&ours, 0, sizeof(ours));
	ours.sa_sigaction = on_signal;
	ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
	/* The program's own signals come right after, not in between: a handler
	 * of its own that jumps away would leave this thread marked as busy. */
	sigfillset(&ours.sa_mask);
	if (real_sigaction(AGENT_SIGNAL, &ours, &program_action) != 0)
		return -errno;
	return masks_start();
}

/* A thread may have one pending that it blocks, and what is pending when the signal
 * is given back would end the program: to be ignored drops it in all threads. */
void signals_stop(void)
{
	const struct sigaction drop = {.sa_handler = SIG_IGN};
	real_sigaction(AGENT_SIGNAL, &drop, NULL);
	real_sigaction(AGENT_SIGNAL, &program_action, NULL);
}

/* --- what the program calls --- */

AGENT_EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	resolve();
	/* Python sets SIGPIPE while it starts, after it has chosen its allocators and
	 * made its builtins. */
	if (number == SIGPIPE && g_agent.is_active) {
		if (memory_python_started != NULL)
			memory_python_started();
		builtin_python_started();
	}
	if (number != AGENT_SIGNAL || !g_agent.is_active)
		return real_sigaction(number, action, old);
	struct sigaction before = program_action;
	if (action != NULL)
		program_action = *action;
	if (old != NULL)
		*old = before;
	return 0;
}

AGENT_EXPORT handler_function signal(int number, handler_function handler)
{
	resolve();
	if (number != AGENT_SIGNAL || !g_agent.is_active)
		return real_signal(number, handler);
	handler_function before = program_action.sa_handler;
	memset(&program_action, 0, sizeof(program_action));
	program_action.sa_handler = handler;
	program_action.sa_flags = SA_RESTART;
	return before;
}
