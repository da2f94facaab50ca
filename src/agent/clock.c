/* clock.c - the two clocks that make a thread's samples.
 *
 * The CPU-clock timer is always there.  The kernel looks at it on its tick, so
 * it fires 250 times a second at most on a common kernel, in step with the
 * tick; it sees kernel time too.  The perf event counts user time with a high
 * resolution timer of its own.  A period that is near a multiple of a loop of
 * the program would see always the same part of it (two functions in turns of
 * 1 ms, sampled every 2 ms: off by 10 points), so the event is made anew with
 * another period now and then; 40 us every 64 samples.
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
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE_BYTES 4096u
#define TICK_NS 1000000u /* shorter than any kernel's tick: fire on every one */
#define PERIOD_SAMPLES 64u /* for which a perf period is kept, on average */

/* Clocks of the calling thread that the C library has no names for; the
 * numbers are the kernel's interface. */
#define THREAD_CLOCK(which) ((clockid_t)(~0u << 3 | 4u | (which)))
#define CLOCK_TICKS THREAD_CLOCK(0u)      /* user and kernel mode */
#define CLOCK_USER_TICKS THREAD_CLOCK(1u) /* user mode */

static uint64_t read_clock_ns(clockid_t clock)
{
	struct timespec now = {0};
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t now_wall_ns(void)
{
	return read_clock_ns(CLOCK_MONOTONIC);
}

uint64_t now_cpu_ns(void)
{
	return read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

struct weight now_tally(void)
{
	uint64_t user_ns = read_clock_ns(CLOCK_USER_TICKS);
	uint64_t both_ns = read_clock_ns(CLOCK_TICKS);
	return (struct weight){user_ns, both_ns > user_ns ? both_ns - user_ns : 0};
}

/* By bare system calls: the program's own mappings are counted elsewhere. */
static void *map_event(int fd)
{
	long page = syscall(SYS_mmap, NULL, (size_t)PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0L);
	return page == -1 ? NULL : (void *)page; /* NOLINT: an address */
}

static void unmap_event(void *page)
{
	if (page != NULL)
		syscall(SYS_munmap, page, (size_t)PAGE_BYTES);
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
	weigher_init(&self->weigher, now_cpu_ns(), now_tally());
	self->random = (now_wall_ns() ^ (uint64_t)self->tid << 32) | 1;
	self->is_first = true;
	self->has_perf = false;
	self->has_timer = false;
	self->perf_page = NULL;
	self->skipped_ticks = 0;
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
	unmap_event(self->perf_page);
	self->has_timer = false;
	self->has_perf = false;
	self->perf_page = NULL;
}

static uint64_t next_random(struct agent_thread *self)
{
	self->random ^= self->random << 13;
	self->random ^= self->random >> 7;
	self->random ^= self->random << 17;
	return self->random;
}

/* A period between 3/4 and 5/4 of the one wanted, which is longer where
 * samples are dear: the depth of the stack decides that, and it must not
 * decide which samples are taken, only how many. */
static uint64_t choose_period_ns(struct agent_thread *self)
{
	uint64_t wanted = g_agent.interval_ns;
	uint64_t dear = (uint64_t)self->mean_cost_ns * AGENT_BUDGET;
	if (!g_agent.has_fixed_rate && dear > wanted)
		wanted = dear;
	return wanted * 3 / 4 + next_random(self) % (wanted / 2);
}

static int open_perf(struct agent_thread *self)
{
	struct perf_event_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = self->period_ns;
	attr.wakeup_events = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The new event is opened before the old one goes: the kernel patches its
 * own code when the first is made and when the last goes. */
void clock_refine(struct agent_thread *self)
{
	self->period_ns = choose_period_ns(self);
	self->period_left = PERIOD_SAMPLES / 2 + (uint32_t)(next_random(self) % PERIOD_SAMPLES);
	if (atomic_load_explicit(&g_agent.is_perf_refused, memory_order_relaxed))
		return;
	int fd = open_perf(self);
	if (fd < 0 && (errno == EACCES || errno == EPERM || errno == ENOSYS))
		atomic_store(&g_agent.is_perf_refused, true);
	void *old = self->perf_page;
	self->perf_page = NULL;
	self->has_perf = false;
	if (fd < 0)
		goto out;
	struct f_owner_ex owner = {F_OWNER_TID, self->tid};
	void *page = map_event(fd);
	if (page != NULL && fcntl(fd, F_SETOWN_EX, &owner) == 0 &&
	    fcntl(fd, F_SETSIG, AGENT_SIGNAL) == 0 && fcntl(fd, F_SETFL, O_ASYNC) == 0) {
		self->perf_page = page;
		self->has_perf = true;
		note_clock(CLOCK_PERF);
	} else {
		unmap_event(page);
	}
	syscall(SYS_close, fd); /* close() is a cancellation point */
out:
	unmap_event(old);
}
