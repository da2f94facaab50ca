/* threads.c - every thread of the program gets a slot and a clock.
 *
 * pthread_create is wrapped: the slot is taken by the creating thread, so that
 * a thread costs no allocation in its own start.  Thread states are mapped,
 * not malloc'ed, and kept for the next thread.
 *
 * An agent that is loaded into a running process meets threads that are there
 * already.  It gives each a state and starts its clock from outside; the thread
 * finds its state by its number when it gets its first signal.  A state
 * outlives the session, since its thread may be about to look at it: it is used
 * again for the same thread, or when that is gone. */
#include "agent/threads.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/clock.h"
#include "agent/masks.h"
#include "agent/small_file.h"

/* What pthread_cleanup_push becomes; see start.c. */
#pragma weak __pthread_register_cancel
#pragma weak __pthread_unregister_cancel
#pragma weak __pthread_unwind_next

__thread uint32_t g_threads_unseen __attribute__((tls_model("initial-exec")));

static int (*real_pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

#define NO_SLOT RING_THREADS

/* How long the end of a session waits for a thread that is in our handler; one
 * that was stopped there (a debugger) must not hold up the program. */
#define BUSY_WAIT_NS 1000000000u
#define BUSY_POLL_NS 50000

/* Spin locks, never taken by a handler.  fork leaves them as they are, so the
 * child resets them.
 * states_lock protects the lists of states, for a few instructions.
 * Threads start and end as they like (in_change of them just now), but not while a
 * session does. */
static atomic_flag states_lock = ATOMIC_FLAG_INIT;
static _Atomic bool is_session_locked;
static _Atomic uint32_t in_change;
static struct agent_thread *free_states;
static struct agent_thread *made_states; /* all there are, by next_made */

/* The states of the session, by slot.  Read by handlers. */
static struct agent_thread *_Atomic by_slot[RING_THREADS];

static void lock_states(void)
{
	while (atomic_flag_test_and_set_explicit(&states_lock, memory_order_acquire))
		;
}

static void unlock_states(void)
{
	atomic_flag_clear_explicit(&states_lock, memory_order_release);
}

static void lock_session(void)
{
	while (atomic_exchange(&is_session_locked, true))
		sched_yield();
	while (atomic_load(&in_change) != 0)
		sched_yield();
}

static void unlock_session(void)
{
	atomic_store(&is_session_locked, false);
}

static void enter_change(void)
{
	atomic_fetch_add(&in_change, 1);
	while (atomic_load(&is_session_locked)) {
		atomic_fetch_sub(&in_change, 1);
		sched_yield();
		atomic_fetch_add(&in_change, 1);
	}
}

static void leave_change(void)
{
	atomic_fetch_sub(&in_change, 1);
}

static void note_made(struct agent_thread *state)
{
	lock_states();
	state->next_made = made_states;
	made_states = state;
	unlock_states();
}

static struct agent_thread *state_new(void)
{
	lock_states();
	struct agent_thread *state = free_states;
	if (state != NULL)
		free_states = state->next_free;
	unlock_states();
	if (state == NULL) {
		state = agent_map(sizeof(*state));
		if (state == NULL)
			return NULL;
		agent_wipe_on_fork(&state->scratch, sizeof(*state) - offsetof(struct agent_thread, scratch));
		note_made(state);
	}
	state->slot = NO_SLOT;
	state->is_met = false;
	return state;
}

static void state_free(struct agent_thread *state)
{
	state->tid = 0;
	state->session = 0;
	lock_states();
	state->next_free = free_states;
	free_states = state;
	unlock_states();
}

/* Takes a free slot for a thread: tid -1 marks it taken until the thread
 * itself knows its number. */
static bool slot_take(struct agent_thread *self)
{
	static _Atomic uint32_t hint;
	struct ring *ring = g_agent.ring;
	uint32_t begin = atomic_fetch_add_explicit(&hint, 1, memory_order_relaxed);
	for (uint32_t i = 0; i < RING_THREADS; i++) {
		uint32_t at = (begin + i) % RING_THREADS;
		int32_t expected = 0;
		if (atomic_compare_exchange_strong(&ring->threads[at].tid, &expected, -1)) {
			self->slot = at;
			self->session = g_agent.session;
			return true;
		}
	}
	ring_count_lost(ring, LOST_NO_SLOT);
	return false;
}

static void push_record(const struct record_thread *thread, enum record_type type)
{
	struct record *record = ring_reserve(g_agent.ring, sizeof(*thread));
	if (record == NULL)
		return;
	memcpy(record + 1, &thread->time_ns, sizeof(*thread) - sizeof(*record));
	ring_commit(record, sizeof(*thread), type);
}

/* What the kernel has counted for a thread so far. */
static void read_past(int32_t tid, uint64_t *cpu_ns, uint64_t *delay_ns)
{
	char path[64], text[100];
	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", (int)tid);
	*cpu_ns = *delay_ns = 0;
	unsigned long long cpu, delay;
	if (small_file_read(path, text, sizeof(text)) > 0 && sscanf(text, "%llu %llu", &cpu, &delay) == 2) {
		*cpu_ns = cpu;
		*delay_ns = delay;
	}
}

uint64_t threads_main_delay_ns(void)
{
	uint64_t cpu_ns, delay_ns;
	read_past(getpid(), &cpu_ns, &delay_ns);
	return delay_ns;
}

static struct record_thread record_now(const struct agent_thread *thread, uint64_t cpu_ns)
{
	return (struct record_thread){
		.time_ns = now_wall_ns(),
		.cpu_ns = cpu_ns,
		.thread = thread->slot,
		.tid = thread->tid,
	};
}

/* has_past: the thread has done other things before, as one that executes another
 * program has.  (To read its clock brings what the kernel tells of it up to date.) */
static void push_begin(const struct agent_thread *self, bool has_past)
{
	struct record_thread thread = record_now(self, now_cpu_ns());
	if (has_past)
		read_past(self->tid, &thread.before_cpu_ns, &thread.before_delay_ns);
	push_record(&thread, RECORD_THREAD);
}

static void push_end(const struct agent_thread *self, uint64_t cpu_ns, uint64_t rest_ns)
{
	struct record_thread thread = record_now(self, cpu_ns);
	uint64_t told_cpu_ns;
	thread.rest_ns = rest_ns;
	/* The collector may have had no time to ask a thread that lives a moment. */
	prctl(PR_GET_NAME, thread.name);
	read_past(self->tid, &told_cpu_ns, &thread.delay_ns);
	push_record(&thread, RECORD_THREAD_END);
}

static void slot_give(struct agent_thread *self)
{
	atomic_store(&by_slot[self->slot], NULL);
	atomic_store_explicit(&g_agent.ring->threads[self->slot].tid, 0, memory_order_release);
	self->slot = NO_SLOT;
}

static struct agent_thread *find_by_tid(int32_t tid)
{
	for (uint32_t i = 0; i < RING_THREADS; i++) {
		struct agent_thread *state = atomic_load_explicit(&by_slot[i], memory_order_acquire);
		if (state != NULL && state->tid == tid)
			return state;
	}
	return NULL;
}

struct agent_thread *threads_self(void)
{
	struct agent_thread *self = g_self;
	if (self != NULL && self->session == g_agent.session)
		return self;
	if (!g_agent.is_loaded)
		return NULL;
	self = find_by_tid((int32_t)syscall(SYS_gettid));
	if (self != NULL) {
		g_self = self;
		atomic_store(&g_agent.ring->threads[self->slot].pthread_id,
			     (uint64_t)pthread_self());
	}
	return self;
}

/* The calling thread becomes a sampled one. */
static void thread_begin(struct agent_thread *self, bool is_main, bool has_past)
{
	struct ring_thread *slot = &g_agent.ring->threads[self->slot];
	self->tid = (int32_t)syscall(SYS_gettid);
	atomic_store(&by_slot[self->slot], self);
	atomic_store(&self->is_busy, false);
	slot->is_main = is_main;
	atomic_store(&slot->pthread_id, (uint64_t)pthread_self());
	atomic_store(&slot->start_ns, now_wall_ns());
	atomic_store_explicit(&slot->tid, self->tid, memory_order_release);
	push_begin(self, has_past);
	g_self = self;
	clock_start(self);
}

/* With so much CPU time a thread is told well enough by its own samples. */
#define OWN_CPU_NS 30000000u

/* What the samples of a thread lack of its CPU time goes to them, through the collector, less
 * what those of others had too much: a sum of many is right.  (Were that taken from first samples,
 * threads that are met once would pay for those that are met often.) */
static uint64_t settle_own(int64_t rest_ns)
{
	_Atomic int64_t *excess_ns = &g_agent.ring->excess_ns;
	rest_ns -= atomic_exchange(excess_ns, 0);
	if (rest_ns >= 0)
		return (uint64_t)rest_ns;
	atomic_fetch_sub(excess_ns, rest_ns);
	return 0;
}

/* CPU time of a thread that is in no sample, for the collector to book.  That of one
 * that was hardly met goes to the next thread's first sample, so that threads too short to be
 * sampled still count as many, and those that were met not as more than they are. */
static uint64_t settle_rest(const struct agent_thread *self, uint64_t cpu_ns)
{
	int64_t rest_ns = weigher_rest_ns(&self->weigher, cpu_ns);
	if (!self->is_first && cpu_ns >= OWN_CPU_NS)
		return settle_own(rest_ns);
	atomic_fetch_add(&g_agent.ring->carry_ns, rest_ns);
	return 0;
}

static void thread_end(void *argument)
{
	struct agent_thread *self = argument;
	int cancel = agent_keep_cancel();
	enter_change();
	g_self = NULL;
	if (self->slot != NO_SLOT && !atomic_exchange(&self->is_busy, true)) {
		uint64_t cpu_ns = now_cpu_ns(), rest_ns = settle_rest(self, cpu_ns);
		clock_stop(self);
		push_end(self, cpu_ns, rest_ns);
		slot_give(self);
	}
	state_free(self);
	leave_change();
	agent_let_cancel(cancel);
}

/* Waits until the thread is not in our handler, or has ended. */
static void await_idle(uint32_t slot, const struct agent_thread *state)
{
	uint64_t begin_ns = now_wall_ns();
	while (atomic_load(&by_slot[slot]) == state && atomic_load(&state->is_busy) &&
	       now_wall_ns() - begin_ns < BUSY_WAIT_NS) {
		const struct timespec pause = {0, BUSY_POLL_NS};
		nanosleep(&pause, NULL);
	}
}

/* Python's join returns a moment before the thread has ended, and when the program ends then,
 * the thread is cut off there. */
void threads_tell_rests(void)
{
	struct agent_thread *self = g_self;
	for (uint32_t i = 0; i < RING_THREADS && !g_agent.is_loaded; i++) {
		struct agent_thread *other = atomic_load(&by_slot[i]);
		if (other == NULL || other == self)
			continue;
		await_idle(i, other);
		/* Who has marked it as busy tells its end. */
		if (atomic_load(&by_slot[i]) != other || atomic_exchange(&other->is_busy, true))
			continue;
		struct record_thread end = record_now(other, now_cpu_of_ns(other->tid));
		end.rest_ns = end.cpu_ns == 0 ? 0 : settle_rest(other, end.cpu_ns);
		push_record(&end, RECORD_THREAD_END);
		atomic_store(&by_slot[i], NULL);
	}
}

/* Between pthread_create and now the session may have ended, or have found this
 * thread by itself. */
static void thread_begin_new(struct agent_thread *self)
{
	enter_change();
	if (!agent_is_current(self))
		self->slot = NO_SLOT;
	else if (g_agent.is_loaded && find_by_tid((int32_t)syscall(SYS_gettid)) != NULL)
		slot_give(self);
	else
		thread_begin(self, false, false);
	leave_change();
}

static void *thread_main(void *argument)
{
	struct agent_thread *self = argument;
	void *result;
	masks_inherit(self->is_signal_blocked);
	thread_begin_new(self);
	pthread_cleanup_push(thread_end, self);
	result = self->start(self->argument);
	pthread_cleanup_pop(1);
	return result;
}

int threads_start_main(void)
{
	struct agent_thread *self = state_new();
	if (self == NULL)
		return -ENOMEM;
	if (!slot_take(self))
		return -EAGAIN;
	thread_begin(self, true, true);
	return self->has_timer ? 0 : -EAGAIN;
}

void threads_unlock(void)
{
	atomic_flag_clear(&states_lock);
	atomic_store(&is_session_locked, false);
	atomic_store(&in_change, 0);
}

void threads_after_fork(void)
{
	masks_after_fork();
	struct agent_thread *self = g_self;
	g_self = NULL;
	if (self == NULL) /* forked from a thread that we do not sample */
		self = state_new();
	/* Timers and perf events do not cross a fork; their names mean nothing here.
	 * (What is empty is left alone: a page that is written to has to be copied.) */
	for (uint32_t i = 0; i < RING_THREADS; i++) {
		if (atomic_load_explicit(&by_slot[i], memory_order_relaxed) != NULL)
			atomic_store(&by_slot[i], NULL);
	}
	if (self != NULL && slot_take(self))
		thread_begin(self, true, false);
}

/* --- a session in a running process --- */

static bool is_alive(int32_t tid)
{
	return syscall(SYS_tgkill, getpid(), tid, 0) == 0;
}

/* States of threads that we have met and that are gone. */
static void sweep(void)
{
	for (struct agent_thread *state = made_states; state != NULL; state = state->next_made) {
		if (state->is_met && state->tid != 0 && !is_alive(state->tid)) {
			state->is_met = false;
			state_free(state);
		}
	}
}

static struct agent_thread *state_of(int32_t tid)
{
	for (struct agent_thread *state = made_states; state != NULL; state = state->next_made) {
		if (state->tid == tid)
			return state;
	}
	struct agent_thread *state = state_new();
	if (state != NULL) {
		state->tid = tid;
		state->is_met = true;
	}
	return state;
}

static uint64_t ident_of(int32_t tid, const unsigned long *idents, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		clockid_t clock;
		/* The clock's number holds the thread's. */
		if (pthread_getcpuclockid((pthread_t)idents[i], &clock) == 0 &&
		    (int32_t)~(clock >> 3) == tid)
			return idents[i];
	}
	return 0;
}

/* A thread that is there already becomes a sampled one. */
static int thread_meet(int32_t tid, const unsigned long *idents, size_t count)
{
	if (find_by_tid(tid) != NULL)
		return 0;
	struct agent_thread *state = state_of(tid);
	if (state == NULL)
		return -ENOMEM;
	if (!slot_take(state))
		return -EAGAIN;
	struct ring_thread *slot = &g_agent.ring->threads[state->slot];
	atomic_store(&state->is_busy, false);
	slot->is_main = tid == getpid();
	atomic_store(&slot->pthread_id, ident_of(tid, idents, count));
	atomic_store(&slot->start_ns, now_wall_ns());
	atomic_store_explicit(&slot->tid, tid, memory_order_release);
	struct record_thread begin = {.thread = state->slot, .tid = tid, .time_ns = now_wall_ns()};
	read_past(tid, &begin.before_cpu_ns, &begin.before_delay_ns);
	push_record(&begin, RECORD_THREAD);
	int status = clock_start_other(state);
	atomic_store(&by_slot[state->slot], state);
	return status;
}

int threads_start_all(const unsigned long *idents, size_t count)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	if (tasks == NULL)
		return -errno;
	lock_session();
	sweep();
	int status = thread_meet(getpid(), idents, count);
	while (status == 0 && (task = readdir(tasks)) != NULL) {
		int32_t tid = (int32_t)strtol(task->d_name, NULL, 10);
		if (tid > 0)
			thread_meet(tid, idents, count);
	}
	unlock_session();
	closedir(tasks);
	return status;
}

void threads_stop_all(void)
{
	lock_session();
	for (uint32_t i = 0; i < RING_THREADS; i++) {
		struct agent_thread *state = atomic_load(&by_slot[i]);
		if (state == NULL)
			continue;
		await_idle(i, state);
		clock_stop(state);
		slot_give(state);
	}
	sweep();
	unlock_session();
}

/* --- what the program calls --- */

AGENT_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
				void *(*start)(void *), void *argument)
{
	if (real_pthread_create == NULL)
		*(void **)&real_pthread_create = dlsym(RTLD_NEXT, "pthread_create");
	bool is_seen = g_agent.is_active && g_threads_unseen == 0;
	struct agent_thread *self = is_seen ? state_new() : NULL;
	if (self == NULL || !slot_take(self)) {
		if (self != NULL)
			state_free(self);
		return real_pthread_create(thread, attributes, start, argument);
	}
	self->start = start;
	self->argument = argument;
	self->is_signal_blocked = masks_is_blocked();
	int status = real_pthread_create(thread, attributes, thread_main, self);
	if (status != 0) {
		if (self->session == g_agent.session)
			slot_give(self);
		state_free(self);
	}
	return status;
}
