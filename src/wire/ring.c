/* ring.c - see ring.h.  Everything a producer calls is signal-safe. */
#include "wire/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define POPULATE_WRITE 23 /* MADV_POPULATE_WRITE; C libraries before 2.35 do not know it */

/* Data that gets its pages at the start, and at least so much more each time. */
#define FIRST_BYTES 16384u
#define GROW_BYTES 65536u

#define PAGE_BYTES_MOST 65536u /* those of some kernels on aarch64; a power of two, as all are */

_Static_assert((RING_BYTES & (RING_BYTES - 1)) == 0, "offsets are taken by a mask");
_Static_assert(RECORD_MAX_BYTES < RING_BYTES / 4, "a record must fit beside its pad");

const char *lost_reason_text(enum lost_reason reason)
{
	static const char *const texts[] = {
#define X(name, text) text,
		LOST_REASONS(X)
#undef X
	};
	return (unsigned)reason < LOST_REASON_COUNT ? texts[reason] : "unknown";
}

static struct record *record_at(struct ring *ring, uint64_t position)
{
	return (struct record *)(void *)(ring->data + (position & (RING_BYTES - 1)));
}

/* --- pages --- */

static int populate(void *from, size_t size)
{
	int saved = errno;
	int status = syscall(SYS_madvise, from, size, (long)POPULATE_WRITE) == 0 ? 0 : -errno;
	errno = saved;
	return status;
}

int ring_make_room(struct ring *ring)
{
	int status = populate(ring, offsetof(struct ring, data) + FIRST_BYTES);
	if (status == 0)
		atomic_store(&ring->room, FIRST_BYTES);
	return status;
}

/* Several threads may be here at the same time, and make the same pages. */
static bool grow(struct ring *ring, uint64_t room, uint64_t end)
{
	uint64_t wanted = (end + GROW_BYTES - 1) & ~(uint64_t)(GROW_BYTES - 1);
	/* From where a page begins, whatever its size: no other place would do. */
	uint64_t from = (offsetof(struct ring, data) + room) & ~(uint64_t)(PAGE_BYTES_MOST - 1);
	if (populate((unsigned char *)ring + from, offsetof(struct ring, data) + wanted - from) != 0)
		return false;
	while (room < wanted && !atomic_compare_exchange_weak(&ring->room, &room, wanted))
		continue;
	return true;
}

/* Whether there are pages for so many bytes from head on, which do not wrap.  (What comes behind
 * a pad lies where everything has been once.) */
static bool has_pages(struct ring *ring, uint64_t head, uint64_t size)
{
	uint64_t room = atomic_load_explicit(&ring->room, memory_order_relaxed);
	uint64_t end = (head & (RING_BYTES - 1)) + size;
	return end <= room || grow(ring, room, end);
}

/* --- producers --- */

struct record *ring_reserve(struct ring *ring, uint32_t size)
{
	struct record *record = ring_try_reserve(ring, size);
	if (record == NULL)
		ring_count_lost(ring, LOST_RING_FULL);
	return record;
}

struct record *ring_try_reserve(struct ring *ring, uint32_t size)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	for (;;) {
		uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
		uint64_t to_end = RING_BYTES - (head & (RING_BYTES - 1));
		uint64_t pad = size > to_end ? to_end : 0;
		/* A damaged tail must not let us run over unread records. */
		if (tail > head || head + pad + size - tail > RING_BYTES ||
		    !has_pages(ring, head, pad != 0 ? pad : size))
			return NULL;
		if (atomic_compare_exchange_weak_explicit(&ring->head, &head, head + pad + size,
							  memory_order_relaxed,
							  memory_order_relaxed)) {
			if (pad != 0)
				ring_commit(record_at(ring, head), (uint32_t)pad, RECORD_PAD);
			struct record *record = record_at(ring, head + pad);
			__atomic_store_n(&record->size, size | RING_PENDING, __ATOMIC_RELEASE);
			return record;
		}
	}
}

void ring_commit(struct record *record, uint32_t size, enum record_type type)
{
	record->type = (uint16_t)type;
	record->reserved = 0;
	__atomic_store_n(&record->size, size, __ATOMIC_RELEASE);
}

void ring_count_lost(struct ring *ring, enum lost_reason reason)
{
	atomic_fetch_add_explicit(&ring->lost[reason], 1, memory_order_relaxed);
}

void ring_owe(struct ring *ring, uint64_t bytes)
{
	atomic_fetch_add_explicit(&ring->owed_bytes, bytes, memory_order_relaxed);
}

void ring_pay(struct ring *ring, uint64_t bytes)
{
	uint64_t owed = atomic_load_explicit(&ring->owed_bytes, memory_order_relaxed);
	while (!atomic_compare_exchange_weak(&ring->owed_bytes, &owed, owed > bytes ? owed - bytes : 0))
		continue;
}

/* --- the collector --- */

const struct record *ring_peek(struct ring *ring, bool is_final, bool *damaged)
{
	for (;;) {
		uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
		uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
		if (head == tail)
			return NULL;
		uint64_t to_end = RING_BYTES - (tail & (RING_BYTES - 1));
		struct record *record = record_at(ring, tail);
		uint32_t size = __atomic_load_n(&record->size, __ATOMIC_ACQUIRE);
		bool is_pending = (size & RING_PENDING) != 0;
		if (size == 0 || (is_pending && !is_final))
			return NULL;
		size &= ~RING_PENDING;
		if ((tail & 7) != 0 || (size & 7) != 0 || size > to_end || size > head - tail ||
		    head - tail > RING_BYTES) {
			*damaged = true;
			return NULL;
		}
		if (!is_pending && record->type != RECORD_PAD)
			return record;
		if (is_pending)
			ring_count_lost(ring, LOST_TORN);
		ring_consume(ring, record);
	}
}

void ring_consume(struct ring *ring, const struct record *record)
{
	/* The size is read again: the caller may have been shown another one by
	 * a hostile target, and both moves must agree. */
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	struct record *at = record_at(ring, tail);
	uint64_t to_end = RING_BYTES - (tail & (RING_BYTES - 1));
	uint32_t size = at == record ? at->size & ~RING_PENDING : 0;
	if (size == 0 || size > to_end)
		return;
	memset(at, 0, size);
	atomic_store_explicit(&ring->tail, tail + size, memory_order_release);
}

void ring_skip_taken(struct ring *ring, uint64_t position, uint32_t size)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	uint64_t to_end = RING_BYTES - (tail & (RING_BYTES - 1));
	if (tail != position || size > to_end || size > atomic_load(&ring->head) - tail)
		return;
	memset(record_at(ring, tail), 0, size);
	atomic_store_explicit(&ring->tail, tail + size, memory_order_release);
}
