/* stacks.c - stacks of code indexes, on their way from a record to the tree.
 *
 * A stack stands in collector->tree_frames, innermost first. */
#include "collect/stacks.h"

#include "collect/collector.h"
#include "collect/process.h"
#include "profile/book.h"

uint32_t stacks_line_frame(const struct collector *collector, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (collector->codes.items[collector->tree_frames[i].code].in_scope)
			return i;
	}
	return 0;
}

static struct book_place place_of(struct code *code)
{
	return (struct book_place){code->qualname, code->first_line, codes_last_line(code),
				   (code->flags & PY_CO_NESTED) != 0};
}

const struct code *stacks_function_code(const struct collector *collector, uint32_t at, uint32_t count)
{
	struct code *items = collector->codes.items;
	struct code *own = &items[collector->tree_frames[at].code], *code = own;
	if (!own->is_comprehension)
		return own;
	struct book_place comprehension = place_of(own), found;
	for (uint32_t i = at + 1; i < count; i++) {
		struct code *outer = &items[collector->tree_frames[i].code];
		if (outer->filename != own->filename || outer->is_comprehension)
			continue;
		struct book_place place = place_of(outer);
		if (profile_is_nearer_writer(&place, code == own ? NULL : &found, &comprehension)) {
			code = outer;
			found = place;
		}
	}
	return code;
}

uint32_t stacks_count_own(const struct collector *collector, uint32_t count)
{
	const struct code *items = collector->codes.items;
	const struct tree_frame *frames = collector->tree_frames;
	bool has_line = false;
	if (!collector->codes.has_launchers)
		return count;
	for (uint32_t i = 0; i + 1 < count; i++) {
		has_line |= items[frames[i].code].in_scope;
		if (has_line && items[frames[i].code].is_process &&
		    items[frames[i + 1].code].is_launcher)
			return i + 1;
	}
	return count;
}

uint32_t stacks_node(struct collector *collector, uint32_t count)
{
	count = stacks_count_own(collector, count);
	uint32_t line_frame = tree_has_room(&collector->tree, count) ? 0
								      : stacks_line_frame(collector, count);
	return tree_add(&collector->tree, collector->tree_frames, count, line_frame);
}

uint32_t stacks_of_node(struct collector *collector, uint32_t node)
{
	uint32_t count = 0;
	for (; node != TREE_ROOT && count < WALK_MAX_FRAMES; node = collector->tree.nodes[node].parent)
		collector->tree_frames[count++] = tree_frame(&collector->tree, node);
	return count;
}

bool stacks_at_line(struct collector *collector, struct thread *thread,
		       struct tree_frame frame)
{
	struct code *code = &collector->codes.items[frame.code];
	if (!code->in_scope)
		return false;
	uint32_t line = codes_line(code, frame.offset);
	bool is_other = thread->line != line || thread->line_file != code->filename;
	thread->line = line;
	thread->line_code = frame.code;
	thread->line_file = code->filename;
	return is_other;
}

bool stacks_are_startup(const struct collector *collector, uint32_t count)
{
	return collector->codes.items[collector->tree_frames[count - 1].code].is_bootstrap;
}

void stacks_settle_texts(struct collector *collector, uint32_t count)
{
	if (!collector->codes.has_texts)
		return;
	/* From outside in: a text that such a text runs is the library's too. */
	for (uint32_t i = count; i-- > 0;) {
		struct tree_frame *frames = collector->tree_frames;
		const struct code *items = collector->codes.items;
		uint32_t as_library = items[frames[i].code].as_library;
		if (as_library != 0 && i + 1 < count && !items[frames[i + 1].code].in_scope)
			frames[i].code = as_library;
	}
}

bool stacks_translate(struct collector *collector, struct process *process,
			 const struct record_frame *frames, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t id = frames[i].code;
		if (id >= process->ids.count || process->ids.items[id] == 0)
			return false;
		collector->tree_frames[i] = (struct tree_frame){process->ids.items[id],
								frames[i].offset};
	}
	stacks_settle_texts(collector, count);
	return true;
}

bool stacks_is_startup_node(const struct collector *collector, uint32_t node)
{
	const struct tree_node *nodes = collector->tree.nodes;
	if (node == TREE_ROOT)
		return false;
	while (nodes[node].parent != TREE_ROOT)
		node = nodes[node].parent;
	return collector->codes.items[tree_frame(&collector->tree, node).code].is_bootstrap;
}

/* Puts it on the thread's row of the timeline; ends after the start. */
static void note_on_row(struct collector *collector, struct thread *thread,
			enum timeline_kind kind, uint64_t end_ns, uint64_t ns)
{
	if (thread->row == TIMELINE_NO_ROW)
		thread->row = timeline_add_row(&collector->timeline);
	timeline_add_time(&collector->timeline, thread->row, kind, end_ns - collector->start_ns, ns);
}

void stacks_note_unasked(struct collector *collector, struct thread *thread, uint64_t end_ns,
			 uint64_t ns)
{
	if (ns != 0 && end_ns > collector->start_ns)
		note_on_row(collector, thread, TIMELINE_WAIT, end_ns, ns);
}

void stacks_note_helped(struct collector *collector, struct thread *thread, uint32_t node,
			uint64_t end_ns, uint64_t ns)
{
	if (end_ns <= collector->start_ns || stacks_is_startup_node(collector, node))
		return;
	if (thread->uses_gpu)
		gpu_idle_host(collector, node, end_ns - collector->start_ns, ns);
	note_on_row(collector, thread, TIMELINE_WAIT, end_ns, ns);
}

void stacks_note_time(struct collector *collector, struct thread *thread, uint32_t node,
		      enum timeline_kind kind, uint64_t end_ns, uint64_t ns)
{
	if (ns == 0 || end_ns <= collector->start_ns || stacks_is_startup_node(collector, node))
		return;
	uint64_t since_ns = end_ns - collector->start_ns;
	if (thread->uses_gpu && kind <= TIMELINE_WAIT)
		gpu_idle_host(collector, node, since_ns, ns);
	note_on_row(collector, thread, kind, end_ns, ns);
	bool is_counted = kind <= TIMELINE_SYSTEM || (kind == TIMELINE_WAIT && thread->counts_waiting);
	if (is_counted)
		timeline_add_stack(&collector->timeline, &collector->tree, node, thread->row, since_ns, ns);
	else if (kind == TIMELINE_WAIT)
		timeline_add_idle(&collector->timeline, &collector->tree, node, thread->row, ns);
}

static uint32_t code_of(struct collector *collector, struct process *process, py_addr address,
			uint32_t identity)
{
	bool is_new;
	uint64_t key = address * 31 ^ (uint64_t)identity << 17;
	uint64_t *index = map_put(&process->addresses, key, &is_new);
	if (!is_new)
		return (uint32_t)*index;
	struct code_info info;
	uint32_t code = 0;
	if (processes_read_code(collector, &process->walker, address, &info)) {
		code = processes_add_code(collector, process, &info);
		journal_code(collector, process, &info);
	}
	*map_put(&process->addresses, key, NULL) = code;
	return code;
}

bool stacks_from_walk(struct collector *collector, struct process *process, uint32_t count,
		      uint32_t *kept)
{
	const struct walk_frame *frames = collector->walk_frames;
	*kept = 0;
	code_identities(&process->walker, frames, count, collector->identities);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t identity = collector->identities[i];
		if (identity == CODE_HIDDEN)
			continue;
		uint32_t code = identity == CODE_TORN
					? 0
					: code_of(collector, process, frames[i].code, identity);
		if (code == 0)
			return false;
		collector->tree_frames[(*kept)++] = (struct tree_frame){code, frames[i].offset};
	}
	stacks_settle_texts(collector, *kept);
	return true;
}
