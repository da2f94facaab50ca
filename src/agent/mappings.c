/* mappings.c - see mappings.h. */
#include "agent/mappings.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/allocators.h"
#include "agent/clock.h"
#include "agent/heap.h"

#define SLOTS 256u
#define SMALLEST (1u << 20)
#define LARGEST (64ull << 30) /* to look at more pages takes too long */
#define CHUNK_PAGES 4096u

#define CLAIMED 1u /* no mapping begins there */

struct mapping_slot {
	_Atomic uint64_t address; /* 0: free */
	_Atomic uint64_t size;
	uint64_t followed; /* as what heap.h follows it */
};

static struct mapping_slot slots[SLOTS];
static _Atomic uint32_t slot_count; /* that are not free */

static bool claim(struct mapping_slot *slot, uint64_t address)
{
	return atomic_compare_exchange_strong(&slot->address, &address, CLAIMED);
}

static struct mapping_slot *claim_free(void)
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		if (atomic_load(&slots[i].address) == 0 && claim(&slots[i], 0)) {
			atomic_fetch_add(&slot_count, 1);
			return &slots[i];
		}
	}
	return NULL;
}

static void release(struct mapping_slot *slot)
{
	atomic_store(&slot->address, 0);
	atomic_fetch_sub(&slot_count, 1);
}

/* --- what is told --- */

static void tell(uint64_t was_at, uint64_t address, uint64_t size, uint64_t resident)
{
	if (!g_agent.is_active)
		return;
	struct record *record = ring_try_reserve(g_agent.ring, sizeof(struct record_mapping));
	if (record == NULL)
		return; /* the collector's next look makes up for it */
	struct record_mapping *out = (struct record_mapping *)record;
	out->time_ns = now_wall_ns();
	out->was_at = was_at;
	out->address = address;
	out->size = size;
	out->resident = resident;
	out->flags = allocators_are_ending() ? MAPPING_AT_END : 0;
	out->reserved = 0;
	ring_commit(record, sizeof(*out), RECORD_MAPPING);
}

static uint64_t resident_bytes(uint64_t address, uint64_t size)
{
	unsigned char pages[CHUNK_PAGES];
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), count = 0;
	int saved_errno = errno;
	for (uint64_t at = 0; at < size; at += CHUNK_PAGES * page) {
		uint64_t left = size - at < CHUNK_PAGES * page ? size - at : CHUNK_PAGES * page;
		if (mincore((void *)(uintptr_t)(address + at), left, pages) != 0)
			continue; /* there is a hole in it */
		for (uint64_t i = 0; i < (left + page - 1) / page; i++)
			count += pages[i] & 1u;
	}
	errno = saved_errno;
	return count * page;
}

static void tell_now(uint64_t address, uint64_t size)
{
	if (g_agent.is_active)
		tell(address, address, size, resident_bytes(address, size));
}

/* --- the table --- */

bool mappings_add(void *address, size_t size, bool is_pool)
{
	struct heap_choice choice;
	if (size < SMALLEST || size > LARGEST)
		return false;
	struct mapping_slot *slot = claim_free();
	if (slot == NULL)
		return false;
	if (!heap_choose(&choice, size, ALLOC_MAPPED | (is_pool ? ALLOC_POOL : 0u))) {
		release(slot);
		return true;
	}
	/* One that stands for others too is not looked at. */
	if (choice.weight == size)
		choice.size = (size_t)(uintptr_t)address;
	else
		choice.flags &= ~(uint32_t)ALLOC_MAPPED;
	heap_settle(&choice, address);
	slot->followed = choice.weight == size ? live_take(address) : 0;
	if (slot->followed == 0) {
		release(slot);
		return true;
	}
	atomic_store(&slot->size, size);
	atomic_store(&slot->address, (uint64_t)(uintptr_t)address);
	return true;
}

static void cut(struct mapping_slot *slot, uint64_t address, uint64_t from, uint64_t to)
{
	uint64_t end = address + atomic_load(&slot->size);
	if (from <= address && to >= end) {
		tell_now(address, end - address);
		heap_end(slot->followed, false);
		release(slot);
		return;
	}
	uint64_t begin = from <= address ? to : address;
	if (to >= end)
		end = from;
	tell(address, begin, end - begin, MAPPING_NOT_LOOKED_AT);
	atomic_store(&slot->size, end - begin);
	atomic_store(&slot->address, begin);
}

void mappings_unmap(const void *address, size_t size)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t from = (uint64_t)(uintptr_t)address, to = (from + size + page - 1) & ~(page - 1);
	if (atomic_load_explicit(&slot_count, memory_order_relaxed) == 0)
		return;
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct mapping_slot *slot = &slots[i];
		uint64_t at = atomic_load(&slot->address);
		if (at > CLAIMED && at < to && from < at + atomic_load(&slot->size) && claim(slot, at))
			cut(slot, at, from, to);
	}
}

struct mapping_slot *mappings_take(const void *address)
{
	uint64_t at = (uint64_t)(uintptr_t)address;
	for (uint32_t i = 0; i < SLOTS && at > CLAIMED; i++) {
		struct mapping_slot *slot = &slots[i];
		if (atomic_load(&slot->address) != at || !claim(slot, at))
			continue;
		tell_now(at, atomic_load(&slot->size));
		return slot;
	}
	return NULL;
}

void mappings_put_back(struct mapping_slot *slot, const void *address)
{
	atomic_store(&slot->address, (uint64_t)(uintptr_t)address);
}

void mappings_moved(struct mapping_slot *slot)
{
	heap_end(slot->followed, true);
	release(slot);
}

void mappings_tell(void)
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		uint64_t at = atomic_load(&slots[i].address);
		if (at > CLAIMED)
			tell_now(at, atomic_load(&slots[i].size));
	}
}

void mappings_start(void)
{
	memset(slots, 0, sizeof(slots));
	atomic_store(&slot_count, 0);
}
