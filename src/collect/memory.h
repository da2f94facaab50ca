/* memory.h - allocations, their ends and copies are booked to stacks; the footprint.
 *
 * What a record says is checked here and its stack made a node; heap.h follows the block, the tree
 * has what its stacks allocated and hold.  Both are kept in step: what ends or changes its size does so
 * in both. */
#ifndef HEATLINE_COLLECT_MEMORY_H
#define HEATLINE_COLLECT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct collector;
struct process;
struct record_alloc;
struct record_copy;
struct record_exit;
struct record_free;
struct record_mapping;

/* Each returns false when the record makes no sense. */
bool memory_on_alloc(struct collector *collector, struct process *process,
		     const struct record_alloc *record);
bool memory_on_free(struct collector *collector, struct process *process,
		    const struct record_free *record);
bool memory_on_copy(struct collector *collector, struct process *process,
		    const struct record_copy *record);

/* What was resident between two looks, too. */
void memory_on_exit(struct collector *collector, struct process *process,
		    const struct record_exit *record);
bool memory_on_mapping(struct collector *collector, struct process *process,
		       const struct record_mapping *record);

/* An allocation is of another size now. */
void memory_resize(struct collector *collector, const struct process *process, uint64_t id,
		   uint64_t bytes, bool is_startup, double time_s);

/* One of 0 bytes, of the process's main thread at this node; false: it cannot be followed. */
bool memory_begin_at(struct collector *collector, const struct process *process, uint32_t node,
		     uint64_t id, double time_s, bool *is_startup);

/* The footprint at this moment. */
void memory_round(struct collector *collector);

/* The process has ended: nothing of it is kept. */
void memory_close(struct process *process);

#endif
