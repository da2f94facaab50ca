/* masks.c - the program's view of blocking our signal.
 *
 * The signal is never really blocked, or a program that blocks everything
 * (every thread of a numerical library does) would not be sampled.  What the
 * program wanted is a flag for each thread; a signal of our number that
 * somebody else sent to a thread that "blocks" it is held back here, is
 * reported as pending, and is sent again when it may be delivered.
 *
 * Only inside sigwait and its like is it really blocked: there it has to be
 * waited for together with the others. */
#include "agent/masks.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/clock.h"
#include "agent/signals.h"

typedef int (*mask_function)(int, const sigset_t *, sigset_t *);

static mask_function real_sigprocmask, real_pthread_sigmask;
static int (*real_sigpending)(sigset_t *);
static int (*real_sigtimedwait)(const sigset_t *, siginfo_t *, const struct timespec *);

/* A signal held back; one at most, as for every signal that does not queue. */
struct held {
	_Atomic bool is_held;
	siginfo_t info; /* written before is_held is set, by the handler */
};

static struct held held_process; /* sent to the process as a whole */
static __thread struct held held_thread __attribute__((tls_model("initial-exec")));
static __thread bool is_blocked __attribute__((tls_model("initial-exec")));

/* A thread inside sigwait for our signal; 0: none. */
static _Atomic int32_t waiting_tid;

static void resolve(void)
{
	if (real_sigtimedwait != NULL)
		return;
	*(void **)&real_sigprocmask = dlsym(RTLD_NEXT, "sigprocmask");
	*(void **)&real_pthread_sigmask = dlsym(RTLD_NEXT, "pthread_sigmask");
	*(void **)&real_sigpending = dlsym(RTLD_NEXT, "sigpending");
	*(void **)&real_sigtimedwait = dlsym(RTLD_NEXT, "sigtimedwait");
}

static int32_t own_tid(void)
{
	return (int32_t)syscall(SYS_gettid);
}

static bool take(struct held *held, siginfo_t *info)
{
	if (!atomic_load(&held->is_held))
		return false;
	siginfo_t copy = held->info;
	if (!atomic_exchange(&held->is_held, false))
		return false;
	*info = copy;
	return true;
}

static bool take_any(siginfo_t *info)
{
	return take(&held_thread, info) || take(&held_process, info);
}

static void send_again(siginfo_t *info, int32_t tid)
{
	syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, g_agent.signal, info);
}

bool masks_hold(const siginfo_t *info)
{
	/* One that an instruction of the thread raised cannot wait. */
	if (!is_blocked || info->si_code > 0)
		return false;
	struct held *held = info->si_code == SI_TKILL ? &held_thread : &held_process;
	if (!atomic_load(&held->is_held)) {
		held->info = *info;
		atomic_store(&held->is_held, true);
	}
	/* Another thread may wait for it: it is really blocked there, so the
	 * kernel gave it to us instead. */
	int32_t waiting = atomic_load(&waiting_tid);
	siginfo_t copy;
	if (waiting != 0 && waiting != own_tid() && take(&held_process, &copy))
		send_again(&copy, waiting);
	return true;
}

static void set_really_blocked(bool is_to_block)
{
	sigset_t ours;
	sigemptyset(&ours);
	sigaddset(&ours, g_agent.signal);
	real_pthread_sigmask(is_to_block ? SIG_BLOCK : SIG_UNBLOCK, &ours, NULL);
}

int masks_start(void)
{
	resolve();
	if (real_sigtimedwait == NULL || real_pthread_sigmask == NULL)
		return -ENOSYS;
	if (g_agent.is_loaded)
		return 0;
	sigset_t now;
	sigemptyset(&now);
	real_pthread_sigmask(SIG_SETMASK, NULL, &now);
	is_blocked = sigismember(&now, g_agent.signal) == 1;
	set_really_blocked(false);
	return 0;
}

void masks_stop(void)
{
	siginfo_t info;
	bool is_held = take_any(&info);
	if (is_blocked)
		set_really_blocked(true);
	if (is_held)
		send_again(&info, own_tid());
}

void masks_set_real(const sigset_t *mask)
{
	real_pthread_sigmask(SIG_SETMASK, mask, NULL);
}

bool masks_is_blocked(void)
{
	return is_blocked;
}

void masks_inherit(bool was_blocked)
{
	is_blocked = was_blocked;
}

void masks_after_fork(void)
{
	atomic_store(&held_process.is_held, false);
	atomic_store(&held_thread.is_held, false);
	atomic_store(&waiting_tid, 0);
}

/* --- what the program calls --- */

static bool wants_block(int how, bool is_member)
{
	if (how == SIG_SETMASK)
		return is_member;
	return how == SIG_BLOCK ? is_blocked || is_member : is_blocked && !is_member;
}

static int change_mask(mask_function real, int how, const sigset_t *set, sigset_t *old)
{
	if (!g_agent.is_active)
		return real(how, set, old);
	bool was_blocked = is_blocked;
	bool is_to_block = was_blocked;
	sigset_t others;
	if (set != NULL) {
		others = *set;
		sigdelset(&others, g_agent.signal);
		is_to_block = wants_block(how, sigismember(set, g_agent.signal) == 1);
	}
	int status = real(how, set == NULL ? NULL : &others, old);
	if (status != 0)
		return status;
	if (old != NULL && was_blocked)
		sigaddset(old, g_agent.signal);
	is_blocked = is_to_block;
	siginfo_t info;
	if (was_blocked && !is_to_block && take_any(&info))
		send_again(&info, own_tid());
	return 0;
}

AGENT_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	resolve();
	return change_mask(real_sigprocmask, how, set, old);
}

AGENT_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	resolve();
	return change_mask(real_pthread_sigmask, how, set, old);
}

AGENT_EXPORT int sigpending(sigset_t *set)
{
	resolve();
	int status = real_sigpending(set);
	if (status == 0 && g_agent.is_active &&
	    (atomic_load(&held_thread.is_held) || atomic_load(&held_process.is_held)))
		sigaddset(set, g_agent.signal);
	return status;
}

/* What is left of a time-out that began with so much at the given moment. */
static struct timespec time_left(const struct timespec *timeout, uint64_t begin_ns)
{
	uint64_t all_ns = (uint64_t)timeout->tv_sec * 1000000000u + (uint64_t)timeout->tv_nsec;
	uint64_t gone_ns = now_wall_ns() - begin_ns;
	uint64_t left_ns = all_ns > gone_ns ? all_ns - gone_ns : 0;
	return (struct timespec){(time_t)(left_ns / 1000000000u), (long)(left_ns % 1000000000u)};
}

/* Waits with our signal really blocked, passing over those of our clocks. */
static int wait_with_ours(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	uint64_t begin_ns = now_wall_ns();
	for (;;) {
		struct timespec left;
		if (timeout != NULL)
			left = time_left(timeout, begin_ns);
		int number = real_sigtimedwait(set, info, timeout == NULL ? NULL : &left);
		if (number != g_agent.signal || !signals_is_ours(info))
			return number;
	}
}

static int wait_for(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	resolve();
	siginfo_t unused;
	if (info == NULL)
		info = &unused;
	if (!g_agent.is_active || sigismember(set, g_agent.signal) != 1)
		return real_sigtimedwait(set, info, timeout);
	/* In this order: either we see what is held, or the handler sees us. */
	set_really_blocked(true);
	atomic_store(&waiting_tid, own_tid());
	int number = take_any(info) ? g_agent.signal : wait_with_ours(set, info, timeout);
	int saved = errno;
	atomic_store(&waiting_tid, 0);
	set_really_blocked(false);
	errno = saved;
	return number;
}

AGENT_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	return wait_for(set, info, timeout);
}

AGENT_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	return wait_for(set, info, NULL);
}

AGENT_EXPORT int sigwait(const sigset_t *set, int *number)
{
	int got;
	do {
		got = wait_for(set, NULL, NULL);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno;
	*number = got;
	return 0;
}
