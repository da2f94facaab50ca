/* snapshot.c - see snapshot.h. */
#include "remote/snapshot.h"

#include <errno.h>
#include <string.h>

#include "python/bits.h"

#define STACK_AHEAD_BYTES 1024u /* the stack may have grown since the last look */
#define PAGES_TWICE 3u          /* the first that a walk needs: those of the innermost frames */
#define PAGE_IDLE_MAX 16u       /* looks after which a page is left out */
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

/* What lies in the newest part of the frame stack: below fresh_from as it was
 * marked, above it as it was copied. */
static bool copy_stack(const struct snapshot *snapshot, const struct snapshot_copy *copy, py_addr addr,
		       void *dst, size_t wanted)
{
	uint32_t from = snapshot->fresh_from;
	uint64_t at = addr - snapshot->stack_start;

	if (addr < snapshot->stack_start || at > snapshot->stack_size || snapshot->stack_size - at < wanted)
		return false;
	size_t kept = at >= from ? 0 : from - at < wanted ? from - at : wanted;
	memcpy(dst, snapshot->marked + at, kept);
	memcpy((unsigned char *)dst + kept, copy->stack + at + kept, wanted - kept);
	return true;
}

/* The page is to be copied along the next time. */
static void touch_page(struct snapshot *snapshot, py_addr addr)
{
	py_addr start = addr & ~(py_addr)(WALK_PAGE_BYTES - 1);

	for (uint32_t i = 0; i < snapshot->touched_count; i++) {
		if (snapshot->touched[i] == start)
			return;
	}
	if (snapshot->touched_count < SNAPSHOT_PAGES)
		snapshot->touched[snapshot->touched_count++] = start;
}

/* A page in a copy; those that are copied once are the same in both. */
static const unsigned char *page_in(const struct snapshot *snapshot, const struct snapshot_copy *copy, uint32_t i)
{
	return i < snapshot->twice_count ? copy->pages[i] : snapshot->copies[0].pages[i];
}

/* Reads what lies in one piece of a copy; *page is the one it came from, if
 * any. */
static bool read_piece(const struct snapshot *snapshot, const struct snapshot_copy *copy, py_addr addr,
		       void *dst, size_t size, uint32_t *page)
{
	*page = SNAPSHOT_PAGES;
	if (copy_part(snapshot->thread + snapshot->state_start, snapshot->state_size, copy->state, addr, dst,
		      size) ||
	    copy_stack(snapshot, copy, addr, dst, size))
		return true;
	for (uint32_t i = 0; i < snapshot->page_count; i++) {
		*page = i;
		if (copy_part(snapshot->pages[i].start, WALK_PAGE_BYTES, page_in(snapshot, copy, i), addr, dst,
			      size))
			return true;
	}
	return false;
}

/* Bytes from addr to the end of its page. */
static size_t page_rest(py_addr addr)
{
	return WALK_PAGE_BYTES - (addr & (WALK_PAGE_BYTES - 1));
}

/* The same for what may lie across two pages. */
static bool read_copy(const struct snapshot *snapshot, const struct snapshot_copy *copy, py_addr addr,
		      void *dst, size_t size, uint32_t pages[2])
{
	size_t first = page_rest(addr);

	pages[1] = SNAPSHOT_PAGES;
	return read_piece(snapshot, copy, addr, dst, size, &pages[0]) ||
	       (size > first && read_piece(snapshot, copy, addr, dst, first, &pages[0]) &&
		read_piece(snapshot, copy, addr + first, (unsigned char *)dst + first, size - first,
			   &pages[1]));
}

static bool snapshot_read(const struct mem_reader *reader, py_addr addr, void *dst, size_t size)
{
	/* The reader is the snapshot's first member. */
	struct snapshot *snapshot = (struct snapshot *)(uintptr_t)reader;
	const struct mem_reader *process = &snapshot->remote->reader;
	uint32_t pages[2];

	if (read_copy(snapshot, snapshot->current, addr, dst, size, pages)) {
		for (int i = 0; i < 2; i++) {
			if (pages[i] < SNAPSHOT_PAGES)
				touch_page(snapshot, snapshot->pages[pages[i]].start);
		}
		return true;
	}
	if (!process->read(process, addr, dst, size))
		return false;
	if (size <= WALK_PAGE_BYTES) {
		touch_page(snapshot, addr);
		touch_page(snapshot, addr + size - 1);
	}
	return true;
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
	snapshot->reader.read_many = mem_reader_read_each;
	snapshot->current = &snapshot->copies[0];
	plan_state(snapshot);
}

static size_t plan_state_piece(const struct snapshot *snapshot, struct snapshot_copy *copy,
			       struct iovec *dst, struct iovec *src)
{
	*dst = (struct iovec){ copy->state, snapshot->state_size };
	*src = (struct iovec){ (void *)(uintptr_t)(snapshot->thread + snapshot->state_start),
			       snapshot->state_size };
	return 1;
}

/* One copy's pieces in order; returns how many.  The innermost frame's address is
 * copied as shortly before the frames as can be: between two pieces the thread
 * makes a call or two.  It is in the state, or where that points to (3.11, 3.12). */
static size_t plan_copy(const struct snapshot *snapshot, struct snapshot_copy *copy, uint32_t page_count,
			struct iovec *dst, struct iovec *src)
{
	bool is_state_last = snapshot->remote->layout.frame_kind == PY_FRAME_INTERPRETER;
	size_t count = is_state_last ? 0 : plan_state_piece(snapshot, copy, dst, src);

	for (uint32_t i = 0; i < page_count; i++) {
		dst[count] = (struct iovec){ copy->pages[i], WALK_PAGE_BYTES };
		src[count++] = (struct iovec){ (void *)(uintptr_t)snapshot->pages[i].start,
					       WALK_PAGE_BYTES };
	}
	if (is_state_last)
		count += plan_state_piece(snapshot, copy, dst + count, src + count);
	if (snapshot->stack_size > snapshot->fresh_from) {
		uint32_t size = snapshot->stack_size - snapshot->fresh_from;

		dst[count] = (struct iovec){ copy->stack + snapshot->fresh_from, size };
		src[count++] = (struct iovec){
			(void *)(uintptr_t)(snapshot->stack_start + snapshot->fresh_from), size
		};
	}
	return count;
}

#define PIECES_MAX (2 * (SNAPSHOT_PAGES + 2) + 1)

static bool copy_twice(struct snapshot *snapshot)
{
	struct iovec dst[PIECES_MAX], src[PIECES_MAX], again_dst[PIECES_MAX], again_src[PIECES_MAX];
	const struct mem_reader *process = &snapshot->remote->reader;
	size_t count = plan_copy(snapshot, &snapshot->copies[0], snapshot->page_count, dst, src);
	size_t again = plan_copy(snapshot, &snapshot->copies[1], snapshot->twice_count, again_dst, again_src);

	if (snapshot->watched_size > 0) {
		dst[count] = (struct iovec){ snapshot->watched, snapshot->watched_size };
		src[count++] = (struct iovec){ (void *)(uintptr_t)snapshot->watched_start,
					       snapshot->watched_size };
	}
	/* The second copy backwards: what shows a change comes last. */
	while (again-- > 0) {
		dst[count] = again_dst[again];
		src[count++] = again_src[again];
	}
	return process->read_many(process, dst, src, count) == count;
}

void snapshot_watch(struct snapshot *snapshot, py_addr start, uint32_t size)
{
	snapshot->watched_start = start;
	snapshot->watched_size = size <= SNAPSHOT_WATCHED_BYTES ? size : 0;
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
	uint64_t room = used;

	if (is_known)
		copy_stack(snapshot, &snapshot->copies[0], start + CHUNK_SIZE_AT, &room, sizeof(room));
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

/* The pages that the last look needed, then others that were needed not long
 * ago, as far as there is room. */
static void plan_pages(struct snapshot *snapshot)
{
	struct snapshot_page old[SNAPSHOT_PAGES];
	uint32_t old_count = snapshot->page_count;

	memcpy(old, snapshot->pages, sizeof(old));
	for (uint32_t i = 0; i < snapshot->touched_count; i++)
		snapshot->pages[i] = (struct snapshot_page){ snapshot->touched[i], 0 };
	snapshot->page_count = snapshot->touched_count;
	for (uint32_t i = 0; i < old_count && snapshot->page_count < SNAPSHOT_PAGES; i++) {
		bool is_touched = false;

		for (uint32_t t = 0; t < snapshot->touched_count && !is_touched; t++)
			is_touched = snapshot->touched[t] == old[i].start;
		if (!is_touched && ++old[i].idle < PAGE_IDLE_MAX)
			snapshot->pages[snapshot->page_count++] = old[i];
	}
	snapshot->touched_count = 0;
	snapshot->twice_count = snapshot->page_count < PAGES_TWICE ? snapshot->page_count : PAGES_TWICE;
}

/* ---- what was there before ---- */

void snapshot_mark(struct snapshot *snapshot, py_addr keep_end)
{
	uint32_t from = snapshot->fresh_from, size = snapshot->stack_size;

	snapshot->marked_start = snapshot->stack_start;
	snapshot->marked_size = size;
	if (size > from)
		memcpy(snapshot->marked + from, snapshot->copies[0].stack + from, size - from);
	snapshot->keep_size = keep_end > snapshot->stack_start && keep_end - snapshot->stack_start < size
				      ? (uint32_t)(keep_end - snapshot->stack_start)
				      : 0;
}

void snapshot_forget(struct snapshot *snapshot)
{
	snapshot->marked_start = 0;
	snapshot->keep_size = 0;
}

py_addr snapshot_steady_end(const struct snapshot *snapshot)
{
	uint32_t at = snapshot->fresh_from;
	uint32_t end = snapshot->stack_size < snapshot->marked_size ? snapshot->stack_size
								     : snapshot->marked_size;

	if (snapshot->stack_start == 0 || snapshot->stack_start != snapshot->marked_start)
		return 0;
	while (at + 64 <= end && memcmp(snapshot->marked + at, snapshot->current->stack + at, 64) == 0)
		at += 64;
	while (at + 8 <= end && load_u64(snapshot->marked + at) == load_u64(snapshot->current->stack + at))
		at += 8;
	return snapshot->stack_start + at;
}

/* Leaves out what need not be copied again. */
static void plan_kept(struct snapshot *snapshot)
{
	bool is_same = snapshot->marked_start == snapshot->stack_start;

	snapshot->fresh_from = is_same && snapshot->keep_size < snapshot->stack_size ? snapshot->keep_size : 0;
}

/* Whether what was kept is still what lies there, as far as the frames above it
 * tell; else it is copied after all. */
static bool fill_kept(struct snapshot *snapshot)
{
	if (snapshot->fresh_from == 0)
		return true;
	if (snapshot_steady_end(snapshot) <
	    snapshot->stack_start + snapshot->fresh_from + SNAPSHOT_STEADY_BYTES) {
		snapshot->fresh_from = 0;
		return copy_twice(snapshot);
	}
	return true;
}

bool snapshot_take(struct snapshot *snapshot)
{
	snapshot->current = &snapshot->copies[0];
	plan_pages(snapshot);
	plan_kept(snapshot);
	if (!copy_twice(snapshot)) {
		/* A page has gone, or a chunk: begin with the state alone. */
		snapshot->fresh_from = 0;
		snapshot->page_count = snapshot->twice_count = 0;
		snapshot->stack_size = 0;
		snapshot->stack_start = 0;
		if (!copy_twice(snapshot))
			return false;
	}
	if (plan_stack(snapshot))
		return fill_kept(snapshot);
	snapshot->fresh_from = 0;
	if (copy_twice(snapshot))
		return true;
	snapshot->stack_size = 0;
	snapshot->stack_start = 0;
	snapshot->page_count = snapshot->twice_count = 0;
	return copy_twice(snapshot);
}

void snapshot_use(struct snapshot *snapshot, int copy)
{
	snapshot->current = &snapshot->copies[copy];
}

/* ---- comparing ---- */

#define FRAME_BYTES_MAX 256u /* no layout's frame_size is larger */

/* The frame at this place in a copy, or NULL; `room` is for what must be put
 * together of several pieces. */
static const unsigned char *frame_in(const struct snapshot *snapshot, const struct snapshot_copy *copy,
				     py_addr place, unsigned char *room)
{
	uint32_t size = snapshot->remote->layout.frame_size, pages[2];

	if (size > FRAME_BYTES_MAX)
		return NULL;
	/* Most of them by far. */
	uint64_t at = place - snapshot->stack_start;
	if (at >= snapshot->fresh_from && at < snapshot->stack_size && snapshot->stack_size - at >= size)
		return copy->stack + at;
	return read_copy(snapshot, copy, place, room, size, pages) ? room : NULL;
}

static bool is_same_frame(const struct py_layout *layout, const unsigned char *one,
			  const unsigned char *other)
{
	return load_u64(one + layout->frame_code) == load_u64(other + layout->frame_code) &&
	       load_u64(one + layout->frame_previous) == load_u64(other + layout->frame_previous) &&
	       (layout->frame_owner == PY_ABSENT || one[layout->frame_owner] == other[layout->frame_owner]);
}

bool snapshot_stood_still(const struct snapshot *snapshot, const py_addr *places, uint32_t count)
{
	uint32_t at = snapshot->remote->layout.thread_frame - snapshot->state_start;
	unsigned char one_room[FRAME_BYTES_MAX], other_room[FRAME_BYTES_MAX];

	if (load_u64(snapshot->copies[0].state + at) != load_u64(snapshot->copies[1].state + at))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const unsigned char *one = frame_in(snapshot, &snapshot->copies[0], places[i], one_room);
		const unsigned char *other = frame_in(snapshot, &snapshot->copies[1], places[i], other_room);

		/* Far down a deep stack: callers of what stood still. */
		if (one == NULL || other == NULL)
			return i > 0;
		if (!is_same_frame(&snapshot->remote->layout, one, other))
			return false;
	}
	return true;
}

bool snapshot_may_call(const struct snapshot *snapshot, py_addr place)
{
	const struct py_layout *layout = &snapshot->remote->layout;
	unsigned char room[FRAME_BYTES_MAX];
	const unsigned char *frame;

	if (layout->frame_stacktop == PY_ABSENT)
		return true;
	frame = frame_in(snapshot, snapshot->current, place, room);
	return frame == NULL || (int32_t)load_u32(frame + layout->frame_stacktop) >= 0;
}
