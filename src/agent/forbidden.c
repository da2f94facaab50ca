/* forbidden.c - see forbidden.h.
 *
 * Whoever calls prctl() or syscall() may be half way through anything: nothing is allocated, and the
 * filter is copied by a read that can fail, since the kernel is the one to complain of an address
 * that is none. */
#include "agent/forbidden.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/uio.h>

#include "agent/agent.h"
#include "agent/bpf.h"
#include "agent/session.h"
#include "agent/tables.h"

/* The C library's names for these are its own affair. */
long forbidden_syscall(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall");
int forbidden_prctl(int option, ...) __asm__("prctl");

typedef long syscall_function(long, long, long, long, long, long, long);
typedef int prctl_function(int, unsigned long, unsigned long, unsigned long, unsigned long);

static syscall_function *real_syscall;
static prctl_function *real_prctl;

static _Atomic bool is_deadly;

/* All that the agent asks of the kernel, from the handler to the end of the process. */
static const uint32_t own_calls[] = {
	SYS_rt_sigreturn,     SYS_process_vm_readv, SYS_pipe2,         SYS_read,
	SYS_write,            SYS_close,            SYS_openat,        SYS_fstat,
	SYS_newfstatat,       SYS_nanosleep,        SYS_ftruncate,     SYS_fallocate,
	SYS_unlinkat,         SYS_faccessat,        SYS_mmap,          SYS_munmap,
	SYS_madvise,          SYS_mincore,          SYS_fcntl,         SYS_timer_create,
	SYS_timer_settime,    SYS_timer_delete,     SYS_clock_gettime, SYS_clock_nanosleep,
	SYS_perf_event_open,  SYS_getrusage,        SYS_prlimit64,     SYS_prctl,
	SYS_getpid,           SYS_getppid,          SYS_gettid,        SYS_tgkill,
	SYS_rt_sigaction,     SYS_rt_sigprocmask,   SYS_rt_sigpending, SYS_rt_sigtimedwait,
	SYS_rt_tgsigqueueinfo, SYS_sched_yield,
#if defined(__x86_64__) /* where the C library prefers the older ones */
	SYS_open,             SYS_stat,             SYS_unlink,        SYS_access,
#endif
};

/* Not from the functions themselves: an allocator may call them in the midst of its own
 * start, and looking up a name may allocate. */
void forbidden_prepare(void)
{
	*(void **)&real_syscall = dlsym(RTLD_NEXT, "syscall");
	*(void **)&real_prctl = dlsym(RTLD_NEXT, "prctl");
}

static bool copy_in(void *to, const void *from, size_t size)
{
	struct iovec local = {to, size}, remote = {(void *)(uintptr_t)from, size};
	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static bool ends_ours(const struct sock_filter *steps, size_t count)
{
	for (size_t i = 0; i < sizeof(own_calls) / sizeof(own_calls[0]); i++) {
		if (bpf_may_end(steps, count, own_calls[i]))
			return true;
	}
	return false;
}

/* Whether the filter would end us.  One that the kernel will refuse does not; one that cannot be
 * read, because process_vm_readv is forbidden already, may. */
static bool is_filter_deadly(const void *given)
{
	struct sock_fprog filter;
	if (!copy_in(&filter, given, sizeof(filter)))
		return errno != EFAULT;
	if (filter.len == 0 || filter.len > BPF_MAXINSNS)
		return false;
	size_t size = filter.len * sizeof(struct sock_filter);
	struct sock_filter *steps = agent_map(size);
	if (steps == NULL)
		return true;
	bool is_copied = copy_in(steps, filter.filter, size);
	bool may_end = is_copied ? ends_ours(steps, filter.len) : errno != EFAULT;
	syscall(SYS_munmap, steps, size);
	return may_end;
}

/* The program sets out to install this. */
static void meet(bool is_strict, const void *filter)
{
	int saved = errno;
	if (!atomic_load(&is_deadly) && (is_strict || is_filter_deadly(filter))) {
		/* The child of a vfork has its parent's memory, and we stay in that. */
		bool is_own = !g_agent.is_active || g_agent.ring->pid == getpid();
		if (is_own) {
			atomic_store(&is_deadly, true);
			session_leave("it forbids itself system calls (seccomp) that heatline needs; what it "
				    "and its children did from then on was not measured");
		}
	}
	errno = saved;
}

bool forbidden_is_deadly(void)
{
	return atomic_load(&is_deadly);
}

void forbidden_start(void)
{
	syscall_function *our_syscall = forbidden_syscall;
	int (*our_prctl)(int, ...) = forbidden_prctl;
	tables_replace("prctl", *(void **)&real_prctl, *(void **)&our_prctl);
	tables_replace("syscall", *(void **)&real_syscall, *(void **)&our_syscall);
}

/* --- what the program calls --- */

/* Before our constructor has run. */
static long call_kernel(long number, long a, long b, long c, long d, long e, long f)
{
	long result;
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
#else
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b,
		      x2 __asm__("x2") = c, x3 __asm__("x3") = d, x4 __asm__("x4") = e,
		      x5 __asm__("x5") = f;
	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	result = x0;
#endif
	if ((unsigned long)result <= -4096ul)
		return result;
	errno = (int)-result;
	return -1;
}

/* As the C library does, all arguments are passed on that there could be; they are where the
 * caller has put them, and the real function is jumped to. */
AGENT_EXPORT long forbidden_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	if (__builtin_expect(real_syscall == NULL, 0))
		return call_kernel(number, a, b, c, d, e, f);
	if (__builtin_expect(number == SYS_seccomp, 0) && (a == SECCOMP_SET_MODE_STRICT || a == SECCOMP_SET_MODE_FILTER))
		meet(a == SECCOMP_SET_MODE_STRICT, (const void *)c); /* NOLINT: an address */
	if (__builtin_expect(number == SYS_prctl, 0) && a == PR_SET_SECCOMP)
		meet(b == SECCOMP_MODE_STRICT, (const void *)c); /* NOLINT: an address */
	return real_syscall(number, a, b, c, d, e, f);
}

AGENT_EXPORT int forbidden_prctl(int option, ...)
{
	unsigned long rest[4];
	va_list list;
	va_start(list, option);
	for (int i = 0; i < 4; i++)
		rest[i] = va_arg(list, unsigned long);
	va_end(list);
	if (real_prctl == NULL)
		return (int)call_kernel(SYS_prctl, option, (long)rest[0], (long)rest[1], (long)rest[2],
					(long)rest[3], 0);
	if (option == PR_SET_SECCOMP)
		meet(rest[0] == SECCOMP_MODE_STRICT, (const void *)rest[1]); /* NOLINT: an address */
	return real_prctl(option, rest[0], rest[1], rest[2], rest[3]);
}
