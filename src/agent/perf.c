/* perf.c - a second clock beside the tick: a perf event on the thread's CPU time.
 *
 * It fires from a timer of its own, so it is finer than the tick and out of
 * step with it.  It is bound to user mode, so that its signal never becomes
 * pending inside a system call and every user may have one.
 *
 * What it costs depends on the machine (price.h), and so does the period.
 *
 * A period that is near a multiple of a loop of the program would see always
 * the same part of it (two functions in turns of 1 ms, sampled every 2 ms: off
 * by 10 points), so the event is made anew with another period now and then.
 *
 * The event's descriptor is closed at once: a mapping of its page keeps it
 * alive, and the program sees no descriptor that is not its own.  Mappings are
 * made by bare system calls, past the hooks that count the program's.
 *
 * Signal-safe. */
#include "agent/perf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/resource.h>

#include "agent/agent.h"
#include "agent/clock.h"
#include "wire/price.h"

#define PAGE_BYTES 4096u
#define FIRST_SAMPLES 4u
#define PERIOD_SAMPLES 64u /* for which a period is kept, on average */

/* The event and its samples may cost this part (1/n) of the CPU time. */
#define PERF_BUDGET 200u

static int open_event(uint64_t period_ns)
{
	struct perf_event_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = period_ns;
	attr.wakeup_events = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	if (g_agent.signal == SIGTRAP) {
		attr.sigtrap = 1;
		attr.sig_data = (uintptr_t)&g_agent;
		attr.remove_on_exec = 1;
	}
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* close() is a cancellation point. */
static void close_event(int fd)
{
	syscall(SYS_close, fd);
}

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

/* --- a thread's event --- */

/* Where the event does not send its signal by itself. */
static bool ask_for_signal(int fd, int32_t tid)
{
	struct f_owner_ex owner = {F_OWNER_TID, tid};
	return syscall(SYS_fcntl, fd, F_SETOWN_EX, &owner) == 0 &&
	       syscall(SYS_fcntl, fd, F_SETSIG, (long)g_agent.signal) == 0 &&
	       syscall(SYS_fcntl, fd, F_SETFL, (long)O_ASYNC) == 0;
}

static bool attach_event(struct agent_thread *self, int fd)
{
	self->perf_page = map_event(fd);
	if (self->perf_page == NULL)
		return false;
	if (g_agent.signal == SIGTRAP || ask_for_signal(fd, self->tid))
		return true;
	unmap_event(self->perf_page);
	self->perf_page = NULL;
	return false;
}

static void begin_event(struct agent_thread *self, uint64_t period_ns)
{
	int fd = open_event(period_ns);
	if (fd < 0 && (errno == EACCES || errno == EPERM || errno == ENOSYS))
		atomic_store(&g_agent.is_perf_refused, true);
	self->period_ns = period_ns;
	self->has_perf = fd >= 0 && attach_event(self, fd);
	if (fd >= 0)
		close_event(fd);
}

void perf_stop(struct agent_thread *self)
{
	unmap_event(self->perf_page);
	self->perf_page = NULL;
	self->has_perf = false;
}

/* --- the price --- */

static uint32_t measure_price_ns(struct agent_thread *self)
{
	struct price_gaps gaps = {.count = 0};
	begin_event(self, PRICE_TRIAL_PERIOD_NS);
	uint64_t last_ns = now_wall_ns();
	for (uint64_t end_ns = last_ns + PRICE_TRIAL_NS; self->has_perf && last_ns < end_ns;) {
		uint64_t now_ns = now_wall_ns();
		price_see(&gaps, last_ns, now_ns);
		last_ns = now_ns;
	}
	self->is_trial_signal_due = self->has_perf;
	perf_stop(self);
	return price_of(&gaps);
}

/* The first thread of a run that wants a clock finds out for all. */
static uint32_t known_price_ns(struct agent_thread *self)
{
	_Atomic uint32_t *known_ns = &g_agent.control->perf_price_ns;
	uint32_t price_ns = atomic_load_explicit(known_ns, memory_order_relaxed);
	if (price_ns == 0) {
		price_ns = measure_price_ns(self);
		atomic_store_explicit(known_ns, price_ns, memory_order_relaxed);
	}
	return price_ns;
}

/* --- the period --- */

/* A period between 3/4 and 5/4 of the one wanted, which is longer where
 * samples are dear: that may decide how many are taken, but not which. */
static uint64_t choose_period_ns(struct agent_thread *self)
{
	uint32_t price_ns = known_price_ns(self);
	uint64_t wanted = g_agent.interval_ns;
	uint64_t dear = g_agent.has_fixed_rate
				? 0
				: ((uint64_t)self->mean_cost_ns + price_ns) * PERF_BUDGET;
	if (dear > wanted)
		wanted = dear;
	return wanted * 3 / 4 + thread_random(self) % (wanted / 2);
}

/* --- threads that leave their CPU all the time --- */

/* Ticks must do for them.  CPU time between two looks: of a thread without an event, and of one
 * that has one, which is to lose it soon but not for a moment's sake. */
#define SWITCH_LOOK_NS 5000000u
#define SWITCH_WATCH_NS 10000000u

static void look_at_switches(struct agent_thread *self, uint32_t price_ns, uint64_t every_ns)
{
	struct rusage usage;
	uint64_t used_ns = now_cpu_ns() - self->switches_cpu_ns;
	if (used_ns < every_ns || syscall(SYS_getrusage, RUSAGE_THREAD, &usage) != 0)
		return;
	uint64_t switches = (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
	self->is_switching = price_is_switching(price_ns, switches - self->switches, used_ns);
	self->switches = switches;
	self->switches_cpu_ns += used_ns;
}

void perf_watch(struct agent_thread *self)
{
	if (g_agent.has_fixed_rate)
		return;
	look_at_switches(self, known_price_ns(self), SWITCH_WATCH_NS);
	if (self->is_switching)
		perf_stop(self);
}

/* The new event is opened before the old one goes: the kernel patches its own
 * code when the first is made and when the last goes. */
void perf_renew(struct agent_thread *self)
{
	if (atomic_load_explicit(&g_agent.is_perf_refused, memory_order_relaxed))
		return;
	look_at_switches(self, known_price_ns(self), SWITCH_LOOK_NS);
	if (self->is_switching && !g_agent.has_fixed_rate) {
		perf_stop(self);
		return;
	}
	uint64_t period_ns = choose_period_ns(self);
	void *old = self->perf_page;
	self->perf_page = NULL;
	/* The first is soon over: what a thread does while it starts says little. */
	self->period_left = old == NULL ? FIRST_SAMPLES
					: PERIOD_SAMPLES / 2 +
						  (uint32_t)(thread_random(self) % PERIOD_SAMPLES);
	begin_event(self, period_ns);
	if (self->has_perf)
		clock_note(CLOCK_PERF);
	unmap_event(old);
}
