/* late.c - see late.h. */
#include "agent/late.h"

#include <stdatomic.h>

static _Atomic uint64_t late[LATE_MAX]; /* 0: free */
static _Atomic uint32_t late_count;

static bool place(uint64_t id)
{
	for (uint32_t i = 0; i < LATE_MAX; i++) {
		uint64_t empty = 0;
		if (atomic_compare_exchange_strong(&late[i], &empty, id))
			return true;
	}
	return false;
}

bool late_put(uint64_t id)
{
	/* Counted first: who takes it at once must not count it off before. */
	atomic_fetch_add(&late_count, 1);
	if (place(id))
		return true;
	atomic_fetch_sub(&late_count, 1);
	return false;
}

uint32_t late_push(bool (*push)(uint64_t id))
{
	uint32_t count = atomic_load_explicit(&late_count, memory_order_relaxed);
	for (uint32_t i = 0; i < LATE_MAX && count != 0; i++) {
		uint64_t id = atomic_exchange(&late[i], 0);
		if (id == 0)
			continue;
		if (push(id)) {
			atomic_fetch_sub(&late_count, 1);
			continue;
		}
		/* Its own place may be another's by now. */
		if (place(id))
			return 0;
		atomic_fetch_sub(&late_count, 1);
		return 1;
	}
	return 0;
}

void late_drop(void)
{
	for (uint32_t i = 0; i < LATE_MAX && atomic_load(&late_count) > 0; i++)
		atomic_store(&late[i], 0);
	atomic_store(&late_count, 0);
}
