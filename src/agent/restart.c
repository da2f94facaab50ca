/* restart.c - a blocked call that the program's own signal is to end.
 *
 * A tick that falls into a system call before the call blocks is handled on its way back,
 * which may be when a signal of the program's wakes it.  The kernel then delivers ours
 * first, as one that wants the call made again (SA_RESTART), and the program's when our
 * handler is through, before that very instruction: its handler runs, but the call blocks
 * anew, and Python, which acts on signals when a call is interrupted, hears nothing of it
 * until the next key is pressed.
 *
 * So where we stand before a call that is made again, and a signal waits for us to
 * return whose handler wants the call to end, it ends here as it would have there.
 *
 * Signal-safe. */
#include "agent/restart.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "agent/agent.h"

/* The kernel's own view of a set of signals, and of an action. */
typedef uint64_t signal_bits;

struct kernel_action {
	uint64_t handler, flags, restorer;
	signal_bits mask;
};

/* Those that signal(7) says SA_RESTART has made again.  Others are made again whatever the
 * handler wants: fork must not fail for it. */
static bool is_ended_by_signals(long call)
{
	switch (call) {
#ifdef SYS_open
	case SYS_open:
#endif
	case SYS_openat:
	case SYS_read:
	case SYS_readv:
	case SYS_write:
	case SYS_writev:
	case SYS_ioctl:
	case SYS_wait4:
	case SYS_waitid:
	case SYS_accept:
	case SYS_accept4:
	case SYS_connect:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_flock:
	case SYS_fcntl:
	case SYS_mq_timedsend:
	case SYS_mq_timedreceive:
	case SYS_futex:
	case SYS_getrandom:
		return true;
	default:
		return false;
	}
}

bool restart_is_call(uint64_t at)
{
#if defined(__x86_64__)
	const unsigned char *byte = (const unsigned char *)(uintptr_t)at; /* NOLINT: an address */
	return byte[0] == 0x0f && byte[1] == 0x05;
#else
	uint32_t instruction;
	memcpy(&instruction, (const void *)(uintptr_t)at, sizeof(instruction)); /* NOLINT: an address */
	return (instruction & 0xffe0001fu) == 0xd4000001u;
#endif
}

/* The call that the thread will make next, again as it seems; -1: none. */
static long call_again(const ucontext_t *user)
{
#if defined(__x86_64__)
	const greg_t *registers = user->uc_mcontext.gregs;
	/* The instruction leaves the address behind it there, which nobody else has use for. */
	if (registers[REG_RCX] != registers[REG_RIP] + (greg_t)CALL_BYTES)
		return -1;
	return restart_is_call((uint64_t)registers[REG_RIP]) ? (long)registers[REG_RAX] : -1;
#else
	return restart_is_call(user->uc_mcontext.pc) ? (long)user->uc_mcontext.regs[8] : -1;
#endif
}

static void end_call(ucontext_t *user)
{
#if defined(__x86_64__)
	user->uc_mcontext.gregs[REG_RAX] = -EINTR;
	user->uc_mcontext.gregs[REG_RIP] += (greg_t)CALL_BYTES;
#else
	user->uc_mcontext.regs[0] = (unsigned long)-EINTR;
	user->uc_mcontext.pc += CALL_BYTES;
#endif
}

/* Whether the first signal that has a handler, of those that are delivered when we return,
 * wants calls to end. */
static bool is_end_wanted(const ucontext_t *user)
{
	signal_bits pending, blocked;
	memcpy(&blocked, &user->uc_sigmask, sizeof(blocked));
	if (syscall(SYS_rt_sigpending, &pending, sizeof(pending)) != 0)
		return false;
	for (pending &= ~blocked; pending != 0; pending &= pending - 1) {
		struct kernel_action action;
		long number = __builtin_ctzll(pending) + 1;
		if (number == g_agent.signal ||
		    syscall(SYS_rt_sigaction, number, NULL, &action, sizeof(signal_bits)) != 0 ||
		    action.handler == (uintptr_t)SIG_DFL || action.handler == (uintptr_t)SIG_IGN)
			continue;
		return (action.flags & SA_RESTART) == 0;
	}
	return false;
}

void restart_settle(void *context)
{
	ucontext_t *user = context;
	if (is_ended_by_signals(call_again(user)) && is_end_wanted(user))
		end_call(user);
}
