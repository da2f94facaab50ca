/* snapshot.c - see snapshot.h. */
#include "remote/snapshot.h"

#include <errno.h>
#include <string.h>

#include "python/bits.h"
#include "remote/snapshot_parts.h"

#define STACK_AHEAD_BYTES 1024u /* the stack may have grown since the last look */
#define PAGES_TWICE 3u          /* where frames lie on a stack: the first beside it that a walk needs */
#define PAGE_IDLE_MAX 16u       /* looks after which a page is left out */
#define CHUNK_SIZE_AT 8u        /* in the head of a chunk: how many bytes it has */

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
	snapshot->state_size = snapshot->state_wanted = end - start;
}

void snapshot_init(struct snapshot *snapshot, const struct remote *remote, py_addr thread)
{
	memset(snapshot, 0, offsetof(struct snapshot, copies));
	snapshot->remote = remote;
	snapshot->thread = thread;
	snapshot->reader = remote->reader;
	snapshot->reader.read = snapshot_read;
	snapshot->reader.read_many = mem_reader_read_each;
	snapshot->reader.view = snapshot_view;
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
		const struct snapshot_page *page = &snapshot->pages[i];
		size_t size = page->to - page->from;

		dst[count] = (struct iovec){ copy->pages[i] + page->from, size };
		src[count++] = (struct iovec){ (void *)(uintptr_t)(page->start + page->from), size };
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
		snapshot_copy_stack(snapshot, &snapshot->copies[0], start + CHUNK_SIZE_AT, &room, sizeof(room));
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

/* What the last look needed, then what others of its kind needed not long ago, as far as
 * there is room. */
static void learn_plan(const struct snapshot *snapshot, struct snapshot_plan *plan)
{
	struct snapshot_plan old = *plan;

	memcpy(plan->pages, snapshot->touched, sizeof(plan->pages));
	plan->count = snapshot->touched_count;
	for (uint32_t i = 0; i < old.count; i++) {
		struct snapshot_page *page = NULL;

		for (uint32_t t = 0; t < snapshot->touched_count && page == NULL; t++)
			page = plan->pages[t].start == old.pages[i].start ? &plan->pages[t] : NULL;
		if (page != NULL) {
			snapshot_widen(page, old.pages[i].from, old.pages[i].to);
		} else if (plan->count < SNAPSHOT_PAGES && ++old.pages[i].idle < PAGE_IDLE_MAX) {
			plan->pages[plan->count++] = old.pages[i];
		}
	}
}

static void plan_pages(struct snapshot *snapshot)
{
	bool are_frames = snapshot->remote->layout.frame_kind == PY_FRAME_OBJECT;

	learn_plan(snapshot, &snapshot->plans[snapshot->is_short]);
	snapshot->is_short = snapshot->is_next_short;
	const struct snapshot_plan *plan = &snapshot->plans[snapshot->is_short];
	memcpy(snapshot->pages, plan->pages, sizeof(plan->pages));
	snapshot->page_count = snapshot->twice_count = plan->count;
	if (!are_frames && snapshot->twice_count > PAGES_TWICE)
		snapshot->twice_count = PAGES_TWICE;
	snapshot->state_size = snapshot->state_wanted;
	snapshot->touched_count = snapshot->loaded_count = 0;
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

void snapshot_shorten(struct snapshot *snapshot, bool is_short)
{
	snapshot->is_next_short = is_short && snapshot->remote->layout.frame_kind == PY_FRAME_OBJECT;
}

void snapshot_forget(struct snapshot *snapshot)
{
	snapshot->is_next_short = false;
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
	uint32_t size = snapshot->remote->layout.frame_size;

	if (size > FRAME_BYTES_MAX)
		return NULL;
	/* Most of them by far. */
	uint64_t at = place - snapshot->stack_start;
	if (at >= snapshot->fresh_from && at < snapshot->stack_size && snapshot->stack_size - at >= size)
		return copy->stack + at;
	return snapshot_read_copy(snapshot, copy, place, room, size) ? room : NULL;
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
