/* snapshot.c - see snapshot.h. */
#include "remote/snapshot.h"

#include <errno.h>
#include <string.h>

#include "python/bits.h"

#define STACK_AHEAD_BYTES 1024u /* the stack may have grown since the last look */
#define PAGE_IDLE_MAX 64u       /* looks after which a page is left out */
#define CHUNK_SIZE_AT 8u        /* in the head of a chunk: how many bytes it has */

/* ---- reading from the copies ---- */

static bool copy_part(py_addr start, uint32_t size, const unsigned char *bytes, py_addr addr, void *dst,
		      size_t wanted)
{
	if (addr < start || addr - start > size || size - (addr - start) < wanted)
		return false;
	memcpy(dst, bytes + (addr - start), wanted);
	return true;
}

/* From now on the page is copied along. */
static void want_page(struct snapshot *snapshot, py_addr addr)
{
	py_addr start = addr & ~(py_addr)(WALK_PAGE_BYTES - 1);
	uint32_t place = snapshot->page_count;

	for (uint32_t i = 0; i < snapshot->page_count; i++) {
		if (snapshot->pages[i].start == start)
			return;
	}
	if (place == SNAPSHOT_PAGES)
		return;
	snapshot->pages[place] = (struct snapshot_page){ start, 0 };
	snapshot->page_count++;
}

static bool read_copied(struct snapshot *snapshot, py_addr addr, void *dst, size_t size)
{
	const struct snapshot_copy *copy = snapshot->current;

	if (copy_part(snapshot->thread + snapshot->state_start, snapshot->state_size, copy->state, addr, dst,
		      size) ||
	    copy_part(snapshot->stack_start, snapshot->stack_size, copy->stack, addr, dst, size))
		return true;
	for (uint32_t i = 0; i < snapshot->pages_copied; i++) {
		if (copy_part(snapshot->pages[i].start, WALK_PAGE_BYTES, copy->pages[i], addr, dst, size)) {
			snapshot->pages[i].idle = 0;
			return true;
		}
	}
	return false;
}

static bool snapshot_read(const struct mem_reader *reader, py_addr addr, void *dst, size_t size)
{
	/* The reader is the snapshot's first member. */
	struct snapshot *snapshot = (struct snapshot *)(uintptr_t)reader;
	const struct mem_reader *process = &snapshot->remote->reader;

	if (read_copied(snapshot, addr, dst, size))
		return true;
	if (!process->read(process, addr, dst, size))
		return false;
	if (size <= WALK_PAGE_BYTES)
		want_page(snapshot, addr);
	return true;
}

static size_t snapshot_read_many(const struct mem_reader *reader, const struct iovec *dst,
				 const struct iovec *src, size_t count)
{
	size_t whole = 0;

	while (whole < count && snapshot_read(reader, (uintptr_t)src[whole].iov_base, dst[whole].iov_base,
					      src[whole].iov_len))
		whole++;
	return whole;
}

/* ---- copying ---- */

/* The part of a thread state that has what the walker reads. */
static void plan_state(struct snapshot *snapshot)
{
	const struct py_layout *layout = &snapshot->remote->layout;
	uint32_t start = layout->thread_frame, end = layout->thread_frame + 8;

	if (layout->thread_datastack_chunk != PY_ABSENT) {
		start = start < layout->thread_datastack_chunk ? start : layout->thread_datastack_chunk;
		end = end > layout->thread_datastack_chunk + 16 ? end
								 : layout->thread_datastack_chunk + 16;
	}
	if (end - start > SNAPSHOT_STATE_BYTES)
		end = start + SNAPSHOT_STATE_BYTES;
	snapshot->state_start = start;
	snapshot->state_size = end - start;
}

void snapshot_init(struct snapshot *snapshot, const struct remote *remote, py_addr thread)
{
	memset(snapshot, 0, offsetof(struct snapshot, copies));
	snapshot->remote = remote;
	snapshot->thread = thread;
	snapshot->reader = remote->reader;
	snapshot->reader.read = snapshot_read;
	snapshot->reader.read_many = snapshot_read_many;
	snapshot->current = &snapshot->copies[0];
	plan_state(snapshot);
}

/* One copy's pieces in order; returns how many. */
static size_t plan_copy(const struct snapshot *snapshot, struct snapshot_copy *copy, struct iovec *dst,
			struct iovec *src)
{
	size_t count = 0;

	dst[count] = (struct iovec){ copy->state, snapshot->state_size };
	src[count++] = (struct iovec){ (void *)(uintptr_t)(snapshot->thread + snapshot->state_start),
				       snapshot->state_size };
	for (uint32_t i = 0; i < snapshot->page_count; i++) {
		dst[count] = (struct iovec){ copy->pages[i], WALK_PAGE_BYTES };
		src[count++] = (struct iovec){ (void *)(uintptr_t)snapshot->pages[i].start,
					       WALK_PAGE_BYTES };
	}
	if (snapshot->stack_size > 0) {
		dst[count] = (struct iovec){ copy->stack, snapshot->stack_size };
		src[count++] = (struct iovec){ (void *)(uintptr_t)snapshot->stack_start,
					       snapshot->stack_size };
	}
	return count;
}

static bool copy_twice(struct snapshot *snapshot)
{
	struct iovec dst[2 * (SNAPSHOT_PAGES + 2)], src[2 * (SNAPSHOT_PAGES + 2)];
	const struct mem_reader *process = &snapshot->remote->reader;
	size_t count = plan_copy(snapshot, &snapshot->copies[0], dst, src);

	plan_copy(snapshot, &snapshot->copies[1], dst + count, src + count);
	/* The second copy backwards: the state comes last. */
	for (size_t i = 0; i < count / 2; i++) {
		struct iovec one = dst[count + i], other = src[count + i];

		dst[count + i] = dst[2 * count - 1 - i];
		src[count + i] = src[2 * count - 1 - i];
		dst[2 * count - 1 - i] = one;
		src[2 * count - 1 - i] = other;
	}
	snapshot->pages_copied = snapshot->page_count;
	return process->read_many(process, dst, src, 2 * count) == 2 * count;
}

/* What the thread state says of its frame stack: the newest chunk and its
 * used part. */
static bool stack_of(const struct snapshot *snapshot, py_addr *start, uint64_t *used)
{
	const struct py_layout *layout = &snapshot->remote->layout;
	const unsigned char *at;

	if (layout->thread_datastack_chunk == PY_ABSENT ||
	    layout->thread_datastack_chunk + 16 > snapshot->state_start + snapshot->state_size)
		return false;
	at = snapshot->copies[0].state + (layout->thread_datastack_chunk - snapshot->state_start);
	*start = load_u64(at);
	*used = load_u64(at + 8) - *start;
	if (layout->thread_datastack_top == PY_ABSENT)
		*used = SNAPSHOT_STACK_BYTES;
	return is_pointer(*start);
}

/* Fits what is copied of the frame stack to what the state says.  True when
 * the copies have all of it that they can. */
static bool plan_stack(struct snapshot *snapshot)
{
	py_addr start;
	uint64_t used;

	if (!stack_of(snapshot, &start, &used))
		return true;
	bool is_known = start == snapshot->stack_start && snapshot->stack_size > CHUNK_SIZE_AT + 8;
	/* Never beyond the chunk's end, which its head tells. */
	uint64_t room = is_known ? load_u64(snapshot->copies[0].stack + CHUNK_SIZE_AT) : used;
	uint64_t wanted = used + STACK_AHEAD_BYTES < room ? used + STACK_AHEAD_BYTES : room;

	if (wanted < used)
		wanted = used;
	if (wanted > SNAPSHOT_STACK_BYTES)
		wanted = SNAPSHOT_STACK_BYTES;
	if (is_known && (used <= snapshot->stack_size || snapshot->stack_size == SNAPSHOT_STACK_BYTES)) {
		if (wanted < snapshot->stack_size)
			snapshot->stack_size = (uint32_t)wanted & ~7u;
		return true;
	}
	snapshot->stack_start = start;
	snapshot->stack_size = (uint32_t)wanted & ~7u;
	return false;
}

/* Pages that were not needed for long make room for others. */
static void drop_idle_pages(struct snapshot *snapshot)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < snapshot->page_count; i++) {
		if (++snapshot->pages[i].idle < PAGE_IDLE_MAX)
			snapshot->pages[kept++] = snapshot->pages[i];
	}
	snapshot->page_count = kept;
}

bool snapshot_take(struct snapshot *snapshot)
{
	snapshot->current = &snapshot->copies[0];
	drop_idle_pages(snapshot);
	if (!copy_twice(snapshot)) {
		/* A page has gone, or a chunk: begin with the state alone. */
		snapshot->page_count = 0;
		snapshot->stack_size = 0;
		snapshot->stack_start = 0;
		if (!copy_twice(snapshot))
			return false;
	}
	if (plan_stack(snapshot))
		return true;
	if (copy_twice(snapshot))
		return true;
	snapshot->stack_size = 0;
	snapshot->stack_start = 0;
	snapshot->page_count = 0;
	return copy_twice(snapshot);
}

void snapshot_use(struct snapshot *snapshot, int copy)
{
	snapshot->current = &snapshot->copies[copy];
}

/* ---- comparing ---- */

/* Where a frame lies in a copy; NULL when it is in none. */
static const unsigned char *frame_in(const struct snapshot *snapshot, const struct snapshot_copy *copy,
				     py_addr place)
{
	uint32_t size = snapshot->remote->layout.frame_size;

	if (place >= snapshot->stack_start && place - snapshot->stack_start < snapshot->stack_size)
		return snapshot->stack_size - (place - snapshot->stack_start) < size
			       ? NULL
			       : copy->stack + (place - snapshot->stack_start);
	for (uint32_t i = 0; i < snapshot->pages_copied; i++) {
		py_addr start = snapshot->pages[i].start;

		if (place >= start && place - start <= WALK_PAGE_BYTES - size)
			return copy->pages[i] + (place - start);
	}
	return NULL;
}

static bool is_same_frame(const struct snapshot *snapshot, py_addr place)
{
	const struct py_layout *layout = &snapshot->remote->layout;
	const unsigned char *one = frame_in(snapshot, &snapshot->copies[0], place);
	const unsigned char *other = frame_in(snapshot, &snapshot->copies[1], place);

	return one != NULL && other != NULL &&
	       load_u64(one + layout->frame_code) == load_u64(other + layout->frame_code) &&
	       load_u64(one + layout->frame_previous) == load_u64(other + layout->frame_previous) &&
	       (layout->frame_owner == PY_ABSENT || one[layout->frame_owner] == other[layout->frame_owner]);
}

bool snapshot_stood_still(const struct snapshot *snapshot, const py_addr *places, uint32_t count)
{
	uint32_t at = snapshot->remote->layout.thread_frame - snapshot->state_start;

	if (load_u64(snapshot->copies[0].state + at) != load_u64(snapshot->copies[1].state + at))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		/* Far down a deep stack: callers of what stood still. */
		if (i > 0 && frame_in(snapshot, &snapshot->copies[0], places[i]) == NULL)
			return true;
		if (!is_same_frame(snapshot, places[i]))
			return false;
	}
	return true;
}

bool snapshot_may_call(const struct snapshot *snapshot, py_addr place)
{
	const struct py_layout *layout = &snapshot->remote->layout;
	const unsigned char *frame = frame_in(snapshot, snapshot->current, place);

	return layout->frame_stacktop == PY_ABSENT || frame == NULL ||
	       (int32_t)load_u32(frame + layout->frame_stacktop) >= 0;
}
