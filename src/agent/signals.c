/* signals.c - our signal, and the program's view of it.
 *
 * The program must not notice that one signal is taken.  So what it asks or
 * sets for that number is kept here and answered from here, and a signal of
 * that number that is not from our clocks goes where the program wanted it.
 * Blocking it is the matter of masks.c.  The child of a vfork has this memory but
 * handlers of its own: what it sets is the kernel's to keep, or its parent would have
 * it too (Python's subprocess resets all handlers there).
 *
 * Which one.  A perf event can send SIGTRAP right from its timer's interrupt (Linux
 * 6.11 and later); any other signal takes a second interrupt, which makes it nearly
 * twice as dear.  Elsewhere it is SIGSTKFLT, which nothing on Linux sends.  Neither
 * queues: while a thread has it blocked the kernel keeps one instance, where
 * real-time signals would pile up and overflow into SIGIO. */
#include "agent/signals.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <ucontext.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/builtin.h"
#include "agent/masks.h"
#include "agent/memory.h"
#include "agent/restart.h"
#include "agent/sample.h"
#include "agent/threads.h"

#define PERF_TRAP_CODE 6 /* si_code, of the kernel's interface */
#define TRAPS_SINCE_MAJOR 6u
#define TRAPS_SINCE_MINOR 11u

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

/* On aarch64 a function may sign its return address, in the bits above those of an address. */
#define ADDRESS_BITS ((1ull << 48) - 1)

static struct interrupted interrupted_at(const void *context)
{
	const ucontext_t *user = context;
#if defined(__x86_64__)
	return (struct interrupted){.pc = (uint64_t)user->uc_mcontext.gregs[REG_RIP],
				    .stack = (uint64_t)user->uc_mcontext.gregs[REG_RSP]};
#else
	return (struct interrupted){.pc = (uint64_t)user->uc_mcontext.pc,
				    .link = (uint64_t)user->uc_mcontext.regs[30] & ADDRESS_BITS};
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

/* A trap that a perf event of ours sent.  Its word follows the address; the C
 * library has no name for it. */
static bool is_perf_trap(const siginfo_t *info)
{
	uint64_t word;
	memcpy(&word, (const char *)info + offsetof(siginfo_t, si_addr) + sizeof(void *), sizeof(word));
	return info->si_code == PERF_TRAP_CODE && word == (uintptr_t)&g_agent;
}

bool signals_is_ours(const siginfo_t *info)
{
	if (is_tick(info))
		return true;
	if (g_agent.signal == SIGTRAP)
		return is_perf_trap(info);
	return info->si_code == POLL_IN || info->si_code == POLL_HUP;
}

/* What a sample takes of the stack, at most: the lookup of code objects has 3.6 KB of it. */
#define SAMPLE_STACK_BYTES 4608u

/* Whether the stack has room for a sample.  On the program's alternate stack, which may have
 * no more than 8 KB, we may be above a handler of the program's. */
static bool has_room(const void *context)
{
	const stack_t *alternate = &((const ucontext_t *)context)->uc_stack;
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	uintptr_t left = here - (uintptr_t)alternate->ss_sp;
	return left >= alternate->ss_size || left >= SAMPLE_STACK_BYTES;
}

static void sample_quietly(struct agent_thread *self, const void *context, bool by_tick)
{
	struct interrupted at = interrupted_at(context);
	uint64_t paused = memory_pause != NULL ? memory_pause() : 0;
	sample_take(self, &at, by_tick);
	if (memory_resume != NULL)
		memory_resume(paused);
}

static void sample_from_handler(const void *context, bool by_tick)
{
	struct agent_thread *self = g_agent.is_active ? threads_self() : NULL;
	if (self == NULL || !has_room(context) || atomic_exchange(&self->is_busy, true))
		return;
	if (agent_is_current(self))
		sample_quietly(self, context, by_tick);
	atomic_store_explicit(&self->is_busy, false, memory_order_release);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	int saved = errno;
	if (signals_is_ours(info)) {
		sample_from_handler(context, is_tick(info));
		restart_settle(context);
	} else if (!masks_hold(info)) {
		pass_on(number, info, context);
	}
	errno = saved;
}

static int choose_signal(void)
{
	struct utsname system;
	unsigned major = 0, minor = 0;
	if (uname(&system) != 0 || sscanf(system.release, "%u.%u", &major, &minor) != 2)
		return SIGSTKFLT;
	bool has_traps = major > TRAPS_SINCE_MAJOR ||
			 (major == TRAPS_SINCE_MAJOR && minor >= TRAPS_SINCE_MINOR);
	return has_traps ? SIGTRAP : SIGSTKFLT;
}

int signals_start(void)
{
	resolve();
	if (real_sigaction == NULL || real_signal == NULL)
		return -ENOSYS;
	g_agent.signal = choose_signal();
	struct sigaction ours;
	memset(&ours, 0, sizeof(ours));
	ours.sa_sigaction = on_signal;
	ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
	/* The program's own signals come right after, not in between: a handler
	 * of its own that jumps away would leave this thread marked as busy. */
	sigfillset(&ours.sa_mask);
	if (real_sigaction(g_agent.signal, &ours, &program_action) != 0)
		return -errno;
	return masks_start();
}

/* A thread may have one pending that it blocks, and what is pending when the signal
 * is given back would end the program: to be ignored drops it in all threads. */
void signals_stop(void)
{
	const struct sigaction drop = {.sa_handler = SIG_IGN};
	real_sigaction(g_agent.signal, &drop, NULL);
	real_sigaction(g_agent.signal, &program_action, NULL);
}

/* --- what the program calls --- */

/* In the child of a vfork. */
static int change_of_child(const struct sigaction *action, struct sigaction *old)
{
	struct sigaction before;
	int status = real_sigaction(g_agent.signal, action, &before);
	if (status == 0 && old != NULL)
		*old = before.sa_sigaction == on_signal ? program_action : before;
	return status;
}

/* What the program asks and sets for our signal. */
static int change(const struct sigaction *action, struct sigaction *old)
{
	if (g_agent.ring->pid != getpid())
		return change_of_child(action, old);
	struct sigaction before = program_action;
	if (action != NULL)
		program_action = *action;
	if (old != NULL)
		*old = before;
	return 0;
}

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
	if (number != g_agent.signal || !g_agent.is_active)
		return real_sigaction(number, action, old);
	return change(action, old);
}

AGENT_EXPORT handler_function signal(int number, handler_function handler)
{
	resolve();
	if (number != g_agent.signal || !g_agent.is_active)
		return real_signal(number, handler);
	const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	struct sigaction before;
	return change(&action, &before) == 0 ? before.sa_handler : SIG_ERR;
}
