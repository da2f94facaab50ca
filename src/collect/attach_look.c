/* attach_look.c - one look at one thread, from its memory to the tree. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/attach_parts.h"
#include "collect/classify.h"
#include "python/bits.h"
#include "remote/names.h"

/* A code object's address can be another's when it is freed and its place used
 * again; so each is looked at anew from time to time. */
#define CODE_CHECK_NS 50000000u

/* Who has the GIL runs, as a rule; now and then the kernel is asked whether it
 * does not sit in a system call with it. */
#define GIL_TURNS 16u

#define LEARN_TURNS 8u       /* a stack that stays is noted every so many looks */
#define OWED_SHARE 64u       /* of the time not booked yet, what a look may take beyond its own */
#define FIRST_CALL_OFFSET 4u /* what is called has to be loaded first */
#define CALLS_CHECKED 8u     /* further out nothing changes so fast */

/* ---- code objects ---- */

static struct attach_code *find_code(struct attach_process *process, py_addr address)
{
	const uint64_t *index = map_get(&process->code_index, address);
	return index == NULL ? NULL : &process->codes.items[*index];
}

static struct attach_code *add_code(struct attach_process *process, py_addr address)
{
	bool is_new;
	uint64_t *index = map_put(&process->code_index, address, &is_new);
	if (is_new) {
		*index = process->codes.count;
		vec_push(&process->codes, ((struct attach_code){.address = address}));
	}
	return &process->codes.items[*index];
}

/* The interpreter rewrites its instructions as it learns (3.11): the newest
 * tell best who works. */
static void refresh_bytecode(struct attach *attach, struct attach_process *process,
			     const struct attach_code *known)
{
	const struct py_layout *layout = &process->remote.layout;
	struct code *code = &attach->collector->codes.items[known->code];
	if (layout->code_units != PY_ABSENT && code->bytecode_size > 0)
		process->remote.reader.read(&process->remote.reader, known->address + layout->code_code,
					    code->bytecode, code->bytecode_size);
}

static void learn_code(struct attach *attach, struct attach_process *process, py_addr address,
		       uint32_t identity, uint64_t now_ns)
{
	struct attach_code *known = add_code(process, address);
	struct code_info info;
	if (known->identity != identity) {
		known->identity = CODE_TORN;
		if (identity == CODE_HIDDEN) {
			known->identity = identity;
		} else if (identity != CODE_TORN &&
			   code_read(&process->remote.walker, address, attach->collector->scratch,
				     RECORD_MAX_BYTES, &info)) {
			known->code = processes_add_code(attach->collector, process->process, &info);
			known->identity = identity;
		}
	} else if (identity > CODE_HIDDEN) {
		refresh_bytecode(attach, process, known);
	}
	known->check_ns = now_ns + CODE_CHECK_NS;
}

/* Makes sure that the code objects of a stack are known, and newly so. */
static void check_codes(struct attach *attach, struct attach_process *process, uint32_t count,
			uint64_t now_ns)
{
	bool is_needed = false;
	for (uint32_t i = 0; i < count && !is_needed; i++) {
		const struct attach_code *known = find_code(process, attach->frames[i].code);
		is_needed = known == NULL || known->check_ns < now_ns || known->identity == CODE_TORN;
	}
	if (!is_needed)
		return;
	/* The frames are as they were a moment ago; the code objects are asked now. */
	code_identities(&process->remote.walker, attach->frames, count, attach->identities);
	for (uint32_t i = 0; i < count; i++) {
		const struct attach_code *known = find_code(process, attach->frames[i].code);
		if (known == NULL || known->check_ns < now_ns || known->identity == CODE_TORN)
			learn_code(attach, process, attach->frames[i].code, attach->identities[i], now_ns);
	}
}

/* ---- stacks ---- */

/* Of very deep stacks the middle is left out; returns what is left. */
static uint32_t elide_middle(struct attach *attach, uint32_t count)
{
	const uint32_t half = ATTACH_FRAMES_KEPT / 2;
	if (count <= ATTACH_FRAMES_KEPT)
		return count;
	memmove(attach->frames + half, attach->frames + count - half, half * sizeof(*attach->frames));
	attach->elided++;
	return ATTACH_FRAMES_KEPT;
}

/* Turns walked frames into the collector's; UINT32_MAX when one cannot be. */
static uint32_t translate(struct attach *attach, struct attach_process *process, uint32_t count,
			  uint64_t now_ns)
{
	struct collector *collector = attach->collector;
	uint32_t kept = 0;
	count = elide_middle(attach, count);
	check_codes(attach, process, count, now_ns);
	for (uint32_t i = 0; i < count; i++) {
		const struct attach_code *known = find_code(process, attach->frames[i].code);
		if (known == NULL || known->identity == CODE_TORN)
			return UINT32_MAX;
		if (known->identity == CODE_HIDDEN)
			continue;
		if (attach->frames[i].offset > collector->codes.items[known->code].bytecode_size)
			return UINT32_MAX;
		collector->tree_frames[kept++] =
			(struct tree_frame){known->code, attach->frames[i].offset};
	}
	return kept;
}

/* Walks one of the copies. */
static enum walk_result walk_copy(struct attach *attach, struct attach_process *process,
				  struct attach_thread *thread, int copy, uint32_t *count)
{
	struct walker walker = process->remote.walker;
	walker.reader = &thread->snapshot->reader;
	walker.room = ATTACH_FRAMES_MAX;
	walker.places = attach->places;
	snapshot_use(thread->snapshot, copy);
	return walk_thread(&walker, thread->remote.state, attach->collector->walk_scratch, attach->frames,
			   count);
}

/* Whether the frame may have called the one before it.  What a copy mixes is
 * mostly a frame that has not come to its call yet, below one that is left over
 * from another. */
static bool may_call(struct attach *attach, struct attach_process *process,
		     const struct attach_thread *thread, uint32_t at)
{
	const struct walk_frame *frame = &attach->frames[at];
	unsigned version = process->remote.layout.version;
	if (!snapshot_may_call(thread->snapshot, attach->places[at]))
		return false;
	const struct attach_code *known = find_code(process, frame->code);
	/* Before 3.13 the place is that of an inline cache, or the frames are
	 * objects, which are not left over. */
	if (version < 0x030d || known == NULL || known->identity <= CODE_HIDDEN)
		return true;
	const struct code *code = &attach->collector->codes.items[known->code];
	if (frame->offset < FIRST_CALL_OFFSET || frame->offset >= code->bytecode_size)
		return false;
	uint8_t opcode = code->bytecode[frame->offset];
	enum py_op_kind kind = py_op_kind(version, opcode);
	return (kind != PY_OP_TRIVIAL && kind != PY_OP_LOOKUP) || py_op_is_jump(version, opcode);
}

/* Whether the innermost frames can have called each other. */
static bool calls_make_sense(struct attach *attach, struct attach_process *process,
			     const struct attach_thread *thread, uint32_t count)
{
	for (uint32_t i = 1; i < count && i < CALLS_CHECKED; i++) {
		if (!attach->frames[i - 1].is_entry && !may_call(attach, process, thread, i))
			return false;
	}
	return true;
}

/* Notes a stack that stood still, unless it is the one that was noted last: then
 * it is known well enough. */
static void learn_stack(struct attach_process *process, struct attach_thread *thread,
			const struct walk_frame *frames, uint32_t count)
{
	uint64_t hash = count;
	for (uint32_t i = 0; i < count; i++)
		hash = (hash ^ frames[i].code ^ (i == 0 ? 0 : (uint64_t)frames[i].offset << 40)) *
		       0x9e3779b97f4a7c15ull;
	bool is_same = hash == thread->learnt;
	thread->learnt = hash;
	if (!is_same || thread->turns % LEARN_TURNS == 0)
		trust_learn(&process->trust, frames, count);
}

/* Looks at the stack in both copies; true when one of them can be believed. */
static bool read_once(struct attach *attach, struct attach_process *process, struct attach_thread *thread,
		      uint64_t now_ns, uint32_t *kept)
{
	uint32_t count;
	for (int copy = 0; copy < 2; copy++) {
		enum walk_result result = walk_copy(attach, process, thread, copy, &count);
		if (result == WALK_TORN)
			continue;
		if (result == WALK_NO_PYTHON) {
			*kept = 0;
			return true;
		}
		if (!calls_make_sense(attach, process, thread, count))
			continue;
		bool is_still = copy == 0 &&
				snapshot_stood_still(thread->snapshot, attach->places, count);
		if (is_still)
			learn_stack(process, thread, attach->frames, count);
		else if (!trust_knows(&process->trust, attach->frames, count))
			continue;
		attach->collector->cut_samples += result == WALK_CUT;
		*kept = translate(attach, process, count, now_ns);
		if (*kept != UINT32_MAX)
			return true;
	}
	return false;
}

/* The thread's stack in the collector's tree_frames.  One retry: more would
 * favour what stands still for long. */
static bool read_stack(struct attach *attach, struct attach_process *process, struct attach_thread *thread,
		       uint64_t now_ns, uint32_t *kept, bool *is_gone)
{
	for (int i = 0; i < 2; i++) {
		*is_gone = !snapshot_take(thread->snapshot);
		if (*is_gone)
			return false;
		if (read_once(attach, process, thread, now_ns, kept))
			return true;
	}
	return false;
}

/* ---- threads as frames ---- */

/* The code that stands for the thread, with its newest name. */
static void name_thread_frame(struct attach *attach, struct attach_process *process,
			      struct attach_thread *thread)
{
	char name[REMOTE_NAME_BYTES + 40];
	struct code_info info = {.filename = ATTACH_THREAD_FILE, .qualname = name,
				 .filename_size = sizeof(ATTACH_THREAD_FILE) - 1};
	if (thread->root_code == 0) {
		snprintf(name, sizeof(name), "thread %d", (int)thread->remote.tid);
		info.qualname_size = (uint32_t)strlen(name);
		thread->root_code = processes_add_code(attach->collector, process->process, &info);
	}
	thread->root_name = thread->thread->python_name;
	if (thread->root_name == NULL)
		return;
	snprintf(name, sizeof(name), "thread %d \"%s\"", (int)thread->remote.tid, thread->root_name);
	attach->collector->codes.items[thread->root_code].qualname =
		intern_text(attach->collector->strings, name);
}

/* Puts a frame for the thread outside of its outermost one. */
static uint32_t add_thread_frame(struct attach *attach, struct attach_process *process,
				 struct attach_thread *thread, uint32_t count)
{
	if (thread->root_code == 0 || thread->root_name != thread->thread->python_name)
		name_thread_frame(attach, process, thread);
	attach->collector->tree_frames[count] = (struct tree_frame){thread->root_code, 0};
	return count + 1;
}

/* ---- booking ---- */

/* User time of a thread that runs. */
static enum timeline_kind book_running(struct collector *collector, struct tree_weights *self,
				       uint32_t count, bool has_gil, uint64_t ns)
{
	if (count == 0) {
		self->native_ns += ns;
		return TIMELINE_NATIVE;
	}
	struct tree_frame leaf = collector->tree_frames[0];
	struct code *code = &collector->codes.items[leaf.code];
	struct code_op *op = codes_count(code, leaf.offset);
	if (!has_gil) {
		if (op != NULL)
			op->native++;
		self->native_ns += ns;
		return TIMELINE_NATIVE;
	}
	uint8_t opcode = leaf.offset < code->bytecode_size ? code->bytecode[leaf.offset] : 0;
	enum verdict verdict = classify_sample(code, leaf.offset, opcode);
	if (op != NULL)
		op->leaf++;
	for (uint32_t i = 1; i < count; i++) {
		struct tree_frame frame = collector->tree_frames[i];
		struct code_op *caller = codes_count(&collector->codes.items[frame.code], frame.offset);
		if (caller != NULL)
			caller->callee++;
	}
	if (verdict == VERDICT_PYTHON) {
		self->python_ns += ns;
		return TIMELINE_PYTHON;
	}
	if (verdict == VERDICT_NATIVE) {
		self->native_ns += ns;
		return TIMELINE_NATIVE;
	}
	self->open_ns += ns;
	return classify_is_native(code, leaf.offset) ? TIMELINE_NATIVE : TIMELINE_PYTHON;
}

static void book_waiting(struct collector *collector, struct attach_thread *thread,
			 struct tree_weights *self, uint32_t node, bool is_gil, uint64_t now_ns, uint64_t ns)
{
	if (thread->thread->is_main)
		self->wait_ns += ns;
	else
		self->idle_ns += ns;
	thread->thread->off_ns += ns;
	collector->wait_samples++;
	stacks_note_time(collector, thread->thread, node, TIMELINE_WAIT, now_ns, ns);
	if (!is_gil)
		return;
	self->gil_ns += ns;
	thread->thread->gil_ns += ns;
	stacks_note_time(collector, thread->thread, node, TIMELINE_GIL, now_ns, ns);
}

static void book(struct attach *attach, struct attach_process *process, struct attach_thread *thread,
		 enum remote_activity_kind kind, bool has_gil, uint32_t count, uint64_t now_ns)
{
	struct collector *collector = attach->collector;
	uint64_t ns = now_ns - thread->look_ns;
	uint32_t node = stacks_node(collector, count);
	if (count == 0)
		node = process->process->main_node;
	else if (thread->thread->is_main)
		process->process->main_node = node;
	if (kind == ACTIVITY_RUNNING && thread->skip > 0 && ns > 2 * attach->period_ns) {
		/* It was not looked at while it waited. */
		uint64_t waited_ns = ns - attach->period_ns;
		book_waiting(collector, thread, tree_weights(&collector->tree, thread->node), thread->node,
			     false, now_ns - attach->period_ns, waited_ns);
		ns = attach->period_ns;
	}
	struct tree_weights *self = count == 0 && thread->thread->is_main
					    ? &collector->startup
					    : tree_weights(&collector->tree, node);
	thread->look_ns = now_ns;
	thread->node = node;
	thread->thread->samples++;
	self->samples++;
	if (count > 0)
		stacks_at_line(collector, thread->thread,
			       collector->tree_frames[stacks_line_frame(collector, count)]);
	if (kind != ACTIVITY_RUNNING) {
		book_waiting(collector, thread, self, node, kind == ACTIVITY_GIL, now_ns, ns);
		return;
	}
	/* By the CPU time that it took: a thread that is ready and has no CPU stands
	 * at one place, and would be met there again and again.  The time that it
	 * stood goes to all that it does, in proportion. */
	uint64_t cpu_ns = thread->pending_cpu_ns < ns ? thread->pending_cpu_ns : ns;
	thread->pending_cpu_ns = 0;
	thread->owed_ns += ns;
	ns = (uint64_t)((double)cpu_ns / thread->cpu_part) + (cpu_ns > 0 ? thread->owed_ns / OWED_SHARE : 0);
	if (ns > thread->owed_ns)
		ns = thread->owed_ns;
	thread->owed_ns -= ns;
	enum timeline_kind used = book_running(collector, self, count, has_gil, ns);
	self->cpu_ns += cpu_ns;
	thread->thread->cpu_ns += cpu_ns;
	collector->cpu_samples++;
	collector->sampled_cpu_ns += cpu_ns;
	stacks_note_time(collector, thread->thread, node, used, now_ns, ns);
}

/* A thread that keeps waiting is looked at more and more rarely; what it waited
 * in between is booked to where it waits. */
static void plan_next(struct attach_thread *thread, bool is_waiting)
{
	thread->wait_rounds = is_waiting ? thread->wait_rounds + 1 : 0;
	thread->skip = thread->wait_rounds < 8 ? 0 : thread->wait_rounds < 64 ? 3 : 15;
	thread->skipped = 0;
}

/* What the kernel says; of very many threads the files are not kept open. */
static enum remote_activity_kind ask_kernel(struct attach_process *process, struct attach_thread *thread,
					    const struct remote_gil *gil)
{
	int fd = thread->thread->syscall_fd;
	if (fd >= 0)
		return remote_activity_kind(fd, gil);
	fd = remote_activity_open(&process->remote, thread->remote.tid);
	enum remote_activity_kind kind = remote_activity_kind(fd, gil);
	if (fd >= 0)
		close(fd);
	return kind;
}

bool attach_look(struct attach *attach, struct attach_process *process, struct attach_thread *thread,
		 uint64_t now_ns)
{
	struct remote_gil gil = process->gil;
	if (thread->remote.interpreter_index != 0 && process->remote.layout.interp_gil != PY_ABSENT)
		remote_gil_read(&process->remote, thread->remote.interpreter, &gil);
	bool has_gil = gil.start == 0 || gil.holder == thread->remote.state;
	enum remote_activity_kind kind = ACTIVITY_RUNNING;
	if (attach->options->has_gil_only && !has_gil) {
		thread->look_ns = now_ns;
		return true;
	}
	if (!has_gil || gil.start == 0 || thread->turns % GIL_TURNS == 0)
		kind = ask_kernel(process, thread, &gil);
	thread->turns++;
	attach->looks++;
	if (kind == ACTIVITY_RUNNING) {
		process->running++;
		thread->pending_cpu_ns += process->ran_ns;
	}

	uint32_t count;
	bool is_gone = kind == ACTIVITY_UNKNOWN;
	if (!is_gone && read_stack(attach, process, thread, now_ns, &count, &is_gone)) {
		if (attach->options->by_thread && count > 0)
			count = add_thread_frame(attach, process, thread, count);
		book(attach, process, thread, kind, has_gil, count, now_ns);
		plan_next(thread, kind != ACTIVITY_RUNNING);
	} else if (!is_gone) {
		attach->lost++;
		process->process->lost[LOST_TORN]++;
	}
	return !is_gone;
}
