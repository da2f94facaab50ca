/* fetch.c - copies of a target's memory, kept while one stack is walked. */
#include "python/fetch.h"

#include <stddef.h>

static const unsigned char *window_find(const struct fetch_window *window, py_addr addr,
					uint32_t size)
{
	if (addr < window->start || addr - window->start > window->size ||
	    window->size - (addr - window->start) < size)
		return NULL;
	return window->bytes + (addr - window->start);
}

static bool window_load(const struct fetch *fetch, struct fetch_window *window, py_addr start,
			uint32_t size)
{
	window->size = 0;
	if (!fetch->reader->read(fetch->reader, start, window->bytes, size))
		return false;
	window->start = start;
	window->size = size;
	return true;
}

void fetch_init(struct fetch *fetch, const struct mem_reader *reader, struct walk_scratch *scratch,
		bool has_stack)
{
	fetch->reader = reader;
	fetch->stack = (struct fetch_window){ .bytes = scratch->chunk };
	fetch->page_count = 0;
	fetch->next_page = 0;
	for (uint32_t i = 0; i < WALK_PAGES; i++)
		fetch->pages[fetch->page_count++] =
			(struct fetch_window){ .bytes = scratch->pages[i] };
	for (uint32_t at = 0; !has_stack && at < WALK_CHUNK_BYTES; at += WALK_PAGE_BYTES)
		fetch->pages[fetch->page_count++] =
			(struct fetch_window){ .bytes = scratch->chunk + at };
}

static const unsigned char *reader_view(const struct fetch *fetch, py_addr addr, uint32_t size,
					bool may_load)
{
	return fetch->reader->view == NULL ? NULL
					   : fetch->reader->view(fetch->reader, addr, size, may_load);
}

const unsigned char *fetch_bytes(struct fetch *fetch, py_addr addr, uint32_t size)
{
	const unsigned char *found = reader_view(fetch, addr, size, false);
	py_addr page = addr & ~(py_addr)(WALK_PAGE_BYTES - 1);

	if (found == NULL)
		found = window_find(&fetch->stack, addr, size);
	for (uint32_t i = 0; found == NULL && i < fetch->page_count; i++)
		found = window_find(&fetch->pages[i], addr, size);
	if (found == NULL)
		found = reader_view(fetch, addr, size, true);
	if (found != NULL)
		return found;
	if (addr + size <= page + WALK_PAGE_BYTES) {
		struct fetch_window *window = &fetch->pages[fetch->next_page];

		fetch->next_page = (fetch->next_page + 1) % fetch->page_count;
		if (window_load(fetch, window, page, WALK_PAGE_BYTES))
			return window_find(window, addr, size);
	}
	return fetch->reader->read(fetch->reader, addr, fetch->odd, size) ? fetch->odd : NULL;
}

void fetch_stack(struct fetch *fetch, py_addr start, uint32_t size)
{
	window_load(fetch, &fetch->stack, start, size);
}

bool fetch_has_stack(const struct fetch *fetch, py_addr addr, uint32_t size)
{
	return window_find(&fetch->stack, addr, size) != NULL || reader_view(fetch, addr, size, false) != NULL;
}
