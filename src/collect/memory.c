/* memory.c - allocations, their ends and copies, from the rings to the heap. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/collector.h"

#define BLOCK_MAX (1ull << 46) /* no machine has more; a larger size is damage */

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

/* The code whose function the memory of frame `at` (innermost first) belongs
 * to; the rule is that of profile_book. */
static const struct code *function_code(const struct collector *collector, uint32_t at,
					uint32_t count)
{
	const struct code *items = collector->codes.items;
	const struct code *own = &items[collector->tree_frames[at].code];
	const struct code *code = own;
	while (code->is_comprehension && at + 1 < count) {
		const struct code *outer = &items[collector->tree_frames[++at].code];
		if (outer->filename != code->filename || outer->first_line > code->first_line)
			break;
		code = outer;
	}
	return code->is_comprehension ? own : code;
}

static bool find_place(struct collector *collector, struct process *process, uint32_t slot,
		       const struct record_frame *frames, uint32_t count, struct place *place)
{
	if (!stacks_translate(collector, process, frames, count))
		return false;
	*place = (struct place){MEMORY_STARTUP, SITE_NONE, SITE_NONE, .is_startup = true};
	if (count == 0 ? is_main_thread(process, slot) : stacks_are_startup(collector, count))
		return true;
	place->memory = tree_memory(&collector->tree, stacks_node(collector, count));
	place->is_startup = false;
	if (count == 0)
		return true;
	uint32_t at = stacks_line_frame(collector, count);
	struct tree_frame frame = collector->tree_frames[at];
	struct code *code = &collector->codes.items[frame.code];
	if (!code->in_scope)
		return true;
	const struct code *function = function_code(collector, at, count);
	struct thread *thread = threads_at(process, slot);
	place->is_return = thread != NULL && stacks_at_line(collector, thread, frame);
	place->line_site = heap_line_site(&collector->heap, code->filename,
					  codes_line(code, frame.offset));
	place->function_site = heap_function_site(&collector->heap, function->filename,
						  function->qualname, function->first_line);
	return true;
}

bool memory_on_alloc(struct collector *collector, struct process *process,
		     const struct record_alloc *record)
{
	struct place place;
	uint64_t need = sizeof(*record) + (uint64_t)record->count * sizeof(record->frames[0]);
	if (record->count > WALK_MAX_FRAMES || need > record->head.size || record->id == 0 ||
	    record->size > BLOCK_MAX || record->weight > BLOCK_MAX ||
	    !find_place(collector, process, record->thread, record->frames, record->count, &place))
		return false;
	struct heap_alloc alloc = {
		.process = process->index,
		.id = record->id,
		.size = record->size,
		.weight = record->weight,
		.is_python = (record->flags & ALLOC_PYTHON) != 0,
		.is_untracked = (record->flags & ALLOC_UNTRACKED) != 0,
		.is_startup = place.is_startup,
		.is_return = place.is_return,
		.node = place.memory,
		.line_site = place.line_site,
		.function_site = place.function_site,
		.time_s = seconds_since_start(collector, record->time_ns),
	};
	struct tree_memory *self = &collector->tree.memory.items[place.memory];
	self->alloc_bytes += record->weight;
	if (heap_alloc(&collector->heap, &alloc))
		self->live_bytes += record->weight;
	return true;
}

bool memory_on_free(struct collector *collector, struct process *process,
		    const struct record_free *record)
{
	uint32_t memory;
	uint64_t bytes;
	if ((record->flags & FREE_AT_END) != 0) {
		heap_end(&collector->heap, process->index, record->id,
			 seconds_since_start(collector, record->time_ns));
		return true;
	}
	/* An end without a beginning: the beginning was lost with a full ring. */
	if (!heap_free(&collector->heap, process->index, record->id,
		       seconds_since_start(collector, record->time_ns),
		       (record->flags & FREE_MOVED) != 0, &memory, &bytes))
		return true;
	struct tree_memory *self = &collector->tree.memory.items[memory];
	self->live_bytes -= bytes < self->live_bytes ? bytes : self->live_bytes;
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

static double resident_bytes(struct process *process)
{
	char path[40], text[128], *pages;
	if (process->statm_fd < 0) {
		snprintf(path, sizeof(path), "/proc/%d/statm", (int)process->pid);
		process->statm_fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	ssize_t got = process->statm_fd < 0 ? -1 : pread(process->statm_fd, text, sizeof(text) - 1, 0);
	if (process->index >= OPEN_PROCESSES_MAX)
		memory_close(process);
	if (got <= 0)
		return 0;
	text[got] = '\0';
	strtoull(text, &pages, 10); /* of the address space; what is resident comes next */
	return (double)strtoull(pages, NULL, 10) * (double)sysconf(_SC_PAGESIZE);
}

/* While there is more than ever before rounds come often, so that the peak is met. */
static void ask_resident(struct collector *collector, struct process *process)
{
	process->resident_bytes = resident_bytes(process);
	if (process->resident_bytes > process->peak_resident_bytes * (1 + GROWTH_PART))
		processes_note_astir(collector);
	if (process->resident_bytes > process->peak_resident_bytes)
		process->peak_resident_bytes = process->resident_bytes;
}

void memory_close(struct process *process)
{
	if (process->statm_fd >= 0)
		close(process->statm_fd);
	process->statm_fd = -1;
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
		resident += process->resident_bytes;
	}
	double now_s = seconds_since_start(collector, clock_monotonic_ns());
	journal_tick(collector, now_s, resident);
	heap_tick(&collector->heap, now_s, resident);
}
