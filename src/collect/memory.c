/* memory.c - allocations, their ends and copies, from the rings to the heap. */
#include "collect/memory.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/procfs.h"
#include "collect/collector.h"
#include "collect/pools.h"
#include "collect/process.h"
#include "collect/stacks.h"
#include "collect/threads.h"

#define BLOCK_MAX (1ull << 46) /* no machine has more; a larger size is damage */
#define READY_LATELY_NS 250000000u /* what the kernel has told of a thread is not older */
#define READY_KNOWN_NS 1000000u    /* nor is it asked again so soon */

static double seconds_since_start(const struct collector *collector, uint64_t time_ns)
{
	return time_ns > collector->start_ns ? (double)(time_ns - collector->start_ns) * 1e-9 : 0;
}

/* The interpreter's own start, among the memory of the tree's nodes. */
#define MEMORY_STARTUP 0u

/* Where a stack's memory is booked. */
struct place {
	uint32_t memory; /* in the tree's */
	uint32_t line_site, function_site;
	bool is_startup;
	bool is_return; /* the thread has been at another line meanwhile */
};

static bool is_main_thread(const struct process *process, uint32_t slot)
{
	const struct thread *thread = threads_at(process, slot);
	return thread != NULL && thread->is_main;
}

/* Of the stack in tree_frames, which is not empty; the thread may be NULL. */
static void find_lines(struct collector *collector, struct thread *thread, uint32_t count,
		       struct place *place)
{
	uint32_t at = stacks_line_frame(collector, count);
	struct tree_frame frame = collector->tree_frames[at];
	struct code *code = &collector->codes.items[frame.code];
	if (!code->in_scope)
		return;
	const struct code *function = stacks_function_code(collector, at, count);
	place->is_return = thread != NULL && stacks_at_line(collector, thread, frame);
	place->line_site = heap_line_site(&collector->heap, code->filename,
					  codes_line(code, frame.offset));
	place->function_site = heap_function_site(&collector->heap, function->filename,
						  function->qualname, function->first_line);
}

static const struct place startup_place = {MEMORY_STARTUP, SITE_NONE, SITE_NONE, true, false};

static bool find_place(struct collector *collector, struct process *process, uint32_t slot,
		       const struct record_frame *frames, uint32_t count, struct place *place)
{
	if (!stacks_translate(collector, process, frames, count))
		return false;
	*place = startup_place;
	if (count == 0 ? is_main_thread(process, slot) : stacks_are_startup(collector, count))
		return true;
	place->memory = tree_memory(&collector->tree, stacks_node(collector, count));
	place->is_startup = false;
	if (count > 0)
		find_lines(collector, threads_at(process, slot), count, place);
	return true;
}

static void find_place_of_node(struct collector *collector, const struct process *process,
			       uint32_t node, struct place *place)
{
	uint32_t count = stacks_of_node(collector, node);
	*place = startup_place;
	if (count == 0 || stacks_are_startup(collector, count))
		return;
	place->memory = tree_memory(&collector->tree, node);
	place->is_startup = false;
	find_lines(collector, process->threads.count > 0 ? process->threads.items[0] : NULL, count,
		   place);
}

static void end_bytes(struct tree_memory *self, uint64_t bytes)
{
	self->live_bytes -= bytes < self->live_bytes ? bytes : self->live_bytes;
}

bool memory_begin_at(struct collector *collector, const struct process *process, uint32_t node,
		     uint64_t id, double time_s, bool *is_startup)
{
	struct place place;
	find_place_of_node(collector, process, node, &place);
	struct heap_alloc alloc = {
		.process = process->index,
		.id = id,
		.is_startup = place.is_startup,
		.is_return = place.is_return,
		.node = place.memory,
		.line_site = place.line_site,
		.function_site = place.function_site,
		.ready_s = -1,
		.time_s = time_s,
	};
	*is_startup = place.is_startup;
	return heap_alloc(&collector->heap, &alloc);
}

/* The sample of a block that realloc has made another of, as far as that is left, goes on as a part
 * of the other's. */
static uint64_t take_over(struct collector *collector, const struct process *process,
			  const struct record_alloc *record)
{
	uint32_t memory;
	uint64_t bytes;
	if (record->grows == 0 ||
	    !heap_free(&collector->heap, process->index, record->grows,
		       seconds_since_start(collector, record->time_ns), true, &memory, &bytes))
		return 0;
	end_bytes(&collector->tree.memory.items[memory], bytes);
	return (uint64_t)((double)bytes * record->part / PART_ALL);
}

/* What the kernel had told of it lately: what it has written since then is being read now. */
static double ready_before(const struct thread *thread, const struct record_alloc *record)
{
	if (thread == NULL || thread->look_ns + READY_LATELY_NS < record->time_ns)
		return -1;
	return (double)thread->look_delay_ns * 1e-9;
}

/* How long the thread has stood ready in all; thousands of blocks may end at once. */
static bool ask_ready(struct thread *thread, uint64_t *delay_ns)
{
	struct procfs_schedule told;
	uint64_t now_ns = clock_monotonic_ns();
	if (now_ns >= thread->asked_ns + READY_KNOWN_NS) {
		if (!procfs_read_schedule(thread->schedstat_fd, &told))
			return false;
		thread->asked_ns = now_ns;
		thread->asked_delay_ns = told.ready_ns;
	}
	*delay_ns = thread->asked_delay_ns;
	return true;
}

/* On a busy machine what lives for a moment of the program's lasts by the clock.  It is no older for
 * the time in which its thread had no CPU. */
static void leave_out_ready(const struct collector *collector, const struct process *process,
			    uint64_t id, double time_s)
{
	struct live *entry = heap_lasting(&collector->heap, process->index, id, time_s);
	struct thread *thread = entry != NULL ? threads_at(process, entry->thread) : NULL;
	uint64_t delay_ns;
	/* Its slot may have become another's. */
	if (thread == NULL || entry->ready_s < 0 ||
	    seconds_since_start(collector, thread->start_ns) > (double)entry->born_s ||
	    !ask_ready(thread, &delay_ns))
		return;
	entry->born_s += fmaxf((float)((double)delay_ns * 1e-9) - entry->ready_s, 0);
}

bool memory_on_alloc(struct collector *collector, struct process *process,
		     const struct record_alloc *record)
{
	struct place place;
	uint64_t need = sizeof(*record) + (uint64_t)record->count * sizeof(record->frames[0]);
	/* A mapping has nothing until it is touched. */
	bool is_mapped = (record->flags & ALLOC_MAPPED) != 0;
	uint64_t size = is_mapped ? 0 : record->size, weight = is_mapped ? 0 : record->weight;
	uint64_t live = is_mapped ? 0 : record->live;
	if (live > weight || record->part > PART_ALL || record->count > WALK_MAX_FRAMES ||
	    need > record->head.size || record->id == 0 ||
	    size > BLOCK_MAX || record->weight > BLOCK_MAX ||
	    !find_place(collector, process, record->thread, record->frames, record->count, &place))
		return false;
	const struct thread *thread = threads_at(process, record->thread);
	struct heap_alloc alloc = {
		.process = process->index,
		.id = record->id,
		.size = size,
		.weight = weight,
		.replaced = weight - live,
		.carried = take_over(collector, process, record),
		.is_python = (record->flags & ALLOC_PYTHON) != 0,
		.is_untracked = (record->flags & ALLOC_UNTRACKED) != 0,
		.is_startup = place.is_startup,
		.is_return = place.is_return,
		.node = place.memory,
		.line_site = place.line_site,
		.function_site = place.function_site,
		.thread = record->thread,
		.asked = thread != NULL ? thread->asked : 0,
		.begun_s = thread != NULL ? seconds_since_start(collector, thread->start_ns) : 0,
		.ready_s = ready_before(thread, record),
		.time_s = seconds_since_start(collector, record->time_ns),
	};
	struct tree_memory *self = &collector->tree.memory.items[place.memory];
	self->alloc_bytes += weight;
	if (!heap_alloc(&collector->heap, &alloc))
		return true;
	self->live_bytes += live + alloc.carried;
	if (is_mapped)
		mappings_begin(&process->mappings, (struct mapping){
			.id = record->id, .address = record->size, .size = record->weight,
			.is_startup = place.is_startup,
			.is_pool = (record->flags & ALLOC_POOL) != 0});
	return true;
}

void memory_resize(struct collector *collector, const struct process *process, uint64_t id,
		   uint64_t bytes, bool is_startup, double time_s)
{
	uint32_t memory;
	double growth;
	if (!heap_resize(&collector->heap, process->index, id, bytes, is_startup, time_s, &memory,
			 &growth))
		return;
	struct tree_memory *self = &collector->tree.memory.items[memory];
	if (growth > 0)
		self->alloc_bytes += (uint64_t)growth;
	self->live_bytes += (uint64_t)(int64_t)growth;
}

/* Where the process has grown, until now or until the last look. */
static struct growth growth_of(const struct process *process, bool until_look)
{
	struct growth growth = until_look ? process->mappings.seen : process->mappings.grown;
	if (growth.count == 0)
		growth_add(&growth, process->main_node, 1);
	return growth;
}

static void resize_mapping(struct collector *collector, struct process *process,
			   struct mapping *mapping, uint64_t bytes, const struct growth *growth,
			   double time_s)
{
	/* An allocator gives pages back when the program's objects go, as the interpreter ends. */
	if (process->is_ending && bytes < mapping->bytes)
		return;
	mapping->bytes = bytes;
	if (mapping->is_pool)
		pools_resize(collector, process, mapping, bytes, growth, time_s);
	else
		memory_resize(collector, process, mapping->id, bytes, mapping->is_startup, time_s);
}

bool memory_on_mapping(struct collector *collector, struct process *process,
		       const struct record_mapping *record)
{
	if (record->size > BLOCK_MAX)
		return false;
	if ((record->flags & MAPPING_AT_END) != 0)
		process->is_ending = true;
	struct mapping *mapping = mappings_change(&process->mappings, record);
	if (mapping == NULL)
		return true;
	struct growth growth = growth_of(process, mapping->is_seen);
	mapping->is_seen = false;
	if (record->resident == MAPPING_NOT_LOOKED_AT)
		return true;
	uint64_t bytes = record->resident < mapping->size ? record->resident : mapping->size;
	resize_mapping(collector, process, mapping, bytes, &growth,
		       seconds_since_start(collector, record->time_ns));
	return true;
}

static void end_mapping(struct collector *collector, struct process *process, uint64_t id,
			double time_s)
{
	struct mapping *mapping = mappings_find(&process->mappings, id);
	if (mapping == NULL)
		return;
	struct growth none = {0};
	pools_resize(collector, process, mapping, 0, &none, time_s);
	mappings_end(&process->mappings, id);
}

static bool on_shrink(struct collector *collector, const struct process *process,
		      const struct record_free *record)
{
	uint32_t memory;
	uint64_t bytes;
	if (record->part > PART_ALL)
		return false;
	if (heap_shrink(&collector->heap, process->index, record->id, (double)record->part / PART_ALL,
			seconds_since_start(collector, record->time_ns), &memory, &bytes))
		end_bytes(&collector->tree.memory.items[memory], bytes);
	return true;
}

bool memory_on_free(struct collector *collector, struct process *process,
		    const struct record_free *record)
{
	uint32_t memory;
	uint64_t bytes;
	if ((record->flags & FREE_SHRUNK) != 0)
		return on_shrink(collector, process, record);
	if ((record->flags & FREE_AT_END) != 0) {
		process->is_ending = true;
		heap_end(&collector->heap, process->index, record->id,
			 seconds_since_start(collector, record->time_ns));
		mappings_end(&process->mappings, record->id); /* kept until then: no more looks at it */
		return true;
	}
	double time_s = seconds_since_start(collector, record->time_ns);
	bool is_moved = (record->flags & FREE_MOVED) != 0;
	if (!is_moved)
		leave_out_ready(collector, process, record->id, time_s);
	/* An end without a beginning: the beginning was lost with a full ring. */
	if (!heap_free(&collector->heap, process->index, record->id, time_s, is_moved, &memory,
		       &bytes))
		return true;
	end_mapping(collector, process, record->id, time_s);
	end_bytes(&collector->tree.memory.items[memory], bytes);
	return true;
}

bool memory_on_copy(struct collector *collector, struct process *process,
		    const struct record_copy *record)
{
	struct place place;
	uint64_t need = sizeof(*record) + (uint64_t)record->count * sizeof(record->frames[0]);
	if (record->count > WALK_MAX_FRAMES || need > record->head.size ||
	    record->weight > BLOCK_MAX ||
	    !find_place(collector, process, record->thread, record->frames, record->count, &place))
		return false;
	if (!place.is_startup)
		heap_copy(&collector->heap, place.line_site, place.function_site, record->weight);
	collector->tree.memory.items[place.memory].copy_bytes += record->weight;
	return true;
}

/* With files of theirs kept open: to open one takes four times as long as to read it. */
#define OPEN_PROCESSES_MAX 64u

#define GROWTH_PART 0.02 /* so much more resident memory is worth a closer look */

static void close_statm(struct process *process)
{
	if (process->statm_fd >= 0)
		close(process->statm_fd);
	process->statm_fd = -1;
}

static double resident_bytes(struct process *process)
{
	char path[40], text[128], *pages;
	if (process->statm_fd < 0) {
		snprintf(path, sizeof(path), "/proc/%d/statm", (int)process->pid);
		process->statm_fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	ssize_t got = process->statm_fd < 0 ? -1 : pread(process->statm_fd, text, sizeof(text) - 1, 0);
	if (process->index >= OPEN_PROCESSES_MAX)
		close_statm(process);
	if (got <= 0)
		return 0;
	text[got] = '\0';
	strtoull(text, &pages, 10); /* of the address space; what is resident comes next */
	return (double)strtoull(pages, NULL, 10) * (double)sysconf(_SC_PAGESIZE);
}

void memory_on_exit(struct collector *collector, struct process *process,
		    const struct record_exit *record)
{
	double bytes = (double)record->peak_resident_bytes;
	if (!collector->options->has_memory || record->peak_resident_bytes > BLOCK_MAX)
		return;
	if (bytes > process->peak_resident_bytes)
		process->peak_resident_bytes = bytes;
	heap_note_resident(&collector->heap, bytes);
}

/* While there is more than ever before rounds come often, so that the peak is met. */
static void ask_resident(struct collector *collector, struct process *process)
{
	double before = process->resident_bytes;
	process->resident_bytes = resident_bytes(process);
	if (process->resident_bytes > before)
		growth_add(&process->mappings.grown, process->main_node,
			   process->resident_bytes - before);
	if (process->resident_bytes > process->peak_resident_bytes * (1 + GROWTH_PART))
		processes_note_astir(collector);
	if (process->resident_bytes > process->peak_resident_bytes)
		process->peak_resident_bytes = process->resident_bytes;
}

/* What the last look has seen: since then all has been taken in that the process told. */
static void take_looks(struct collector *collector, struct process *process)
{
	for (uint32_t i = 0; i < process->mappings.list.count; i++) {
		const struct mapping *mapping = &process->mappings.list.items[i];
		struct record_mapping record = {
			.head = {.size = sizeof(record), .type = RECORD_MAPPING},
			.time_ns = mapping->seen_ns,
			.was_at = mapping->address,
			.address = mapping->address,
			.size = mapping->size,
			.resident = mapping->seen_bytes,
		};
		if (!mapping->is_seen)
			continue;
		journal_seen(collector, process, &record.head);
		memory_on_mapping(collector, process, &record);
	}
}

static void look_at_mappings(struct collector *collector, struct process *process)
{
	take_looks(collector, process);
	if (mappings_are_due(&process->mappings, process->resident_bytes, clock_monotonic_ns()))
		mappings_look(&process->mappings, process->pid, process->resident_bytes,
			      process->main_node);
}

void memory_close(struct process *process)
{
	mappings_fini(&process->mappings);
	close_statm(process);
}

void memory_round(struct collector *collector)
{
	if (!collector->options->has_memory)
		return;
	double resident = 0;
	for (uint32_t i = 0; i < collector->processes.count; i++) {
		struct process *process = collector->processes.items[i];
		if (process->ring == NULL || process->end_ns != 0)
			continue;
		if (process->has_moved)
			ask_resident(collector, process);
		process->has_moved = false;
		look_at_mappings(collector, process);
		resident += process->resident_bytes;
	}
	double now_s = seconds_since_start(collector, clock_monotonic_ns());
	journal_tick(collector, now_s, resident);
	heap_tick(&collector->heap, now_s, resident);
}
