/* instructions.c - see instructions.h. */
#include "python/instructions.h"

/* No process had so many threads. */
#define COPIES_MAX (1u << 20)

/* The table is how many there are, and then their places; the first is the code object's own. */
static bool find_in_table(const struct mem_reader *reader, py_addr table, uint32_t copy, py_addr *start)
{
	uint64_t count = 0;
	py_addr place = 0;
	const struct iovec to[] = { { &count, sizeof(count) }, { &place, sizeof(place) } };
	const struct iovec from[] = {
		{ (void *)(uintptr_t)table, sizeof(count) },
		{ (void *)(uintptr_t)(table + 8 + 8ull * copy), sizeof(place) },
	};

	if (reader->read_many(reader, to, from, 2) != 2 || copy >= count || !is_pointer(place))
		return false;
	*start = place;
	return true;
}

bool instructions_find(const struct mem_reader *reader, const struct py_layout *layout, py_addr code,
		       uint32_t copy, py_addr *start)
{
	py_addr table = 0;

	if (copy == 0) {
		*start = code + layout->code_code;
		return true;
	}
	return copy < COPIES_MAX &&
	       reader->read(reader, code + layout->code_copies, &table, sizeof(table)) &&
	       is_pointer(table) && find_in_table(reader, table, copy, start);
}
