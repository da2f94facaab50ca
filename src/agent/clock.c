/* clock.c - reading a thread's clocks, and the timer on its CPU time.
 *
 * The kernel looks at CPU-clock timers on its tick, so they fire 250 times a
 * second at most on a common kernel, in step with the tick, in user and in
 * kernel mode.  That makes them next to free: the tick happens anyway.  They
 * never interrupt a blocked call, since the kernel delivers them on the way
 * back to user mode.  (A million sleeps beside one: no EINTR.) */
#include "agent/clock.h"

#include <errno.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/perf.h"

/* Shorter than any kernel's tick, so that it fires on every one, and so short
 * that threads of a millisecond are met too. */
#define TICK_NS 100000u

/* CPU time between two looks whether profiling is still suspended.  Fifty
 * signals a second cost some 0.02 %. */
#define SUSPENDED_NS 20000000u

/* Clocks of the calling thread that the C library has no names for; the
 * numbers are the kernel's interface. */
#define THREAD_CLOCK(which) ((clockid_t)(~0u << 3 | 4u | (which)))
#define CLOCK_TICKS THREAD_CLOCK(0u)      /* user and kernel mode */
#define CLOCK_USER_TICKS THREAD_CLOCK(1u) /* user mode */
#define OTHER_THREAD_CLOCK(tid) ((clockid_t)(~(unsigned)(tid) << 3 | 6u)) /* its CPU time */

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

uint64_t now_cpu_of_ns(int32_t tid)
{
	return read_clock_ns(OTHER_THREAD_CLOCK(tid));
}

struct weight now_tally(void)
{
	uint64_t user_ns = read_clock_ns(CLOCK_USER_TICKS);
	uint64_t both_ns = read_clock_ns(CLOCK_TICKS);
	return (struct weight){user_ns, both_ns > user_ns ? both_ns - user_ns : 0};
}

void clock_note(enum ring_clock clock)
{
	atomic_fetch_or_explicit(&g_agent.ring->clocks, clock, memory_order_relaxed);
}

static int set_period(struct agent_thread *self, uint64_t period_ns)
{
	struct itimerspec period = {
		.it_interval = {(time_t)(period_ns / 1000000000u), (long)(period_ns % 1000000000u)},
	};
	period.it_value = period.it_interval;
	return timer_settime(self->timer, 0, &period, NULL) != 0 ? -errno : 0;
}

static int start_timer(struct agent_thread *self, clockid_t clock, uint64_t period_ns)
{
	struct sigevent event;
	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = g_agent.signal;
	event.sigev_value.sival_ptr = &g_agent;
	event._sigev_un._tid = self->tid;
	if (timer_create(clock, &event, &self->timer) != 0)
		return -errno;
	self->has_timer = true;
	return set_period(self, period_ns);
}

static uint64_t wanted_period_ns(void)
{
	return g_agent.has_fixed_rate && g_agent.interval_ns > TICK_NS ? g_agent.interval_ns : TICK_NS;
}

static void reset(struct agent_thread *self)
{
	self->random = (now_wall_ns() ^ (uint64_t)self->tid << 32) | 1;
	self->is_first = true;
	self->has_perf = false;
	self->has_timer = false;
	self->perf_page = NULL;
	self->period_ns = 0;
	self->switches = self->switches_cpu_ns = 0;
	self->is_switching = false;
	self->ticks = self->skipped_ticks = 0;
	self->mean_cost_ns = 0;
	self->is_off = false;
	clock_note(CLOCK_TICK_TIMER);
}

int clock_start(struct agent_thread *self)
{
	reset(self);
	self->is_new = false;
	weigher_init(&self->weigher, now_cpu_ns(), now_tally());
	return start_timer(self, CLOCK_THREAD_CPUTIME_ID, wanted_period_ns());
}

int clock_start_other(struct agent_thread *other)
{
	reset(other);
	other->is_new = true;
	return start_timer(other, OTHER_THREAD_CLOCK(other->tid), wanted_period_ns());
}

void clock_begin(struct agent_thread *self)
{
	weigher_init(&self->weigher, now_cpu_ns(), now_tally());
	self->is_new = false;
}

void clock_suspend(struct agent_thread *self)
{
	weigher_init(&self->weigher, now_cpu_ns(), now_tally());
	if (self->is_off)
		return;
	self->is_off = true;
	set_period(self, SUSPENDED_NS);
	perf_stop(self);
	self->has_perf = false;
}

void clock_resume(struct agent_thread *self)
{
	weigher_init(&self->weigher, now_cpu_ns(), now_tally());
	self->is_off = false;
	self->ticks = self->skipped_ticks = 0;
	set_period(self, wanted_period_ns());
}

void clock_stop(struct agent_thread *self)
{
	if (self->has_timer)
		timer_delete(self->timer);
	self->has_timer = false;
	perf_stop(self);
}
