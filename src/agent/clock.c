/* clock.c - the two clocks that make a thread's samples.
 *
 * The CPU-clock timer is always there.  The kernel looks at it on its tick, so
 * it fires 250 times a second at most on a common kernel, in step with the
 * tick; it sees kernel time too.  The perf event counts user time with a high
 * resolution timer of its own and a period that is no multiple of the tick.
 *
 * Neither interrupts a blocked call: both fire only while the thread is on a
 * CPU.  The perf event is bound to user mode, so its signal never becomes
 * pending inside a system call, and the kernel delivers CPU timers on the way
 * back to user mode.  (A million sleeps beside each: no EINTR.)
 *
 * The event's descriptor is closed at once: a mapping of its page keeps it
 * alive, and the program sees no descriptor that is not its own. */
#include "agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE_BYTES 4096u
#define TICK_NS 1000000u /* shorter than any kernel's tick: fire on every one */

uint64_t now_wall_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t now_cpu_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t now_system_ns(void)
{
	struct rusage usage;
	if (getrusage(RUSAGE_THREAD, &usage) != 0)
		return 0;
	return (uint64_t)usage.ru_stime.tv_sec * 1000000000u +
	       (uint64_t)usage.ru_stime.tv_usec * 1000u;
}

static void note_clock(uint32_t clock)
{
	atomic_fetch_or_explicit(&g_agent.ring->clocks, clock, memory_order_relaxed);
}

static int start_timer(struct agent_thread *self, clockid_t clock, uint64_t period_ns)
{
	struct sigevent event;
	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = AGENT_SIGNAL;
	event.sigev_value.sival_ptr = &g_agent;
	event._sigev_un._tid = self->tid;
	if (timer_create(clock, &event, &self->timer) != 0)
		return -errno;
	self->has_timer = true;
	struct itimerspec period = {
		.it_interval = {(time_t)(period_ns / 1000000000u), (long)(period_ns % 1000000000u)},
	};
	period.it_value = period.it_interval;
	if (timer_settime(self->timer, 0, &period, NULL) != 0)
		return -errno;
	return 0;
}

int clock_start(struct agent_thread *self)
{
	self->last_cpu_ns = now_cpu_ns();
	self->last_system_ns = now_system_ns();
	self->is_first = true;
	self->has_perf = false;
	self->has_timer = false;
	self->perf_page = NULL;
	self->last_cost_ns = 0;
	self->mean_cost_ns = 0;
	uint64_t period_ns = g_agent.interval_ns > TICK_NS ? g_agent.interval_ns : TICK_NS;
	if (!g_agent.has_fixed_rate)
		period_ns = TICK_NS;
	note_clock(CLOCK_TICK_TIMER);
	return start_timer(self, CLOCK_THREAD_CPUTIME_ID, period_ns);
}

void clock_stop(struct agent_thread *self)
{
	if (self->has_timer)
		timer_delete(self->timer);
	if (self->perf_page != NULL)
		munmap(self->perf_page, PAGE_BYTES);
	self->has_timer = false;
	self->has_perf = false;
	self->perf_page = NULL;
}

/* A period near the one wanted, but another for every thread and run, so
 * that it keeps step neither with the program's loops nor with the tick. */
static uint64_t odd_period_ns(const struct agent_thread *self)
{
	uint64_t seed = (now_wall_ns() ^ (uint64_t)self->tid << 32) * 0x9e3779b97f4a7c15ull;
	uint64_t spread = g_agent.interval_ns / 8;
	return g_agent.interval_ns - spread / 2 + (spread == 0 ? 0 : (seed >> 32) % spread);
}

static int open_perf(struct agent_thread *self)
{
	struct perf_event_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = odd_period_ns(self);
	attr.wakeup_events = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

void clock_refine(struct agent_thread *self)
{
	if (self->perf_page != NULL)
		return;
	int fd = open_perf(self);
	if (fd < 0) {
		self->perf_page = NULL;
		return;
	}
	struct f_owner_ex owner = {F_OWNER_TID, self->tid};
	void *page = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED && fcntl(fd, F_SETOWN_EX, &owner) == 0 &&
	    fcntl(fd, F_SETSIG, AGENT_SIGNAL) == 0 && fcntl(fd, F_SETFL, O_ASYNC) == 0) {
		self->perf_page = page;
		self->has_perf = true;
		note_clock(CLOCK_PERF);
	} else if (page != MAP_FAILED) {
		munmap(page, PAGE_BYTES);
	}
	syscall(SYS_close, fd); /* close() is a cancellation point */
}
