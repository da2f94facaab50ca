/* ahead.c - see ahead.h. */
#include "python/ahead.h"

#include <string.h>

#include "python/bits.h"

#define PAGE_BYTES 4096u

static bool ahead_read(const struct mem_reader *reader, py_addr addr, void *dst, size_t size)
{
	const struct ahead *ahead = reader->context;

	for (uint32_t i = 0; i < ahead->count; i++) {
		uint64_t offset = addr - (py_addr)(uintptr_t)ahead->from[i].iov_base;

		if (offset <= ahead->from[i].iov_len && size <= ahead->from[i].iov_len - offset) {
			memcpy(dst, (const unsigned char *)ahead->to[i].iov_base + offset, size);
			return true;
		}
	}
	return ahead->target->read(ahead->target, addr, dst, size);
}

void ahead_init(struct ahead *ahead, const struct mem_reader *target)
{
	ahead->reader = *target;
	ahead->reader.read = ahead_read;
	ahead->reader.read_many = mem_reader_read_each;
	ahead->reader.view = NULL;
	ahead->reader.context = ahead;
	ahead->target = target;
	ahead->count = 0;
}

void ahead_want(struct ahead *ahead, py_addr addr, size_t size, void *to)
{
	size_t in_page = PAGE_BYTES - (addr & (PAGE_BYTES - 1));

	if (!is_pointer(addr) || size == 0 || ahead->count == AHEAD_PIECES)
		return;
	size = size < in_page ? size : in_page;
	ahead->from[ahead->count] = (struct iovec){ (void *)(uintptr_t)addr, size };
	ahead->to[ahead->count++] = (struct iovec){ to, size };
}

void ahead_load(struct ahead *ahead)
{
	ahead->count = (uint32_t)ahead->target->read_many(ahead->target, ahead->to, ahead->from,
							  ahead->count);
}
