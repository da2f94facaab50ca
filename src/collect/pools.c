/* pools.c - mappings that a library's own allocator gives memory out of.
 *
 * Who asked for it cannot be seen.  So what a pool has grown by between two looks
 * belongs to where the main thread is, as does the CPU time of threads that run no
 * Python; and what was taken last is given back first. */
#include "collect/pools.h"

#include "collect/collector.h"
#include "collect/memory.h"

#define PART_ID (1ull << 43) /* the agent's are below */

static void end_part(struct collector *collector, const struct process *process,
		     struct mapping *mapping, double time_s)
{
	uint32_t memory;
	uint64_t bytes;
	const struct pool_part *part = &mapping->parts.items[--mapping->parts.count];
	memory_resize(collector, process, part->id, 0, part->is_startup, time_s);
	heap_free(&collector->heap, process->index, part->id, time_s, false, &memory, &bytes);
}

/* What was taken last is given back first, as far as we know. */
static void shrink(struct collector *collector, const struct process *process,
		   struct mapping *mapping, uint64_t bytes, double time_s)
{
	while (bytes > 0 && mapping->parts.count > 0) {
		struct pool_part *part = &mapping->parts.items[mapping->parts.count - 1];
		if (part->bytes <= bytes) {
			bytes -= part->bytes;
			end_part(collector, process, mapping, time_s);
			continue;
		}
		part->bytes -= bytes;
		memory_resize(collector, process, part->id, part->bytes, part->is_startup, time_s);
		return;
	}
}

/* The part of this node, or NULL. */
static struct pool_part *part_of(struct collector *collector, struct process *process,
				 struct mapping *mapping, uint32_t node, double time_s)
{
	for (uint32_t i = mapping->parts.count; i-- > 0;) {
		if (mapping->parts.items[i].node == node)
			return &mapping->parts.items[i];
	}
	struct pool_part part = {.id = PART_ID + process->mappings.parts++, .node = node};
	if (!memory_begin_at(collector, process, node, part.id, time_s, &part.is_startup))
		return NULL;
	vec_push(&mapping->parts, part);
	return &mapping->parts.items[mapping->parts.count - 1];
}

static void grow_at(struct collector *collector, struct process *process,
		    struct mapping *mapping, uint64_t bytes, uint32_t node, double time_s)
{
	struct pool_part *part = part_of(collector, process, mapping, node, time_s);
	if (part == NULL)
		return;
	part->bytes += bytes;
	memory_resize(collector, process, part->id, part->bytes, part->is_startup, time_s);
}

/* Looks are rare: since the last one the main thread may have been at several lines, and gone
 * on from the one that took most. */
static void grow(struct collector *collector, struct process *process, struct mapping *mapping,
		 uint64_t bytes, const struct growth *growth, double time_s)
{
	double left = 0;
	for (uint32_t i = 0; i < growth->count; i++)
		left += growth->at[i].bytes;
	for (uint32_t i = 0; i < growth->count; i++) {
		uint64_t part = i + 1 == growth->count
					? bytes
					: (uint64_t)((double)bytes * (growth->at[i].bytes / left));
		if (part > 0)
			grow_at(collector, process, mapping, part, growth->at[i].node, time_s);
		bytes -= part;
		left -= growth->at[i].bytes;
	}
}

void pools_resize(struct collector *collector, struct process *process, struct mapping *mapping,
		  uint64_t bytes, const struct growth *growth, double time_s)
{
	uint64_t held = 0;
	for (uint32_t i = 0; i < mapping->parts.count; i++)
		held += mapping->parts.items[i].bytes;
	if (bytes > held)
		grow(collector, process, mapping, bytes - held, growth, time_s);
	else
		shrink(collector, process, mapping, held - bytes, time_s);
}
