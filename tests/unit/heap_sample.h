/* heap_sample.h - sampled allocations of the lines of one function, for the tests of the heap. */
#ifndef HEATLINE_TESTS_HEAP_SAMPLE_H
#define HEATLINE_TESTS_HEAP_SAMPLE_H

#include "base/units.h"
#include "collect/heap.h"

static const char file[] = "prog.py";
static const char function_name[] = "f";

/* So many MB at a line that the thread has come back to, which was met so often waiting to be
 * asked; odd lines are Python's. */
static inline uint64_t give_asked(struct heap *heap, uint32_t line, double mb, double time_s,
				  uint32_t asked)
{
	static uint64_t next_id = 1;
	struct heap_alloc alloc = {
		.id = next_id++,
		.size = 1024,
		.weight = (uint64_t)(mb * MB),
		.is_python = line % 2 == 1,
		.line_site = heap_line_site(heap, file, line),
		.function_site = heap_function_site(heap, file, function_name, 1),
		.time_s = time_s,
		.is_return = true,
		.asked = asked,
	};
	heap_alloc(heap, &alloc);
	return alloc.id;
}

static inline uint64_t give(struct heap *heap, uint32_t line, double mb, double time_s)
{
	return give_asked(heap, line, mb, time_s, 0);
}

/* False: it is not known. */
static inline bool take(struct heap *heap, uint64_t id, double time_s)
{
	uint32_t node;
	uint64_t bytes;
	return heap_free(heap, 0, id, time_s, false, &node, &bytes);
}

static inline const struct site *line_site(struct heap *heap, uint32_t line)
{
	return &heap->sites.items[heap_line_site(heap, file, line)];
}

#endif
