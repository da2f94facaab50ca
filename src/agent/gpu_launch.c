/* gpu_launch.c - which Python stack starts work on the GPU.
 *
 * CUPTI calls us on the thread that calls CUDA, before and after the call.  The
 * whole thing has to cost a fraction of a launch, which takes some 3 us: the
 * stack is not walked but hashed (some 5 ns a frame, no system call), and only
 * a stack that was not met before is walked, sent to the collector, and given
 * a number, its site.  The call's correlation is noted with the site in a table;
 * gpu_records.c asks for it when the work is done.
 *
 * A thread without Python frames works for one that has some: autograd's threads
 * launch what backward() in another thread asked for, and that thread waits
 * meanwhile.  Its stack is taken: that of the thread with Python frames that
 * launched last, which backward() itself does. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/agent.h"
#include "agent/clock.h"
#include "agent/gpu.h"
#include "agent/own_stack.h"
#include "agent/sample.h"

#define SITE_SLOTS 16384u       /* power of two */
#define SITE_PROBES 8u
#define CORRELATIONS (1u << 20) /* power of two; more than are ever in flight */
#define KEY_SEED 0x67707573u
#define KEY_DEPTH 512u
#define CALL_IDS 2048u          /* functions of a domain */

/* Sites that are none. */
#define SITE_FRAMELESS (UINT32_MAX - 1) /* in the table: the stack has no Python */
#define SITE_SUSPENDED UINT32_MAX

/* A borrowed stack is looked at again after so long, even if its thread has
 * launched nothing itself. */
#define BORROW_NS 2000000u

/* An asynchronous copy that blocks longer than this has waited for the device
 * (memory that is not pinned is copied through a buffer). */
#define COPY_BLOCKS_NS 50000u

#define TIMED_CALLS 63u /* odd: a call is entered and left */
#define COST_MAX_NS 20000u

/* What a function of CUDA does. */
enum call_kind {
	CALL_LAUNCH = 1 << 0, /* starts work, or takes memory */
	CALL_WAITS = 1 << 1,  /* returns when work is done */
	CALL_COPY = 1 << 2,   /* may do so */
};

struct site_slot {
	_Atomic uint64_t key;
	_Atomic uint32_t site; /* stored after the key is; 0: not yet */
};

static struct site_slot *slots;
static _Atomic uint64_t *correlations; /* correlation << 32 | site */
static _Atomic uint32_t next_site = 1;
static uint8_t call_kinds[CUPTI_DOMAINS][CALL_IDS];

/* The thread state that launched last, and how often that was. */
static _Atomic uint64_t owner_state, owner_launches;

/* Of the calling thread. */
struct launcher {
	uint32_t session; /* that the rest is of */
	uint32_t depth; /* calls of CUDA it is in: the runtime's call the driver's */
	uint32_t site;  /* of the outermost */
	uint32_t borrowed_site;
	uint32_t calls; /* of ours, by CUPTI */
	uint64_t borrowed_launches, borrowed_ns;
};

static __thread struct launcher own __attribute__((tls_model("initial-exec")));

int gpu_launch_start(void)
{
	if (slots == NULL)
		slots = agent_map(SITE_SLOTS * sizeof(*slots));
	if (correlations == NULL)
		correlations = agent_map(CORRELATIONS * sizeof(*correlations));
	uint64_t state = (uint64_t)(uintptr_t)g_agent.this_thread_state();
	atomic_store(&owner_state, state);
	return slots == NULL || correlations == NULL ? -ENOMEM : 0;
}

void gpu_launch_forget(void)
{
	if (slots != NULL)
		memset(slots, 0, SITE_SLOTS * sizeof(*slots));
	if (correlations != NULL)
		memset(correlations, 0, CORRELATIONS * sizeof(*correlations));
}

void gpu_launch_after_fork(void)
{
	if (slots != NULL)
		munmap(slots, SITE_SLOTS * sizeof(*slots));
	if (correlations != NULL)
		munmap(correlations, CORRELATIONS * sizeof(*correlations));
	slots = NULL;
	correlations = NULL;
	own = (struct launcher){0};
}

/* --- sites --- */

static uint32_t push_site(const struct agent_thread *self, uint32_t count)
{
	uint32_t size = (uint32_t)(sizeof(struct record_gpu_site) + count * sizeof(struct record_frame));
	struct record *record = ring_reserve(g_agent.ring, size);
	if (record == NULL)
		return GPU_SITE_NONE;
	struct record_gpu_site *out = (struct record_gpu_site *)record;
	out->time_ns = now_wall_ns();
	out->site = atomic_fetch_add(&next_site, 1);
	out->count = count;
	own_stack_copy(self, out->frames, count);
	uint32_t site = out->site;
	ring_commit(record, size, RECORD_GPU_SITE);
	return site;
}

/* The slot of a key: its own, a free one, or one that is given up for it. */
static struct site_slot *slot_of(uint64_t key)
{
	struct site_slot *at = NULL;
	for (uint32_t i = 0; i < SITE_PROBES; i++) {
		at = &slots[((key >> 40) + i) & (SITE_SLOTS - 1)];
		uint64_t there = atomic_load_explicit(&at->key, memory_order_acquire);
		if (there == key || there == 0)
			return at;
	}
	return at;
}

static uint32_t find_known(struct site_slot *slot, uint64_t key)
{
	uint32_t site = atomic_load_explicit(&slot->site, memory_order_acquire);
	return atomic_load_explicit(&slot->key, memory_order_acquire) == key ? site : GPU_SITE_NONE;
}

/* Two threads may do this for one key: then a stack has two numbers. */
static void remember_site(struct site_slot *slot, uint64_t key, uint32_t site)
{
	atomic_store_explicit(&slot->key, 0, memory_order_release);
	atomic_store_explicit(&slot->site, site, memory_order_release);
	atomic_store_explicit(&slot->key, key, memory_order_release);
}

static uint32_t make_site(struct site_slot *slot, uint64_t key)
{
	struct agent_thread *self = own_stack_enter();
	uint32_t site = GPU_SITE_NONE, count;
	if (self == NULL)
		return GPU_SITE_NONE;
	if (own_stack_walk(self, &count)) {
		site = count > 0 ? push_site(self, count) : SITE_FRAMELESS;
		if (site != GPU_SITE_NONE)
			remember_site(slot, key, site);
	}
	own_stack_leave(self);
	return site;
}

/* --- another thread's stack --- */

/* A walked stack's key; never that of a stack of one's own, whose seed differs. */
static uint64_t walked_key(const struct agent_thread *self, uint32_t count)
{
	uint64_t key = count;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t frame = (uint64_t)self->identities[i] << 32 | self->frames[i].offset;
		key = (key ^ frame) * 0x9e3779b97f4a7c15ull;
		key ^= key >> 32;
	}
	return key | 1;
}

static uint32_t walk_owner(uint64_t state)
{
	struct agent_thread *self = own_stack_enter();
	uint32_t site = GPU_SITE_NONE, count;
	uint8_t flags = 0;
	if (self == NULL)
		return GPU_SITE_NONE;
	/* It may run: its frames are read by a copy that can fail. */
	if (sample_walk_state(self, &g_agent.walker, state, &count, &flags) && count > 0) {
		uint64_t key = walked_key(self, count);
		struct site_slot *slot = slot_of(key);
		site = find_known(slot, key);
		if (site == GPU_SITE_NONE)
			site = push_site(self, count);
		if (site != GPU_SITE_NONE)
			remember_site(slot, key, site);
	}
	own_stack_leave(self);
	return site;
}

static uint32_t borrow_site(void)
{
	uint64_t launches = atomic_load_explicit(&owner_launches, memory_order_relaxed);
	uint64_t now_ns = now_wall_ns();
	if (own.borrowed_site != GPU_SITE_NONE && own.borrowed_launches == launches &&
	    now_ns - own.borrowed_ns < BORROW_NS)
		return own.borrowed_site;
	uint32_t site = walk_owner(atomic_load_explicit(&owner_state, memory_order_relaxed));
	if (site != GPU_SITE_NONE || own.borrowed_launches != launches)
		own.borrowed_site = site;
	own.borrowed_launches = launches;
	own.borrowed_ns = now_ns;
	return own.borrowed_site;
}

static void become_owner(void)
{
	uint64_t state = (uint64_t)(uintptr_t)g_agent.this_thread_state();
	if (atomic_load_explicit(&owner_state, memory_order_relaxed) != state)
		atomic_store_explicit(&owner_state, state, memory_order_relaxed);
	atomic_fetch_add_explicit(&owner_launches, 1, memory_order_relaxed);
}

static uint32_t find_site(void)
{
	uint32_t site = SITE_FRAMELESS;
	uint64_t key = own_stack_key(KEY_SEED, KEY_DEPTH);
	if (key != KEY_SEED) {
		key |= 1; /* 0 is a free slot */
		struct site_slot *slot = slot_of(key);
		site = find_known(slot, key);
		if (site == GPU_SITE_NONE)
			site = make_site(slot, key);
	}
	if (site == SITE_FRAMELESS)
		return borrow_site();
	become_owner();
	return site;
}

bool gpu_launch_find(uint32_t correlation, uint32_t *site)
{
	*site = GPU_SITE_NONE;
	if (correlations == NULL)
		return true;
	uint64_t noted = atomic_load_explicit(&correlations[correlation & (CORRELATIONS - 1)],
					      memory_order_relaxed);
	if (noted >> 32 != correlation)
		return true;
	*site = (uint32_t)noted;
	return *site != SITE_SUSPENDED;
}

/* --- calls --- */

static void push_wait(uint32_t site, uint64_t wait_ns, uint64_t now_ns)
{
	struct record *record = ring_reserve(g_agent.ring, sizeof(struct record_gpu_work));
	if (record == NULL)
		return;
	struct record_gpu_work *out = (struct record_gpu_work *)record;
	memset((char *)out + sizeof(out->head), 0, sizeof(*out) - sizeof(out->head));
	out->time_ns = now_ns;
	out->site = site;
	out->wait_ns = wait_ns;
	out->waits = 1;
	ring_commit(record, sizeof(*out), RECORD_GPU_WORK);
}

static void on_enter(const struct cupti_call *call, uint8_t kind)
{
	if (own.depth++ == 0)
		own.site = agent_is_off() ? SITE_SUSPENDED : find_site();
	atomic_store_explicit(&correlations[call->correlation & (CORRELATIONS - 1)],
			      (uint64_t)call->correlation << 32 | own.site, memory_order_relaxed);
	if (own.depth == 1 && (kind & (CALL_WAITS | CALL_COPY)) != 0)
		*call->own = now_wall_ns();
}

static void on_leave(const struct cupti_call *call, uint8_t kind)
{
	if (own.depth > 0)
		own.depth--;
	if (own.depth > 0 || (kind & (CALL_WAITS | CALL_COPY)) == 0 || *call->own == 0 ||
	    own.site == SITE_SUSPENDED)
		return;
	uint64_t now_ns = now_wall_ns();
	uint64_t wait_ns = now_ns - *call->own;
	if ((kind & CALL_WAITS) != 0 || wait_ns > COPY_BLOCKS_NS)
		push_wait(own.site, wait_ns, now_ns);
}

static void note_cost(uint64_t cost_ns)
{
	/* Being switched away in the middle is not our cost. */
	if (cost_ns < COST_MAX_NS)
		atomic_fetch_add_explicit(&g_agent.ring->agent_ns, TIMED_CALLS * cost_ns,
					  memory_order_relaxed);
}

static void on_call(void *data, int domain, uint32_t id, const struct cupti_call *call)
{
	(void)data;
	if (domain <= 0 || domain >= CUPTI_DOMAINS || id >= CALL_IDS || correlations == NULL ||
	    !g_agent.is_active)
		return;
	int saved = errno;
	uint32_t session = atomic_load_explicit(&g_agent.session, memory_order_relaxed);
	if (own.session != session)
		own = (struct launcher){.session = session};
	/* Some are timed, and stand for all. */
	uint64_t begin_ns = own.calls++ % TIMED_CALLS == TIMED_CALLS / 2 ? now_wall_ns() : 0;
	if (call->site == CUPTI_ENTER)
		on_enter(call, call_kinds[domain][id]);
	else
		on_leave(call, call_kinds[domain][id]);
	if (begin_ns != 0)
		note_cost(now_wall_ns() - begin_ns);
	errno = saved;
}

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* What a function does, by its name: the numbers differ between versions, and
 * there are many variants of each. */
static uint8_t kind_of(const char *name)
{
	static const char *const launches[] = {
		"cudaLaunch", "cuLaunch", "cudaGraphLaunch", "cuGraphLaunch", "cudaMemset", "cuMemset",
		"cudaMemPrefetch", "cuMemPrefetch", "cudaMalloc", "cuMemAlloc", "cuMemCreate",
	};
	static const char *const waits[] = {
		"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize",
		"cudaThreadSynchronize", "cuCtxSynchronize", "cuStreamSynchronize",
		"cuEventSynchronize",
	};
	while (*name == '_')
		name++;
	if (strstr(name, "HostFunc") != NULL)
		return 0;
	if (starts_with(name, "cudaMemcpy") || starts_with(name, "cuMemcpy"))
		return strstr(name, "Async") != NULL ? CALL_COPY : CALL_WAITS;
	for (size_t i = 0; i < sizeof(launches) / sizeof(launches[0]); i++) {
		if (starts_with(name, launches[i]))
			return CALL_LAUNCH;
	}
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		if (starts_with(name, waits[i]))
			return CALL_WAITS;
	}
	return 0;
}

int gpu_launch_subscribe(void **subscriber)
{
	int status = g_cupti.cuptiSubscribe(subscriber, on_call, NULL);
	for (int domain = CUPTI_DRIVER; domain < CUPTI_DOMAINS && status == CUPTI_DONE; domain++) {
		for (uint32_t id = 1; id < CALL_IDS; id++) {
			const char *name = NULL;
			if (g_cupti.cuptiGetCallbackName(domain, id, &name) != CUPTI_DONE ||
			    name == NULL)
				continue;
			call_kinds[domain][id] = kind_of(name);
			if (call_kinds[domain][id] != 0)
				g_cupti.cuptiEnableCallback(1, *subscriber, domain, id);
		}
	}
	return status;
}
