/* codes.c - which code objects the collector knows already.
 *
 * A cache, shared by all handlers of the process without a lock: a slot is
 * two words, the code's address and (id, identity).  Losing a race or a slot
 * means that a code object is sent twice, which the collector bears, since it
 * tells code objects apart by what they contain.
 *
 * Signal-safe: codes_find. */
#include "agent/codes.h"

#include <errno.h>
#include <string.h>

#include "agent/agent.h"

/* Both are powers of two.  A code object is looked for among the first, and among the others where
 * all the places that it may have there are taken: two pages do for most programs, where each
 * new code object of a large table would have a page of its own (8 us for its two faults). */
#define FIRST_SLOTS 512u
#define OTHER_SLOTS 32768u
#define CODE_PROBES 8u

struct code_slot {
	_Atomic uint64_t code;
	_Atomic uint64_t known; /* id << 32 | identity */
};

static struct code_slot *slots;
static bool is_wiped; /* by a fork */
static _Atomic uint32_t next_id = 1;

#define TABLE_BYTES ((FIRST_SLOTS + OTHER_SLOTS) * sizeof(*slots))

int codes_reset(void)
{
	void *fresh = agent_map_again(slots, TABLE_BYTES);
	if (fresh == NULL)
		return -errno;
	slots = fresh;
	is_wiped = agent_wipe_on_fork(slots, TABLE_BYTES);
	return 0;
}

int codes_after_fork(void)
{
	return is_wiped ? 0 : codes_reset();
}

/* The code's slot, or a free one for it, of so many; NULL: others have all that it may have. */
static struct code_slot *search(struct code_slot *table, uint32_t count, uint64_t home, py_addr code)
{
	for (uint32_t i = 0; i < CODE_PROBES; i++) {
		struct code_slot *slot = &table[(home + i) & (count - 1)];
		uint64_t at = atomic_load_explicit(&slot->code, memory_order_acquire);
		if (at == code || at == 0)
			return slot;
	}
	return NULL;
}

static struct code_slot *slot_of(py_addr code)
{
	uint64_t home = (code >> 4) * 0x9e3779b97f4a7c15ull >> 32;
	struct code_slot *others = slots + FIRST_SLOTS;
	struct code_slot *slot = search(slots, FIRST_SLOTS, home, code);
	if (slot == NULL)
		slot = search(others, OTHER_SLOTS, home, code);
	return slot != NULL ? slot : &others[home & (OTHER_SLOTS - 1)];
}

static bool send_code(struct agent_thread *self, const struct walker *walker, py_addr code,
		      uint32_t id)
{
	struct code_info info;
	if (!code_read(walker, code, self->code, sizeof(self->code), &info)) {
		ring_count_lost(g_agent.ring, LOST_CODE_UNREADABLE);
		return false;
	}
	uint32_t texts = info.filename_size + info.qualname_size + info.lines_size +
			 info.bytecode_size;
	uint32_t size = ((uint32_t)sizeof(struct record_code) + texts + 7u) & ~7u;
	struct record *record = ring_reserve(g_agent.ring, size);
	if (record == NULL)
		return false;
	struct record_code *out = (struct record_code *)record;
	out->address = info.is_cut ? code : 0;
	out->id = id;
	out->first_line = info.first_line;
	out->flags = info.flags;
	out->filename_size = info.filename_size;
	out->qualname_size = info.qualname_size;
	out->lines_size = info.lines_size;
	out->bytecode_size = info.bytecode_size;
	out->reserved = 0;
	unsigned char *to = (unsigned char *)(out + 1);
	memcpy(to, info.filename, info.filename_size);
	to += info.filename_size;
	memcpy(to, info.qualname, info.qualname_size);
	to += info.qualname_size;
	memcpy(to, info.lines, info.lines_size);
	to += info.lines_size;
	memcpy(to, info.bytecode, info.bytecode_size);
	ring_commit(record, size, RECORD_CODE);
	return true;
}

uint32_t codes_find(struct agent_thread *self, const struct walker *walker, py_addr code,
		    uint32_t identity)
{
	if (identity == CODE_TORN) {
		ring_count_lost(g_agent.ring, LOST_TORN);
		return CODE_ID_NONE;
	}
	struct code_slot *slot = slot_of(code);
	uint64_t known = atomic_load_explicit(&slot->known, memory_order_acquire);
	if (atomic_load_explicit(&slot->code, memory_order_acquire) == code &&
	    (uint32_t)known == identity)
		return (uint32_t)(known >> 32);

	uint32_t id = atomic_fetch_add_explicit(&next_id, 1, memory_order_relaxed);
	if (!send_code(self, walker, code, id))
		return CODE_ID_NONE;
	/* known before code: a reader that sees the new address sees its id. */
	atomic_store_explicit(&slot->code, 0, memory_order_release);
	atomic_store_explicit(&slot->known, (uint64_t)id << 32 | identity, memory_order_release);
	atomic_store_explicit(&slot->code, code, memory_order_release);
	return id;
}
