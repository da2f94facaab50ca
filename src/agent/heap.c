/* heap.c - see heap.h.
 *
 * The live samples are a table of buckets of eight, shared by all threads
 * without a lock: an address is put in by the thread that has just been given
 * it and taken out by the one that gives it back, so no two threads ever work
 * on the same address; different ones meet only in the claim of a place. */
#include "agent/heap.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/agent.h"
#include "agent/allocators.h"
#include "agent/meter.h"

#define BUCKETS (1u << 15)
#define BUCKET_PLACES 8u
#define BUCKETS_TRIED 4u
#define PLACES (BUCKETS * BUCKET_PLACES)
#define LATE_MAX 8192u
#define TOKEN_BYTES 256u /* of the ring, that a token of a rate stands for */

struct place {
	_Atomic uint64_t block; /* 0: free */
	uint64_t id;
};

__thread uint64_t g_heap_left __attribute__((tls_model("initial-exec")));
__thread uint64_t g_copy_left __attribute__((tls_model("initial-exec")));
static __thread struct meter heap_meter __attribute__((tls_model("initial-exec")));
static __thread struct meter copy_meter __attribute__((tls_model("initial-exec")));

/* 640 samples of 5 MB; 2500 a second, at 2 us each in agent and collector, and
 * no more at once than the ring has room for. */
static struct meter_rate heap_rate = {.least_window = 8192, .burst = 5500, .per_s = 2500};
static struct meter_rate copy_rate = {.least_window = 65536, .burst = 600, .per_s = 400};
_Static_assert((5500 + 600) * TOKEN_BYTES <= RING_BYTES / 4 * 3, "bursts fit in the ring");

_Alignas(4096) _Atomic uint8_t g_heap_filter[HEAP_FILTER_SLOTS];
static struct place *places;
static _Atomic uint32_t live_count;
static _Atomic uint32_t live_limit; /* when it is reached samples become rarer */
static _Atomic uint64_t next_id = 1;

/* Frees that found the ring full; told as soon as it has room. */
static _Atomic uint64_t late[LATE_MAX];
static _Atomic uint32_t late_count;

/* --- live samples --- */

static struct place *bucket_of(const void *block, uint32_t attempt)
{
	uint64_t hash = ((uint64_t)(uintptr_t)block >> 4) * 0x9e3779b97f4a7c15ull;
	return &places[(((hash >> 40) + attempt) & (BUCKETS - 1)) * BUCKET_PLACES];
}

/* The table never fills: each time that half of what is left of it is taken,
 * samples become half as many. */
static void live_counted(void)
{
	uint32_t limit = atomic_load_explicit(&live_limit, memory_order_relaxed);
	if (atomic_fetch_add_explicit(&live_count, 1, memory_order_relaxed) >= limit &&
	    atomic_compare_exchange_strong(&live_limit, &limit, limit + (PLACES - limit) / 2))
		meter_rate_raise_floor(&heap_rate);
}

static bool live_add(const void *block, uint64_t id)
{
	for (uint32_t i = 0; i < BUCKETS_TRIED * BUCKET_PLACES; i++) {
		struct place *place = &bucket_of(block, i / BUCKET_PLACES)[i % BUCKET_PLACES];
		uint64_t empty = 0;
		/* The id is read only by whoever frees the block, after us. */
		if (atomic_load_explicit(&place->block, memory_order_relaxed) == 0 &&
		    atomic_compare_exchange_strong(&place->block, &empty,
						   (uint64_t)(uintptr_t)block)) {
			place->id = id;
			_Atomic uint8_t *count = &g_heap_filter[heap_filter_slot(block)];
			/* A full counter stays full: it then says "maybe" for good. */
			if (atomic_load_explicit(count, memory_order_relaxed) < 255)
				atomic_fetch_add_explicit(count, 1, memory_order_release);
			live_counted();
			return true;
		}
	}
	return false;
}

uint64_t heap_take(const void *block)
{
	uint64_t wanted = (uint64_t)(uintptr_t)block;
	if (block == NULL || places == NULL || !heap_may_be_sampled(block))
		return 0;
	for (uint32_t i = 0; i < BUCKETS_TRIED * BUCKET_PLACES; i++) {
		struct place *place = &bucket_of(block, i / BUCKET_PLACES)[i % BUCKET_PLACES];
		if (atomic_load_explicit(&place->block, memory_order_acquire) != wanted)
			continue;
		uint64_t id = place->id;
		_Atomic uint8_t *count = &g_heap_filter[heap_filter_slot(block)];
		if (atomic_load_explicit(count, memory_order_relaxed) < 255)
			atomic_fetch_sub_explicit(count, 1, memory_order_relaxed);
		atomic_store_explicit(&place->block, 0, memory_order_release);
		atomic_fetch_sub_explicit(&live_count, 1, memory_order_relaxed);
		return id;
	}
	return 0;
}

/* --- records --- */

static bool push_free(uint64_t id)
{
	struct record *record = ring_reserve(g_agent.ring, sizeof(struct record_free));
	if (record == NULL)
		return false;
	struct record_free *out = (struct record_free *)record;
	out->time_ns = now_wall_ns();
	out->id = id;
	out->flags = allocators_are_ending() ? FREE_AT_END : 0;
	out->reserved = 0;
	ring_commit(record, sizeof(*out), RECORD_FREE);
	return true;
}

static void push_late(void)
{
	uint32_t count = atomic_load_explicit(&late_count, memory_order_relaxed);
	if (count == 0)
		return;
	for (uint32_t i = 0; i < LATE_MAX; i++) {
		uint64_t id = atomic_exchange(&late[i], 0);
		if (id == 0)
			continue;
		if (!push_free(id)) {
			atomic_store(&late[i], id);
			return;
		}
		atomic_fetch_sub(&late_count, 1);
	}
}

void heap_end(uint64_t id)
{
	if (!g_agent.is_active || push_free(id))
		return;
	for (uint32_t i = 0; i < LATE_MAX; i++) {
		uint64_t empty = 0;
		if (atomic_compare_exchange_strong(&late[i], &empty, id)) {
			atomic_fetch_add(&late_count, 1);
			return;
		}
	}
	ring_count_lost(g_agent.ring, LOST_FREES);
}

void heap_put_back(const void *block, uint64_t id)
{
	if (!live_add(block, id))
		heap_end(id);
}

void heap_forget(const void *block)
{
	uint64_t id = heap_take(block);
	if (id != 0)
		heap_end(id);
}

/* The walk reads memory directly: this thread called us, so its frames are
 * whole and stay where they are. */
static bool read_direct(const struct mem_reader *reader, py_addr addr, void *dst, size_t size)
{
	(void)reader;
	memcpy(dst, (const void *)(uintptr_t)addr, size);
	return true;
}

static size_t read_many_direct(const struct mem_reader *reader, const struct iovec *dst,
			       const struct iovec *src, size_t count)
{
	(void)reader;
	for (size_t i = 0; i < count; i++)
		memcpy(dst[i].iov_base, src[i].iov_base, src[i].iov_len);
	return count;
}

static const struct mem_reader direct_reader = {.read = read_direct, .read_many = read_many_direct};

static bool walk_own_stack(struct agent_thread *self, uint32_t *count)
{
	struct walker walker = g_agent.walker;
	uint8_t flags = 0;
	walker.reader = &direct_reader;
	return sample_walk(self, &walker, count, &flags);
}

static void copy_frames(const struct agent_thread *self, struct record_frame *frames, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		frames[i] = (struct record_frame){self->identities[i], self->frames[i].offset};
}

/* Samples with deep stacks cost more: in time, and in the ring's room. */
static int64_t tokens_for(size_t bytes)
{
	return (int64_t)((bytes + TOKEN_BYTES - 1) / TOKEN_BYTES);
}

/* A reservation that leaves room for what matters more: threads, code objects,
 * samples of the CPU, ends of allocations. */
static struct record *reserve(uint32_t bytes)
{
	struct ring *ring = g_agent.ring;
	uint64_t used = atomic_load_explicit(&ring->head, memory_order_relaxed) -
			atomic_load_explicit(&ring->tail, memory_order_relaxed);
	return used < RING_BYTES / 4 * 3 ? ring_reserve(ring, bytes) : NULL;
}

static void push_alloc(struct agent_thread *self, const void *block, size_t size, uint64_t weight,
		       uint32_t flags)
{
	uint32_t count;
	push_late();
	if (!walk_own_stack(self, &count)) {
		ring_count_lost(g_agent.ring, LOST_ALLOCS);
		return;
	}
	uint32_t bytes = (uint32_t)(sizeof(struct record_alloc) + count * sizeof(struct record_frame));
	meter_rate_spend(&heap_rate, tokens_for(bytes + sizeof(struct record_free)), now_wall_ns());
	struct record *record = reserve(bytes);
	if (record == NULL) {
		ring_count_lost(g_agent.ring, LOST_ALLOCS);
		return;
	}
	struct record_alloc *out = (struct record_alloc *)record;
	out->time_ns = now_wall_ns();
	out->id = atomic_fetch_add_explicit(&next_id, 1, memory_order_relaxed);
	out->size = size;
	out->weight = weight;
	out->thread = self->slot;
	out->flags = flags;
	out->count = count;
	out->reserved = 0;
	copy_frames(self, out->frames, count);
	if (!live_add(block, out->id))
		out->flags |= ALLOC_UNTRACKED;
	ring_commit(record, bytes, RECORD_ALLOC);
}

static void push_copy(struct agent_thread *self, uint64_t weight)
{
	uint32_t count;
	if (!walk_own_stack(self, &count))
		return;
	uint32_t bytes = (uint32_t)(sizeof(struct record_copy) + count * sizeof(struct record_frame));
	meter_rate_spend(&copy_rate, tokens_for(bytes), now_wall_ns());
	struct record *record = reserve(bytes);
	if (record == NULL)
		return;
	struct record_copy *out = (struct record_copy *)record;
	out->time_ns = now_wall_ns();
	out->weight = weight;
	out->thread = self->slot;
	out->count = count;
	copy_frames(self, out->frames, count);
	ring_commit(record, bytes, RECORD_COPY);
}

/* Whether this thread may be sampled now; keeps our own handler out. */
static struct agent_thread *enter(void)
{
	struct agent_thread *self = g_self;
	/* What is allocated while Python ends is no line's. */
	if (self == NULL || !g_agent.is_active || places == NULL || allocators_are_ending() ||
	    atomic_exchange_explicit(&self->is_busy, true, memory_order_acquire))
		return NULL;
	return self;
}

static void leave(struct agent_thread *self)
{
	atomic_store_explicit(&self->is_busy, false, memory_order_release);
}

/* Time in the agent; being switched away in the middle is not its cost. */
static void note_cost(uint64_t begin_ns)
{
	uint64_t cost_ns = now_wall_ns() - begin_ns;
	if (cost_ns < 100000)
		atomic_fetch_add_explicit(&g_agent.ring->agent_ns, cost_ns, memory_order_relaxed);
}

/* Nothing inside counts towards the next sample. */
static uint64_t stop_count(uint64_t *left)
{
	uint64_t paused = *left;
	*left = HEAP_PAUSE;
	return paused;
}

static uint64_t seed(void)
{
	return now_wall_ns() ^ (uint64_t)(uintptr_t)&heap_meter;
}

void *heap_sample(void *block, size_t size, uint32_t flags)
{
	if (block == NULL)
		return NULL;
	int saved = errno;
	uint64_t heap_left = stop_count(&g_heap_left);
	uint64_t copy_left = stop_count(&g_copy_left);
	uint64_t weight = meter_take(&heap_meter, &heap_left, size, meter_rate_window(&heap_rate),
				     heap_meter.window == 0 ? seed() : 0);
	struct agent_thread *self = weight > 0 ? enter() : NULL;
	if (self != NULL) {
		uint64_t begin_ns = now_wall_ns();
		push_alloc(self, block, size, weight, flags);
		note_cost(begin_ns);
		leave(self);
	}
	g_heap_left = heap_left;
	g_copy_left = copy_left;
	errno = saved;
	return block;
}

void heap_copy_sample(size_t size)
{
	int saved = errno;
	uint64_t heap_left = stop_count(&g_heap_left);
	uint64_t copy_left = stop_count(&g_copy_left);
	uint64_t weight = meter_take(&copy_meter, &copy_left, size, meter_rate_window(&copy_rate),
				     copy_meter.window == 0 ? ~seed() : 0);
	struct agent_thread *self = weight > 0 ? enter() : NULL;
	if (self != NULL) {
		uint64_t begin_ns = now_wall_ns();
		push_copy(self, weight);
		note_cost(begin_ns);
		leave(self);
	}
	g_heap_left = heap_left;
	g_copy_left = copy_left;
	errno = saved;
}

/* --- life --- */

static int make_tables(void)
{
	void *table = agent_map(sizeof(struct place) * PLACES);
	if (table == NULL)
		return -errno;
	places = table;
	atomic_store(&live_count, 0);
	atomic_store(&live_limit, PLACES / 2);
	meter_rate_start(&heap_rate, now_wall_ns());
	meter_rate_start(&copy_rate, now_wall_ns());
	return 0;
}

int heap_start(uint64_t window)
{
	heap_rate.fixed_window = window;
	return make_tables();
}

void heap_after_fork(void)
{
	if (places == NULL)
		return;
	/* Forgotten before it is unmapped: munmap is hooked and looks into it. */
	void *table = places;
	places = NULL;
	memset((void *)g_heap_filter, 0, HEAP_FILTER_SLOTS);
	munmap(table, sizeof(struct place) * PLACES);
	for (uint32_t i = 0; i < LATE_MAX && atomic_load(&late_count) > 0; i++)
		atomic_store(&late[i], 0);
	atomic_store(&late_count, 0);
	make_tables();
}
