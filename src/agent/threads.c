/* threads.c - every thread of the program gets a slot and a clock.
 *
 * pthread_create is wrapped: the slot is taken by the creating thread, so that
 * a thread costs no allocation in its own start.  Thread states are mapped,
 * not malloc'ed, and kept for the next thread. */
#include "agent/agent.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What pthread_cleanup_push becomes; see start.c. */
#pragma weak __pthread_register_cancel
#pragma weak __pthread_unregister_cancel
#pragma weak __pthread_unwind_next

static int (*real_pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* Protects free_states.  A spin lock, taken for a few instructions by threads
 * that start or end; never by a handler.  fork leaves it as it is, so the
 * child resets it. */
static atomic_flag states_lock = ATOMIC_FLAG_INIT;
static struct agent_thread *free_states;

static void lock_states(void)
{
	while (atomic_flag_test_and_set_explicit(&states_lock, memory_order_acquire))
		;
}

static void unlock_states(void)
{
	atomic_flag_clear_explicit(&states_lock, memory_order_release);
}

static struct agent_thread *state_new(void)
{
	lock_states();
	struct agent_thread *state = free_states;
	if (state != NULL)
		free_states = state->next_free;
	unlock_states();
	return state != NULL ? state : agent_map(sizeof(*state));
}

static void state_free(struct agent_thread *state)
{
	lock_states();
	state->next_free = free_states;
	free_states = state;
	unlock_states();
}

/* Takes a free slot for a thread: tid -1 marks it taken until the thread
 * itself knows its number. */
static bool slot_take(uint32_t *slot)
{
	static _Atomic uint32_t hint;
	struct ring *ring = g_agent.ring;
	uint32_t begin = atomic_fetch_add_explicit(&hint, 1, memory_order_relaxed);
	for (uint32_t i = 0; i < RING_THREADS; i++) {
		uint32_t at = (begin + i) % RING_THREADS;
		int32_t expected = 0;
		if (atomic_compare_exchange_strong(&ring->threads[at].tid, &expected, -1)) {
			*slot = at;
			return true;
		}
	}
	ring_count_lost(ring, LOST_NO_SLOT);
	return false;
}

static void push_thread(const struct agent_thread *self, enum record_type type)
{
	struct record *record = ring_reserve(g_agent.ring, sizeof(struct record_thread));
	if (record == NULL)
		return;
	struct record_thread *out = (struct record_thread *)record;
	out->time_ns = now_wall_ns();
	out->cpu_ns = now_cpu_ns();
	out->thread = self->slot;
	out->tid = self->tid;
	/* The collector may have had no time to ask a thread that lives a moment. */
	if (type == RECORD_THREAD_END)
		prctl(PR_GET_NAME, out->name);
	ring_commit(record, sizeof(*out), type);
}

/* The calling thread becomes a sampled one. */
static void thread_begin(struct agent_thread *self, bool is_main)
{
	struct ring_thread *slot = &g_agent.ring->threads[self->slot];
	self->tid = (int32_t)syscall(SYS_gettid);
	atomic_store(&self->is_busy, false);
	slot->is_main = is_main;
	atomic_store(&slot->pthread_id, (uint64_t)pthread_self());
	atomic_store(&slot->start_ns, now_wall_ns());
	atomic_store_explicit(&slot->tid, self->tid, memory_order_release);
	push_thread(self, RECORD_THREAD);
	g_self = self;
	clock_start(self);
}

/* The CPU time since the last sample goes to the next thread's first one, so
 * that threads too short to be sampled still count as many, and those that were
 * met not as more than they are. */
static void thread_end(void *argument)
{
	struct agent_thread *self = argument;
	g_self = NULL;
	atomic_store(&self->is_busy, true);
	uint64_t cpu_ns = now_cpu_ns();
	clock_stop(self);
	atomic_fetch_add(&g_agent.ring->carry_ns, weigher_rest_ns(&self->weigher, cpu_ns));
	push_thread(self, RECORD_THREAD_END);
	atomic_store_explicit(&g_agent.ring->threads[self->slot].tid, 0, memory_order_release);
	state_free(self);
}

static void *thread_main(void *argument)
{
	struct agent_thread *self = argument;
	void *result;
	masks_inherit(self->is_signal_blocked);
	thread_begin(self, false);
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
	if (!slot_take(&self->slot))
		return -EAGAIN;
	thread_begin(self, true);
	return self->has_timer ? 0 : -EAGAIN;
}

void threads_after_fork(void)
{
	atomic_flag_clear(&states_lock);
	masks_after_fork();
	struct agent_thread *self = g_self;
	g_self = NULL;
	if (self == NULL) /* forked from a thread that we do not sample */
		self = state_new();
	/* Timers and perf events do not cross a fork; their names mean nothing here. */
	if (self != NULL && slot_take(&self->slot))
		thread_begin(self, true);
}

AGENT_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
				void *(*start)(void *), void *argument)
{
	if (real_pthread_create == NULL)
		*(void **)&real_pthread_create = dlsym(RTLD_NEXT, "pthread_create");
	struct agent_thread *self = g_agent.is_active ? state_new() : NULL;
	if (self == NULL || !slot_take(&self->slot)) {
		if (self != NULL)
			state_free(self);
		return real_pthread_create(thread, attributes, start, argument);
	}
	self->start = start;
	self->argument = argument;
	self->is_signal_blocked = masks_is_blocked();
	int status = real_pthread_create(thread, attributes, thread_main, self);
	if (status != 0) {
		atomic_store(&g_agent.ring->threads[self->slot].tid, 0);
		state_free(self);
	}
	return status;
}
