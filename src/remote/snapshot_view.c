/* snapshot_view.c - reading from the copies as if they were the process. */
#include <string.h>

#include "remote/snapshot_parts.h"

void snapshot_widen(struct snapshot_page *page, uint16_t from, uint16_t to)
{
	page->from = from < page->from ? from : page->from;
	page->to = to > page->to ? to : page->to;
}

static bool copy_part(py_addr start, uint32_t size, const unsigned char *bytes, py_addr addr, void *dst,
		      size_t wanted)
{
	if (addr < start || addr - start > size || size - (addr - start) < wanted)
		return false;
	memcpy(dst, bytes + (addr - start), wanted);
	return true;
}

bool snapshot_copy_stack(const struct snapshot *snapshot, const struct snapshot_copy *copy, py_addr addr,
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

/* These bytes of a page are to be copied along the next time. */
static void touch(struct snapshot *snapshot, py_addr start, uint16_t from, uint16_t to)
{
	for (uint32_t i = 0; i < snapshot->touched_count; i++) {
		struct snapshot_page *page = &snapshot->touched[i];

		if (page->start != start)
			continue;
		snapshot_widen(page, from, to);
		return;
	}
	if (snapshot->touched_count < SNAPSHOT_PAGES)
		snapshot->touched[snapshot->touched_count++] =
			(struct snapshot_page){ .start = start, .from = from, .to = to };
}

/* The same for what may lie across pages; of the thread state a larger part is copied. */
static void touch_bytes(struct snapshot *snapshot, py_addr addr, size_t size)
{
	uint64_t at = addr - (snapshot->thread + snapshot->state_start);

	if (at + size <= SNAPSHOT_STATE_BYTES) {
		if (at + size > snapshot->state_wanted)
			snapshot->state_wanted = (uint32_t)(at + size);
		return;
	}
	while (size > 0) {
		uint32_t from = addr & (WALK_PAGE_BYTES - 1);
		size_t part = size < WALK_PAGE_BYTES - from ? size : WALK_PAGE_BYTES - from;

		touch(snapshot, addr - from, (uint16_t)from, (uint16_t)(from + part));
		addr += part;
		size -= part;
	}
}

/* A page in a copy; those that are copied once are the same in both. */
static const unsigned char *page_in(const struct snapshot *snapshot, const struct snapshot_copy *copy, uint32_t i)
{
	return i < snapshot->twice_count ? copy->pages[i] : snapshot->copies[0].pages[i];
}

/* Where these bytes lie in one of the pages of a copy, or NULL. */
static const unsigned char *find_in_pages(const struct snapshot *snapshot, const struct snapshot_copy *copy,
					  py_addr addr, size_t size)
{
	for (uint32_t i = 0; i < snapshot->page_count; i++) {
		const struct snapshot_page *page = &snapshot->pages[i];
		uint64_t at = addr - page->start;

		if (addr >= page->start && at >= page->from && at + size <= page->to)
			return page_in(snapshot, copy, i) + at;
	}
	return NULL;
}

/* Reads what lies in one piece of a copy. */
static bool read_piece(const struct snapshot *snapshot, const struct snapshot_copy *copy, py_addr addr,
		       void *dst, size_t size)
{
	if (copy_part(snapshot->thread + snapshot->state_start, snapshot->state_size, copy->state, addr, dst,
		      size) ||
	    snapshot_copy_stack(snapshot, copy, addr, dst, size))
		return true;
	const unsigned char *found = find_in_pages(snapshot, copy, addr, size);

	if (found != NULL)
		memcpy(dst, found, size);
	return found != NULL;
}

bool snapshot_read_copy(const struct snapshot *snapshot, const struct snapshot_copy *copy, py_addr addr,
		      void *dst, size_t size)
{
	size_t first = WALK_PAGE_BYTES - (addr & (WALK_PAGE_BYTES - 1));

	return read_piece(snapshot, copy, addr, dst, size) ||
	       (size > first && read_piece(snapshot, copy, addr, dst, first) &&
		read_piece(snapshot, copy, addr + first, (unsigned char *)dst + first, size - first));
}

static bool is_beside(const struct snapshot *snapshot, py_addr addr)
{
	return addr - (snapshot->thread + snapshot->state_start) >= snapshot->state_size &&
	       addr - snapshot->stack_start >= snapshot->stack_size;
}

/* The reader is the snapshot's first member. */
static struct snapshot *snapshot_of(const struct mem_reader *reader)
{
	return (struct snapshot *)(uintptr_t)reader;
}

bool snapshot_read(const struct mem_reader *reader, py_addr addr, void *dst, size_t size)
{
	struct snapshot *snapshot = snapshot_of(reader);
	const struct mem_reader *process = &snapshot->remote->reader;

	if (!snapshot_read_copy(snapshot, snapshot->current, addr, dst, size) && !process->read(process, addr, dst, size))
		return false;
	if (size < WALK_PAGE_BYTES && is_beside(snapshot, addr))
		touch_bytes(snapshot, addr, size);
	return true;
}

/* Reads a page that the copies lack, for this look; NULL when that is not possible. */
static const unsigned char *load_page(struct snapshot *snapshot, py_addr start)
{
	const struct mem_reader *process = &snapshot->remote->reader;
	uint32_t i = 0;

	while (i < snapshot->loaded_count && snapshot->loaded_start[i] != start)
		i++;
	if (i < snapshot->loaded_count)
		return snapshot->loaded[i];
	if (i == SNAPSHOT_LOADED || !process->read(process, start, snapshot->loaded[i], WALK_PAGE_BYTES))
		return NULL;
	snapshot->loaded_start[snapshot->loaded_count++] = start;
	return snapshot->loaded[i];
}

/* Bytes of the frame stack where they lie, unless they are in two places. */
static const unsigned char *view_stack(const struct snapshot *snapshot, py_addr addr, size_t size)
{
	uint64_t at = addr - snapshot->stack_start;

	if (at > snapshot->stack_size || snapshot->stack_size - at < size)
		return NULL;
	if (at >= snapshot->fresh_from)
		return snapshot->current->stack + at;
	return at + size <= snapshot->fresh_from ? snapshot->marked + at : NULL;
}

/* Bytes of the thread state where they lie. */
static const unsigned char *view_state(const struct snapshot *snapshot, py_addr addr, size_t size)
{
	uint64_t at = addr - (snapshot->thread + snapshot->state_start);

	return at < snapshot->state_size && snapshot->state_size - at >= size ? snapshot->current->state + at
									      : NULL;
}

const unsigned char *snapshot_view(const struct mem_reader *reader, py_addr addr, size_t size, bool may_load)
{
	struct snapshot *snapshot = snapshot_of(reader);
	py_addr from = addr & (WALK_PAGE_BYTES - 1);
	const unsigned char *found = view_stack(snapshot, addr, size);

	if (found == NULL)
		found = view_state(snapshot, addr, size);
	if (found != NULL || !is_beside(snapshot, addr) || from + size > WALK_PAGE_BYTES)
		return found;
	found = find_in_pages(snapshot, snapshot->current, addr, size);
	if (found == NULL && may_load) {
		found = load_page(snapshot, addr - from);
		found = found == NULL ? NULL : found + from;
	}
	if (found != NULL)
		touch_bytes(snapshot, addr, size);
	return found;
}
