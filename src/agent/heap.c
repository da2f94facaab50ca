/* heap.c - see heap.h.
 *
 * A mark that only adds to its site, as nearly all do, is one straight way: the code is
 * not in the cache when it is met, and each function more would have to be fetched.
 *
 * What is done is kept within three budgets: marks, which cost some 40 ns;
 * samples of one site; and samples of all, which cost 2 us in agent and
 * collector and take room in the ring. */
#include "agent/heap.h"

#include <errno.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/allocators.h"
#include "agent/clock.h"
#include "agent/late.h"
#include "agent/meter.h"
#include "agent/own_stack.h"
#include "agent/sites.h"

#define TOKEN_BYTES 128u /* of the ring, that a token of all samples stands for */
#define MARKS_AT_ONCE 64u
#define SLIGHT_PART 256u /* of all that was met: no figure is read more finely */
#define SLIGHT_MOST (64u << 10)
#define CHANGED_TIMES 8u    /* see counted_bytes */
#define UNCHANGED_BYTES 64u /* the least; */
#define UNCHANGED_MANY 24u  /* so often */
#define KEY_FRAMES 4u /* innermost ones, by which a site is known */
#define KEY_COPY 0x100u
#define KEY_SIZE_SHIFT 16

#define RARE __attribute__((noinline))
#define IS_RARE(condition) __builtin_expect(condition, 0)

/* What is allocated, or what is copied. */
struct stream {
	uint64_t fixed_window; /* not 0: the user chose it, every mark is a sample */
	_Atomic uint64_t met;  /* bytes, those of large blocks not in full */
	struct meter_rate mark_rate;
	struct meter_budget mark_budget, site_budget, all_budget;
	struct meter_rate all_rate;
};

__thread uint32_t g_passed_on __attribute__((tls_model("initial-exec")));
__thread _Alignas(64) struct heap_thread g_heap __attribute__((tls_model("initial-exec")));

/* A burst of samples must find room in the ring. */
#define ALLOCS_BURST 1000u
#define COPIES_BURST 500u
#define CHILD_SHARE 4u /* a child begins with so much less: there may be many */
_Static_assert((ALLOCS_BURST + COPIES_BURST) * TOKEN_BYTES <= RING_BYTES / 4 * 3, "see reserve");

static _Alignas(64) struct stream allocs = {
	.mark_budget = {8192, 300000, 150000, 10000},
	.site_budget = {8192, 800, 400, 200},
	.all_budget = {8192, ALLOCS_BURST, 600, 100},
};
static _Alignas(64) struct stream copies = {
	.mark_budget = {65536, 50000, 50000, 4000},
	.site_budget = {65536, 200, 100, 50},
	.all_budget = {65536, COPIES_BURST, 400, 50},
};

/* Budgets are per second of the process's CPU time, so that the share of it
 * that we take does not grow where the machine is busy.  Read now and then: it
 * takes a system call. */
#define BUDGET_CLOCK_NS 10000000u

static _Atomic uint64_t read_ns, cpu_ns;

static uint64_t budget_clock_ns(uint64_t now_ns)
{
	uint64_t last_ns = atomic_load_explicit(&read_ns, memory_order_relaxed);
	if (now_ns >= last_ns + BUDGET_CLOCK_NS &&
	    atomic_compare_exchange_strong(&read_ns, &last_ns, now_ns)) {
		struct timespec used = {0};
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
		atomic_store_explicit(&cpu_ns,
				      (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec + 1,
				      memory_order_relaxed);
	}
	return atomic_load_explicit(&cpu_ns, memory_order_relaxed);
}

static struct agent_site *sites;
static bool are_sites_wiped; /* by a fork */
static _Atomic uint64_t next_id = 1;

/* A block that is followed is known by the number of its sample, and its site. */
#define SITE_BITS 14u
_Static_assert(SITES_ALL <= 1u << SITE_BITS, "it must fit");

static uint64_t followed_as(uint64_t id, const struct agent_site *site)
{
	return id << SITE_BITS | (uint64_t)(site - sites);
}

/* --- records --- */

static bool push_free(uint64_t id, uint32_t flags, uint32_t part)
{
	struct record *record = ring_try_reserve(g_agent.ring, sizeof(struct record_free));
	if (record == NULL)
		return false;
	struct record_free *out = (struct record_free *)record;
	out->time_ns = now_wall_ns();
	out->id = id;
	out->flags = flags | (allocators_are_ending() ? FREE_AT_END : 0);
	out->part = part;
	ring_commit(record, sizeof(*out), RECORD_FREE);
	return true;
}

static bool push_late_free(uint64_t id)
{
	return push_free(id, 0, 0);
}

static uint64_t id_of(uint64_t followed)
{
	return followed >> SITE_BITS;
}

static struct agent_site *site_of(uint64_t followed)
{
	return &sites[followed & ((1u << SITE_BITS) - 1)];
}

void heap_end(uint64_t followed, bool is_moved)
{
	uint64_t id = id_of(followed);
	/* What has moved lives on: that is no temporary. */
	if (!is_moved)
		sites_end_sample(site_of(followed));
	if (!g_agent.is_active || push_free(id, is_moved ? FREE_MOVED : 0, 0))
		return;
	if (!late_put(id))
		ring_count_lost(g_agent.ring, LOST_FREES);
}

void heap_put_back(const void *block, uint64_t followed)
{
	if (live_add(block, followed) == LIVE_FULL)
		heap_end(followed, false);
}

void heap_end_old(const void *block, uint64_t followed, bool is_there, bool is_moved)
{
	if (followed == 0)
		return;
	if (is_there)
		heap_put_back(block, followed);
	else
		heap_end(followed, is_moved);
}

void heap_forget(const void *block)
{
	uint64_t followed = live_take(block);
	if (followed != 0)
		heap_end(followed, false);
}

/* A reservation that leaves room for what matters more: threads, code objects,
 * samples of the CPU, ends of allocations. */
static struct record *reserve(uint32_t bytes)
{
	struct ring *ring = g_agent.ring;
	uint64_t used = atomic_load_explicit(&ring->head, memory_order_relaxed) -
			atomic_load_explicit(&ring->tail, memory_order_relaxed);
	return used < RING_BYTES / 4 * 3 ? ring_try_reserve(ring, bytes) : NULL;
}

/* Samples with deep stacks cost more: in time, and in the ring's room. */
static void pay(struct stream *stream, struct agent_site *site, size_t bytes, uint64_t now_ns)
{
	int32_t tokens = (int32_t)((bytes + TOKEN_BYTES - 1) / TOKEN_BYTES);
	uint64_t clock_ns = budget_clock_ns(now_ns);
	meter_rate_spend(&site->rate, &stream->site_budget, 1, clock_ns);
	meter_rate_spend(&stream->all_rate, &stream->all_budget, tokens, clock_ns);
}

/* Of what was there before realloc. */
static uint32_t part_left(const struct heap_resized *now)
{
	return now->after < now->before
		       ? (uint32_t)((double)now->after / (double)now->before * PART_ALL)
		       : PART_ALL;
}

static size_t changed_bytes(const struct heap_resized *now)
{
	return now->after > now->before ? now->after - now->before : now->before - now->after;
}

/* How often the calling thread's last block has been left as it was. */
static __thread struct {
	const void *block;
	uint32_t times;
} unchanged __attribute__((tls_model("initial-exec")));

/* Allocators give more room than was asked for, so that nothing may change; again and again
 * where a block grows bit by bit.  The first few count, the others have their chance. */
static size_t most_unchanged(const struct heap_resized *now)
{
	if (unchanged.block != now->block)
		unchanged.times = 0;
	unchanged.block = now->block;
	if (unchanged.times < UNCHANGED_MANY)
		unchanged.times++;
	size_t most = now->size >> 2 * unchanged.times;
	return most > UNCHANGED_BYTES ? most : UNCHANGED_BYTES;
}

/* The bytes that a resized block is counted by: its size, but no more than so many times those that
 * it has changed by. */
static size_t counted_bytes(const struct heap_resized *now)
{
	size_t most = CHANGED_TIMES * changed_bytes(now);
	if (most == 0)
		most = most_unchanged(now);
	return now->size < most ? now->size : most;
}

/* What the sample stands for: of a resized block, for as many of its whole size as it was counted
 * by. */
static void tell_weight(const struct heap_choice *choice, struct record_alloc *out)
{
	const struct heap_resized *now = choice->resized;
	out->size = choice->size;
	out->weight = out->live = choice->weight;
	out->grows = 0;
	out->part = 0;
	if (now == NULL)
		return;
	double times = (double)choice->weight / (double)choice->size;
	uint64_t live = now->after > now->before ? (uint64_t)(times * (double)changed_bytes(now)) : 0;
	out->size = now->size;
	out->weight = (uint64_t)(times * (double)now->size);
	out->live = live < out->weight ? live : out->weight;
	out->part = part_left(now);
	if (now->followed == 0)
		return;
	out->grows = id_of(now->followed);
	sites_end_sample(site_of(now->followed));
}

static void follow(const void *block, struct agent_site *site, struct record_alloc *out)
{
	/* In a loaded agent a block's end can be missed: its library copied the address
	 * of free.  Another block in its place is the last word on it. */
	if (g_agent.is_loaded && live_may_have(block))
		heap_forget(block);
	sites_begin_sample(site);
	switch (live_add(block, followed_as(out->id, site))) {
	case LIVE_ADDED:
		break;
	case LIVE_CROWDED:
		meter_rate_raise_floor(&allocs.all_rate);
		break;
	case LIVE_FULL:
		out->flags |= ALLOC_UNTRACKED;
		break;
	}
}

static bool push_alloc(struct agent_thread *self, const struct heap_choice *choice,
		       const void *block, uint64_t now_ns)
{
	uint32_t count;
	if (late_push(push_late_free) != 0)
		ring_count_lost(g_agent.ring, LOST_FREES);
	if (!own_stack_walk(self, &count))
		return false;
	uint32_t bytes = (uint32_t)(sizeof(struct record_alloc) + count * sizeof(struct record_frame));
	pay(&allocs, choice->site, bytes + sizeof(struct record_free), now_ns);
	struct record *record = reserve(bytes);
	if (record == NULL) {
		ring_owe(g_agent.ring, choice->weight);
		return false;
	}
	struct record_alloc *out = (struct record_alloc *)record;
	out->time_ns = now_ns;
	out->id = atomic_fetch_add_explicit(&next_id, 1, memory_order_relaxed);
	tell_weight(choice, out);
	out->thread = self->slot;
	out->flags = choice->flags;
	out->count = count;
	own_stack_copy(self, out->frames, count);
	follow(block, choice->site, out);
	ring_commit(record, bytes, RECORD_ALLOC);
	return true;
}

static bool push_copy(struct agent_thread *self, const struct heap_choice *choice,
		      const void *block, uint64_t now_ns)
{
	(void)block;
	uint32_t count;
	if (!own_stack_walk(self, &count))
		return false;
	uint32_t bytes = (uint32_t)(sizeof(struct record_copy) + count * sizeof(struct record_frame));
	pay(&copies, choice->site, bytes, now_ns);
	struct record *record = reserve(bytes);
	if (record == NULL)
		return false;
	struct record_copy *out = (struct record_copy *)record;
	out->time_ns = now_ns;
	out->weight = choice->weight;
	out->thread = self->slot;
	out->count = count;
	own_stack_copy(self, out->frames, count);
	ring_commit(record, bytes, RECORD_COPY);
	return true;
}

/* --- from a mark to a sample --- */

/* Blocks of one line that differ in size often differ in how long they live
 * (a buffer, and what is made from it): each size is sampled for itself, though not so finely
 * that texts of all lengths make a hundred sites of a line. */
static uint32_t size_class(size_t size)
{
	uint32_t log = 63u - (uint32_t)__builtin_clzll(size | 32);
	return log << 2 | (uint32_t)(size >> (log - 2) & (size < 512 ? 3u : 2u));
}

static RARE void pay_for_marks(struct stream *stream, uint64_t window, uint32_t *marks)
{
	atomic_fetch_add_explicit(&stream->met, MARKS_AT_ONCE * window, memory_order_relaxed);
	/* In a process that we have left the kernel may not be asked for the time. */
	if (g_agent.is_active)
		meter_rate_spend(&stream->mark_rate, &stream->mark_budget, MARKS_AT_ONCE,
				 budget_clock_ns(now_wall_ns()));
	*marks = 0;
}

static RARE uint64_t meet_unsteady(struct meter *meter, uint64_t *left, size_t size, uint64_t window)
{
	uint64_t seed = meter->window == 0 ? now_wall_ns() ^ (uint64_t)(uintptr_t)meter : 0;
	return meter_take(meter, left, size, window, seed);
}

/* The bytes that the marks in this block stand for. */
static inline uint64_t meet(struct stream *stream, struct meter *meter, uint32_t *marks,
			    uint64_t *left, size_t size)
{
	uint64_t window = meter_rate_window(&stream->mark_rate, &stream->mark_budget);
	if (IS_RARE(stream->fixed_window != 0))
		window = stream->fixed_window;
	if (IS_RARE(++*marks == MARKS_AT_ONCE))
		pay_for_marks(stream, window, marks);
	if (IS_RARE(!meter_is_steady(meter, size, window)))
		return meet_unsteady(meter, left, size, window);
	return meter_pass(meter, left, size);
}

/* Whether what is met is wanted at all. */
static inline bool is_on(void)
{
	return atomic_load_explicit(&g_agent.is_active, memory_order_relaxed) && sites != NULL &&
	       !agent_is_off();
}

/* Python's allocators are asked by who has its lock. */
static inline bool is_alone(uint32_t flags)
{
	return (flags & ALLOC_PYTHON) != 0 && !g_agent.layout.free_threaded;
}

static uint64_t site_window(const struct stream *stream, const struct agent_site *site)
{
	if (stream->fixed_window != 0)
		return 0;
	uint64_t slight = atomic_load_explicit(&stream->met, memory_order_relaxed) / SLIGHT_PART;
	return sites_window(site, &stream->site_budget,
			    meter_rate_window(&stream->all_rate, &stream->all_budget),
			    slight < SLIGHT_MOST ? slight : SLIGHT_MOST);
}

/* Time in the agent; being switched away in the middle is not its cost. */
static void note_cost(uint64_t begin_ns)
{
	uint64_t cost_ns = now_wall_ns() - begin_ns;
	if (cost_ns < 100000)
		atomic_fetch_add_explicit(&g_agent.ring->agent_ns, cost_ns, memory_order_relaxed);
}

/* The sample stands for these too. */
static uint64_t take_owed(const struct stream *stream, struct agent_site *site, uint64_t weight)
{
	uint64_t bytes = sites_take_owed(site, weight);
	if (IS_RARE(bytes != 0) && stream == &allocs)
		ring_pay(g_agent.ring, bytes);
	return bytes;
}

/* Adds the bytes to their site.  Whether a sample is due, which stands for all of them:
 * then nothing is counted until it is taken. */
static RARE bool book(const struct stream *stream, struct agent_site *site, uint64_t bytes,
		      struct heap_choice *choice)
{
	choice->site = site;
	choice->weight = sites_add(site, bytes, site_window(stream, site));
	if (choice->weight == 0)
		return false;
	choice->weight += take_owed(stream, site, choice->weight);
	choice->left = g_heap.left;
	choice->copy_left = g_heap.copy_left;
	g_heap.left = HEAP_PAUSE;
	g_heap.copy_left = HEAP_PAUSE;
	return true;
}

static void go_on_counting(const struct heap_choice *choice)
{
	g_heap.left = choice->left;
	g_heap.copy_left = choice->copy_left;
}

static bool take(const struct heap_choice *choice, const void *block,
		 bool (*push)(struct agent_thread *, const struct heap_choice *, const void *,
			      uint64_t now_ns))
{
	int saved_errno = errno;
	/* What is allocated while Python ends is no line's. */
	struct agent_thread *self = allocators_are_ending() ? NULL : own_stack_enter();
	bool is_taken = false;
	if (self != NULL) {
		uint64_t begin_ns = now_wall_ns();
		is_taken = push(self, choice, block, begin_ns);
		note_cost(begin_ns);
		own_stack_leave(self);
	}
	if (!is_taken)
		sites_give_back(choice->site, choice->weight);
	errno = saved_errno;
	return is_taken;
}

bool heap_choose(struct heap_choice *choice, size_t size, uint32_t flags)
{
	struct heap_thread *own = &g_heap;
	uint64_t bytes = meet(&allocs, &own->meter, &own->marks, &own->left, size);
	if (bytes == 0 || !is_on())
		return false;
	uint64_t key = own_stack_key(flags | size_class(size) << KEY_SIZE_SHIFT, KEY_FRAMES);
	struct agent_site *site = sites_find(sites, key);
	if (__builtin_expect(sites_pass_by(site, bytes, is_alone(flags)), 1))
		return false;
	choice->size = size;
	choice->flags = flags;
	choice->resized = NULL;
	return book(&allocs, site, bytes, choice);
}

void heap_settle(const struct heap_choice *choice, const void *block)
{
	if (block != NULL)
		take(choice, block, push_alloc);
	go_on_counting(choice);
}

void *heap_meet(void *block, size_t size, uint32_t flags)
{
	struct heap_choice choice;
	if (block != NULL && heap_choose(&choice, size, flags))
		heap_settle(&choice, block);
	return block;
}

/* The block lives on as what it was followed as. */
static void go_on_following(const struct heap_resized *now)
{
	bool is_to_tell = now->after < now->before && g_agent.is_active;
	if (is_to_tell && !push_free(id_of(now->followed), FREE_SHRUNK, part_left(now)))
		heap_end(now->followed, true);
	else
		heap_put_back(now->block, now->followed);
}

void heap_resize(const struct heap_resized *now)
{
	struct heap_choice choice;
	bool is_taken = false;
	size_t counted = counted_bytes(now);
	/* At a site of its own: what is resized again and again would else stand for the few
	 * blocks that are new. */
	uint32_t flags = now->flags | ALLOC_RESIZED;
	if (heap_count(counted) && heap_choose(&choice, counted, flags)) {
		choice.resized = now;
		is_taken = take(&choice, now->block, push_alloc);
		go_on_counting(&choice);
	}
	if (!is_taken && now->followed != 0)
		go_on_following(now);
}

void heap_meet_copy(size_t size)
{
	struct heap_thread *own = &g_heap;
	struct heap_choice choice;
	uint64_t bytes = meet(&copies, &own->copy_meter, &own->copy_marks, &own->copy_left, size);
	if (bytes == 0 || !is_on())
		return;
	struct agent_site *site = sites_find(sites, own_stack_key(KEY_COPY, KEY_FRAMES));
	if (sites_pass_by(site, bytes, false) || !book(&copies, site, bytes, &choice))
		return;
	take(&choice, NULL, push_copy);
	go_on_counting(&choice);
}

/* --- life --- */

static void begin(void)
{
	static const struct meter_rate fresh;
	atomic_store(&allocs.met, 0);
	atomic_store(&copies.met, 0);
	memcpy(&allocs.mark_rate, &fresh, sizeof(fresh));
	memcpy(&allocs.all_rate, &fresh, sizeof(fresh));
	memcpy(&copies.mark_rate, &fresh, sizeof(fresh));
	memcpy(&copies.all_rate, &fresh, sizeof(fresh));
	atomic_store(&read_ns, 0); /* a child's clock begins anew */
}

static int clear_sites(void)
{
	void *empty = agent_map_again(sites, sizeof(*sites) * SITES_ALL);
	if (empty == NULL)
		return -ENOMEM;
	sites = empty;
	are_sites_wiped = agent_wipe_on_fork(sites, sizeof(*sites) * SITES_ALL);
	return 0;
}

int heap_start(uint64_t window)
{
	allocs.fixed_window = window;
	late_drop();
	begin();
	return clear_sites() != 0 ? -ENOMEM : live_start();
}

void heap_after_fork(void)
{
	if (sites == NULL)
		return;
	late_drop();
	begin();
	if (!are_sites_wiped)
		clear_sites();
	live_after_fork();
	uint64_t clock_ns = budget_clock_ns(now_wall_ns());
	meter_rate_begin(&allocs.all_rate, ALLOCS_BURST / CHILD_SHARE, clock_ns);
	meter_rate_begin(&copies.all_rate, COPIES_BURST / CHILD_SHARE, clock_ns);
}
