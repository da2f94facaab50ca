/* attach_stack.c - the stack of one look: read, judged, and turned into the
 * collector's terms.
 *
 * Most stacks begin as the one before did, so what was found out about that one
 * is kept (struct attach_stack): only frames that changed are judged and looked
 * up.  From 3.13 on they are not even walked: where the frame stack's bytes are
 * those of the look before, so are the frames (read_short), and a look at a deep
 * stack costs what one at a flat one does.
 *
 * What is not believed at once (see trust.h) is investigated: the thread is
 * looked at some more times, to learn which calls happen here, and the stack is
 * judged again.  It is still the stack of the first look that is taken, and one
 * retry is made at the most: taking whatever can be read would favour what stands
 * still for long. */
#include <string.h>

#include "collect/attach_parts.h"
#include "python/opcodes.h"

/* A code object's address can be another's when it is freed and its place used
 * again; so each is looked at anew from time to time. */
#define CODE_CHECK_NS 50000000u

#define FIRST_CALL_OFFSET 4u /* what is called has to be loaded first */
#define CALLS_CHECKED 8u     /* further out nothing changes so fast */

/* All of the stack is copied and walked every so often, and so many looks. */
#define WHOLE_NS 5000000u
#define WHOLE_LOOKS 15u
#define KEPT_BELOW_BYTES 2048u /* of the frame stack are always copied anew */

#define MORE_LOOKS 64u  /* when a stack is investigated */
#define SURE_LOOKS 3u   /* that show the same as the first: no mix does */
#define FIRST_LOOKS 256u /* when a thread is met for the first time */
#define MORE_LOOKS_FREE 4096u /* beyond these, at most one for two looks that were asked for */

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

/* Where the instructions are: in the code object, or in bytes of its own (before 3.11). */
static py_addr find_bytecode(struct attach_process *process, py_addr address)
{
	const struct py_layout *layout = &process->remote.layout;
	py_addr bytes = 0;
	if (layout->code_units != PY_ABSENT)
		return address + layout->code_code;
	if (!process->remote.reader.read(&process->remote.reader, address + layout->code_code, &bytes, sizeof(bytes)) ||
	    bytes == 0)
		return 0;
	return bytes + layout->bytes_data;
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
			known->bytecode = find_bytecode(process, address);
			process->has_new_codes = true;
		}
	} else if (identity > CODE_HIDDEN) {
		refresh_bytecode(attach, process, known);
	}
	known->check_ns = now_ns + CODE_CHECK_NS;
}

/* Makes sure that the code objects of the innermost frames are known, and newly
 * so. */
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

/* ---- what was found out before ---- */

static bool is_same(const struct walk_frame *one, const struct walk_frame *other)
{
	return one->code == other->code && one->offset == other->offset && one->room == other->room &&
	       one->is_entry == other->is_entry;
}

/* How many of the outermost frames are those of the stack before. */
static uint32_t count_same(const struct attach_stack *last, const struct walk_frame *frames, uint32_t count)
{
	uint32_t same = 0;
	while (same < count && same < last->count && is_same(&last->rows[same].frame, &frames[count - 1 - same]))
		same++;
	return same;
}

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

/* The frame as the collector knows it, into the row; false when it cannot be
 * one. */
static bool fill_row(struct attach *attach, struct attach_process *process, struct attach_stack *stack,
		     struct attach_row *row, const struct walk_frame *frame)
{
	const struct attach_code *known = find_code(process, frame->code);
	if (known == NULL || known->identity == CODE_TORN)
		return false;
	row->frame = *frame;
	row->is_hidden = known->identity == CODE_HIDDEN;
	row->is_on_stack = frame->room > 0 && (row == stack->rows || row[-1].is_on_stack);
	row->shown = (struct tree_frame){known->code, frame->offset};
	if (known->check_ns < stack->check_ns)
		stack->check_ns = known->check_ns;
	return row->is_hidden || frame->offset <= attach->collector->codes.items[known->code].bytecode_size;
}

/* Fills the rows from `same` on.  False when a frame cannot be one. */
static bool fill_rows(struct attach *attach, struct attach_process *process, struct attach_stack *stack,
		      uint32_t count, uint32_t same, uint64_t now_ns)
{
	check_codes(attach, process, count - same, now_ns);
	for (stack->count = same; stack->count < count; stack->count++) {
		struct attach_row *row = &stack->rows[stack->count];
		if (!fill_row(attach, process, stack, row, &attach->frames[count - 1 - stack->count]))
			return false;
		row->place = attach->places[count - 1 - stack->count];
	}
	return true;
}

/* The rows as the collector's tree_frames; returns how many. */
static uint32_t show_rows(struct collector *collector, const struct attach_stack *stack)
{
	uint32_t kept = 0;
	for (uint32_t i = stack->count; i-- > 0;) {
		if (!stack->rows[i].is_hidden)
			collector->tree_frames[kept++] = stack->rows[i].shown;
	}
	stacks_settle_texts(collector, kept);
	return kept;
}

/* Turns walked frames into the collector's.  False when one cannot be a frame. */
static bool translate(struct attach *attach, struct attach_process *process, struct attach_thread *thread,
		      uint32_t count, uint64_t now_ns, uint32_t *kept)
{
	struct attach_stack *stack = thread->stack;
	count = elide_middle(attach, count);
	if (now_ns >= stack->check_ns) {
		stack->count = 0;
		stack->check_ns = UINT64_MAX;
	}
	uint32_t same = count_same(stack, attach->frames, count);
	if (!fill_rows(attach, process, stack, count, same, now_ns))
		return false;
	for (uint32_t i = 0; i < same; i++)
		stack->rows[i].place = attach->places[count - 1 - i];
	*kept = show_rows(attach->collector, stack);
	return true;
}

/* ---- judging ---- */

/* Walks one of the copies, as far as the frame that is known (see walker). */
static enum walk_result walk_up_to(struct attach *attach, struct attach_process *process,
				   struct attach_thread *thread, int copy, py_addr known, bool *is_met,
				   uint32_t *count)
{
	struct walker walker = process->remote.walker;
	walker.known = known;
	walker.is_met = is_met;
	walker.reader = &thread->snapshot->reader;
	walker.room = ATTACH_FRAMES_MAX;
	walker.places = attach->places;
	snapshot_use(thread->snapshot, copy);
	return walk_thread(&walker, thread->remote.state, attach->collector->walk_scratch, attach->frames,
			   count);
}

/* Walks the whole of it. */
static enum walk_result walk_copy(struct attach *attach, struct attach_process *process,
				  struct attach_thread *thread, int copy, uint32_t *count)
{
	return walk_up_to(attach, process, thread, copy, 0, NULL, count);
}

/* Whether the frame can be calling the one before it (see py_op_may_call). */
static bool may_call(struct attach *attach, struct attach_process *process, const struct attach_thread *thread,
		     uint32_t at)
{
	const struct walk_frame *frame = &attach->frames[at];
	unsigned version = process->remote.layout.version;
	if (!snapshot_may_call(thread->snapshot, attach->places[at]))
		return false;
	const struct attach_code *known = find_code(process, frame->code);
	if (known == NULL || known->identity <= CODE_HIDDEN)
		return true;
	const struct code *code = &attach->collector->codes.items[known->code];
	if (frame->offset < FIRST_CALL_OFFSET || frame->offset >= code->bytecode_size)
		return false;
	/* In 3.11 and 3.12 the place is that of an inline cache. */
	uint32_t start = version == 0x030b || version == 0x030c ? codes_op_start(code, frame->offset) : frame->offset;
	return py_op_may_call(version, code->bytecode[start]);
}

/* Takes off what had returned when the frames were copied: the innermost frame's
 * address was copied before them, and its caller may have gone on since, which is
 * seen by its instruction.  What is left is the stack of a moment later. */
static uint32_t drop_returned(struct attach *attach, struct attach_process *process,
			      const struct attach_thread *thread, uint32_t count)
{
	bool has_entries = process->remote.layout.frame_kind != PY_FRAME_OBJECT;
	uint32_t at = count < CALLS_CHECKED ? count : CALLS_CHECKED;
	while (at-- > 1) {
		/* C code calls from any instruction. */
		if (has_entries && attach->frames[at - 1].is_entry)
			continue;
		if (may_call(attach, process, thread, at))
			continue;
		count -= at;
		memmove(attach->frames, attach->frames + at, count * sizeof(*attach->frames));
		memmove(attach->places, attach->places + at, count * sizeof(*attach->places));
		return count;
	}
	return count;
}

/* How a copy of the stack is to be taken. */
enum judgement {
	STACK_TORN,     /* it is none */
	STACK_UNKNOWN,  /* it may be a mix of two */
	STACK_BELIEVED,
};

/* Walks one of the copies and judges what it finds; no frames: the thread runs
 * no Python code, and there is nothing to judge. */
static enum judgement judge_copy(struct attach *attach, struct attach_process *process,
				 struct attach_thread *thread, int copy, uint32_t *count, bool *is_cut)
{
	enum walk_result result = walk_copy(attach, process, thread, copy, count);
	*is_cut = result == WALK_CUT;
	if (result == WALK_NO_PYTHON) {
		*count = 0;
		return STACK_BELIEVED;
	}
	if (result == WALK_TORN)
		return STACK_TORN;
	bool is_still = copy == 0 && snapshot_stood_still(thread->snapshot, attach->places, *count);
	/* In 3.8 to 3.10 what stands still may be a signal's handler. */
	if (!is_still || process->remote.layout.frame_kind == PY_FRAME_CFRAME)
		*count = drop_returned(attach, process, thread, *count);
	uint32_t same = count_same(thread->stack, attach->frames, *count);
	bool is_believed = trust_believes(&process->trust, attach->frames, *count, *count - same, is_still);
	if (is_still)
		trust_learn(&process->trust, attach->frames, *count, *count - same);
	return is_believed ? STACK_BELIEVED : STACK_UNKNOWN;
}

/* ---- investigating ---- */

/* The same calls; the innermost function may have gone on. */
static bool is_same_stack(const struct walk_frame *one, const struct walk_frame *other, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (one[i].code != other[i].code || (i > 0 && one[i].offset != other[i].offset))
			return false;
	}
	return true;
}

/* One more look, to learn from; true when it shows these frames again. */
static bool look_again(struct attach *attach, struct attach_process *process, struct attach_thread *thread,
		       const struct walk_frame *frames, uint32_t count)
{
	uint32_t found;
	attach->more_looks++;
	if (!snapshot_take(thread->snapshot) || walk_copy(attach, process, thread, 0, &found) != WALK_OK ||
	    !snapshot_stood_still(thread->snapshot, attach->places, found))
		return false;
	trust_learn(&process->trust, attach->frames, found, CALLS_CHECKED);
	return found == count && is_same_stack(attach->frames, frames, count);
}

/* Whether a stack that was not believed can be after all; it is in frames again
 * afterwards. */
static bool investigate(struct attach *attach, struct attach_process *process, struct attach_thread *thread,
			uint32_t count)
{
	uint32_t changed = count - count_same(thread->stack, attach->frames, count), shown = 0;
	bool is_believed = false;
	if (count > ATTACH_FRAMES_KEPT || attach->more_looks > MORE_LOOKS_FREE + attach->looks / 2)
		return false;
	memcpy(attach->saved, attach->frames, count * sizeof(*attach->saved));
	for (uint32_t i = 0; i < MORE_LOOKS && !is_believed; i++) {
		shown = look_again(attach, process, thread, attach->saved, count) ? shown + 1 : 0;
		is_believed = shown == SURE_LOOKS ||
			      trust_believes(&process->trust, attach->saved, count, changed, false);
	}
	memcpy(attach->frames, attach->saved, count * sizeof(*attach->saved));
	return is_believed;
}

void attach_meet(struct attach *attach, struct attach_process *process, struct attach_thread *thread)
{
	for (uint32_t i = 0; i < FIRST_LOOKS; i++)
		look_again(attach, process, thread, NULL, 0);
}

/* ---- what lies where it lay before ---- */

/* Marks the stack, which was read from the first copy. */
static void mark_stack(const struct attach_process *process, struct attach_thread *thread, bool is_first_copy)
{
	struct attach_stack *stack = thread->stack;
	py_addr keep_end = 0;
	stack->is_marked = is_first_copy && stack->count > 0 && stack->count < ATTACH_FRAMES_KEPT &&
			   process->remote.layout.frame_kind == PY_FRAME_INTERPRETER;
	if (!stack->is_marked)
		return;
	const struct attach_row *leaf = &stack->rows[stack->count - 1];
	for (uint32_t i = stack->count - 1; i-- > 0 && keep_end == 0 && leaf->is_on_stack;) {
		if (leaf->place - stack->rows[i].place > KEPT_BELOW_BYTES)
			keep_end = stack->rows[i].place;
	}
	snapshot_mark(thread->snapshot, keep_end);
}

/* The innermost caller that lies, with all its callers, where it lay before and
 * has not changed; UINT32_MAX: there is none. */
static uint32_t find_steady_row(const struct attach_thread *thread)
{
	const struct attach_stack *stack = thread->stack;
	py_addr start = thread->snapshot->stack_start, end = snapshot_steady_end(thread->snapshot);
	for (uint32_t i = stack->count - 1; i-- > 0;) {
		const struct attach_row *row = &stack->rows[i];
		if (row[1].place <= end && row->place > start && row->place < row[1].place && row->is_on_stack)
			return i;
	}
	return UINT32_MAX;
}

/* Reads only what is new, if it stood still; else all has to be read. */
static bool read_short(struct attach *attach, struct attach_process *process, struct attach_thread *thread,
		       uint64_t now_ns, uint32_t *kept)
{
	struct attach_stack *stack = thread->stack;
	uint32_t count, steady;
	bool is_met = false;
	if (!stack->is_marked || now_ns >= stack->check_ns ||
	    (steady = find_steady_row(thread)) == UINT32_MAX)
		return false;
	if (walk_up_to(attach, process, thread, 0, stack->rows[steady].place, &is_met, &count) != WALK_OK ||
	    !is_met || count + steady + 1 >= ATTACH_FRAMES_KEPT)
		return false;
	/* Two callers more, for what is judged by three frames. */
	uint32_t known = count;
	for (uint32_t i = steady + 1; i-- > 0 && known < count + 2; known++) {
		attach->frames[known] = stack->rows[i].frame;
		attach->places[known] = stack->rows[i].place;
	}
	if (!snapshot_stood_still(thread->snapshot, attach->places, known) ||
	    !trust_believes(&process->trust, attach->frames, known, count, true))
		return false;
	trust_learn(&process->trust, attach->frames, known, count);
	if (!fill_rows(attach, process, stack, count + steady + 1, steady + 1, now_ns)) {
		stack->is_marked = false;
		return false;
	}
	*kept = show_rows(attach->collector, stack);
	mark_stack(process, thread, true);
	return true;
}

/* ---- reading ---- */

/* Judges what the snapshot has, and takes it if it can be. */
static bool read_once(struct attach *attach, struct attach_process *process, struct attach_thread *thread,
		      bool is_again, uint64_t now_ns, uint32_t *kept)
{
	enum judgement judgement = STACK_TORN;
	uint32_t count = 0;
	bool is_cut = false, is_first_copy = false;
	if (read_short(attach, process, thread, now_ns, kept))
		return true;
	for (int copy = 0; copy < 2 && judgement == STACK_TORN; copy++) {
		judgement = judge_copy(attach, process, thread, copy, &count, &is_cut);
		is_first_copy = copy == 0;
	}
	if (judgement == STACK_UNKNOWN && !is_again) {
		is_first_copy = false;
		judgement = investigate(attach, process, thread, count) ? STACK_BELIEVED : STACK_UNKNOWN;
	}
	*kept = 0;
	if (judgement != STACK_BELIEVED)
		return false;
	if (count == 0)
		return true;
	bool is_whole = translate(attach, process, thread, count, now_ns, kept);
	mark_stack(process, thread, is_whole && is_first_copy);
	attach->collector->cut_samples += is_whole && is_cut;
	return is_whole;
}

bool attach_take(struct attach *attach, struct attach_thread *thread, uint64_t now_ns)
{
	struct attach_stack *stack = thread->stack;
	if (now_ns >= stack->whole_ns) {
		stack->is_marked = false;
		stack->whole_ns = now_ns + WHOLE_NS + WHOLE_LOOKS * attach->period_ns;
		snapshot_forget(thread->snapshot);
	}
	return snapshot_take(thread->snapshot);
}

bool attach_read_stack(struct attach *attach, struct attach_process *process, struct attach_thread *thread,
		       uint64_t now_ns, uint32_t *kept, bool *is_gone)
{
	*is_gone = false;
	if (read_once(attach, process, thread, false, now_ns, kept))
		return true;
	*is_gone = !snapshot_take(thread->snapshot);
	return !*is_gone && read_once(attach, process, thread, true, now_ns, kept);
}
