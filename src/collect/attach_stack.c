/* attach_stack.c - the stack of one look: read, judged, and turned into the
 * collector's terms.
 *
 * Most stacks begin as the one before did, so what was found out about that one
 * is kept (struct attach_stack): only frames that changed are judged and looked
 * up, and as a rule only the innermost are walked (read_short), so that a look at a deep
 * stack costs what one at a flat one does.  From 3.11 on frames are those of the
 * look before where the frame stack's bytes are; before, where some of their
 * callees are the same frames at the same instructions.
 *
 * What is not believed at once (see trust.h) is investigated: the thread is
 * looked at some more times, to learn which calls happen here, and the stack is
 * judged again.  It is still the stack of the first look that is taken, and one
 * retry is made at the most: taking whatever can be read would favour what stands
 * still for long. */
#include <string.h>

#include "collect/attach_parts.h"
#include "collect/stacks.h"
#include "python/opcodes.h"

#define FIRST_CALL_OFFSET 4u /* what is called has to be loaded first */
#define CALLS_CHECKED 8u     /* further out nothing changes so fast */

/* All of the stack is copied and walked when the last time is so long ago: a caller far out may
 * have been left and entered again meanwhile, and all inside of it look as before.  (After
 * 5 ms, and 15 looks, two sides that took turns every 10 us were mixed up in 0.8 % of 1000 looks
 * a second.) */
#define WHOLE_NS 50000u
#define WHOLE_FRAMES 32u     /* deeper ones take long: */
#define WHOLE_FRAME_NS 3000u /* so much more for each further frame */
#define KEPT_BELOW_BYTES 2048u /* of the frame stack are always copied anew */
#define KEPT_BELOW_FRAMES 6u   /* before 3.11: so many frames are always read anew, */
#define STEADY_FRAMES 3u       /* the outermost so many of which have to be as they were */

#define NO_ROW UINT32_MAX

#define MORE_LOOKS 64u  /* when a stack is investigated */
#define SURE_LOOKS 3u   /* that show the same as the first: no mix does */
#define FIRST_LOOKS 256u /* when a thread is met for the first time */
#define MORE_LOOKS_FREE 4096u /* beyond these, at most one for two looks that were asked for */

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
	const struct attach_code *known = attach_find_code(process, frame->code);
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
	attach_check_codes(attach, process, count - same, now_ns);
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
	for (uint32_t i = 0; i < same; i++) {
		stack->rows[i].place = attach->places[count - 1 - i];
		stack->rows[i].frame.state = attach->frames[count - 1 - i].state;
	}
	*kept = show_rows(attach->collector, stack);
	return true;
}

/* ---- judging ---- */

static bool are_objects(const struct attach_process *process)
{
	return process->remote.layout.frame_kind == PY_FRAME_OBJECT;
}

/* Walks one of the copies, as far as the row that is known (see walker). */
static enum walk_result walk_up_to(struct attach *attach, struct attach_process *process,
				   struct attach_thread *thread, int copy, uint32_t known, bool *is_met,
				   uint32_t *count)
{
	struct walker walker = process->remote.walker;
	const struct attach_row *rows = thread->stack->rows;
	if (known != NO_ROW) {
		walker.known = rows[known].place;
		walker.is_met = is_met;
		while (known > 0 && !rows[known].frame.is_entry)
			known--;
		walker.known_caller = known > 0 ? rows[known - 1].place : 0;
	}
	walker.reader = &thread->snapshot->reader;
	walker.room = ATTACH_FRAMES_MAX;
	walker.places = attach->places;
	snapshot_use(thread->snapshot, copy);
	return walk_thread(&walker, thread->remote.state, attach->collector->walk_scratch, attach->frames,
			   count);
}

/* The innermost caller that lies, with all its callers, where it lay before and
 * has not changed; before 3.11 one for which that is to be seen.  NO_ROW: there is none. */
static uint32_t find_steady_row(const struct attach_process *process, const struct attach_thread *thread)
{
	const struct attach_stack *stack = thread->stack;
	if (are_objects(process))
		return stack->count > KEPT_BELOW_FRAMES ? stack->count - 1 - KEPT_BELOW_FRAMES : NO_ROW;
	py_addr start = thread->snapshot->stack_start, end = snapshot_steady_end(thread->snapshot);
	for (uint32_t i = stack->count - 1; i-- > 0;) {
		const struct attach_row *row = &stack->rows[i];
		if (row[1].place <= end && row->place > start && row->place < row[1].place && row->is_on_stack)
			return i;
	}
	return NO_ROW;
}

/* Whether what was found inside of a steady row tells that it is so. */
static bool are_callees_steady(const struct attach *attach, const struct attach_process *process,
			       const struct attach_stack *stack, uint32_t steady, uint32_t count)
{
	if (!are_objects(process))
		return true;
	for (uint32_t i = 1; i <= STEADY_FRAMES; i++) {
		const struct attach_row *row = &stack->rows[steady + i];
		if (i > count || row->place != attach->places[count - i] ||
		    !is_same(&row->frame, &attach->frames[count - i]))
			return false;
	}
	return true;
}

/* Appends the rows from `from` outwards, `room` of them at most. */
static uint32_t append_rows(struct attach *attach, const struct attach_stack *stack, uint32_t from, uint32_t count,
			    uint32_t room)
{
	for (uint32_t i = from + 1; i-- > 0 && room-- > 0; count++) {
		attach->frames[count] = stack->rows[i].frame;
		attach->places[count] = stack->rows[i].place;
	}
	return count;
}

/* Walks the whole of it; what was not copied is that of the look before. */
static enum walk_result walk_copy(struct attach *attach, struct attach_process *process,
				  struct attach_thread *thread, int copy, uint32_t *count)
{
	bool is_met = false;
	if (!thread->snapshot->is_short)
		return walk_up_to(attach, process, thread, copy, NO_ROW, NULL, count);
	uint32_t steady = find_steady_row(process, thread);
	enum walk_result result = steady == NO_ROW ? WALK_TORN
						   : walk_up_to(attach, process, thread, copy, steady, &is_met,
								count);
	if (result == WALK_NO_PYTHON)
		return result;
	if (result != WALK_OK || !is_met || *count + steady + 1 >= ATTACH_FRAMES_KEPT ||
	    !are_callees_steady(attach, process, thread->stack, steady, *count))
		return WALK_TORN;
	*count = append_rows(attach, thread->stack, steady, *count, UINT32_MAX);
	return WALK_OK;
}

/* Whether the frame can be calling the one before it (see py_op_may_call).  A signal's handler
 * is called from any instruction: one that stood still may be just that, before 3.11. */
static bool may_call(struct attach *attach, struct attach_process *process, bool is_still, uint32_t at)
{
	const struct walk_frame *frame = &attach->frames[at];
	unsigned version = process->remote.layout.version;
	if (frame->state != WALK_FRAME_CALLS)
		return false;
	if (is_still && are_objects(process))
		return true;
	const struct attach_code *known = attach_find_code(process, frame->code);
	if (known == NULL || known->identity <= CODE_HIDDEN)
		return true;
	struct code *code = &attach->collector->codes.items[known->code];
	if (frame->offset < FIRST_CALL_OFFSET || frame->offset >= code->bytecode_size)
		return false;
	return py_op_may_call(version, code->bytecode[codes_call_start(code, frame->offset)]);
}

/* How many of the innermost frames had returned when they were copied: the innermost
 * one's address was copied before, and its caller may have gone on since, which is seen
 * by its instruction. */
static uint32_t count_returned(struct attach *attach, struct attach_process *process, bool is_still, uint32_t count)
{
	bool has_entries = !are_objects(process);
	uint32_t at = count < CALLS_CHECKED ? count : CALLS_CHECKED;
	while (at-- > 1) {
		/* C code calls from any instruction. */
		if (has_entries && attach->frames[at - 1].is_entry)
			continue;
		if (!may_call(attach, process, is_still, at))
			return at;
	}
	return 0;
}

/* Takes them off.  What is left is the stack of a moment later. */
static uint32_t drop_returned(struct attach *attach, struct attach_process *process, bool is_still, uint32_t count)
{
	uint32_t at = count_returned(attach, process, is_still, count);
	count -= at;
	if (at > 0) {
		memmove(attach->frames, attach->frames + at, count * sizeof(*attach->frames));
		memmove(attach->places, attach->places + at, count * sizeof(*attach->places));
	}
	return count;
}

/* Whether none of the frames had ended, and all but the innermost had called something, when
 * they were copied.  Before 3.11 one that is over lies there as it was until another caller
 * uses it again, as a rule soon. */
static bool are_linked(const struct attach *attach, const struct attach_process *process, uint32_t count)
{
	if (!are_objects(process))
		return true;
	for (uint32_t i = 0; i < count; i++) {
		if (attach->frames[i].state < (i > 0 ? WALK_FRAME_CALLS : WALK_FRAME_RUNS))
			return false;
	}
	return true;
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
	/* What is the same twice may still be a caller with what it has not called yet, left there by
	 * another, where the call comes just before the second look: then the caller tells. */
	if (!is_still || are_objects(process) || process->remote.layout.frame_stacktop != PY_ABSENT)
		*count = drop_returned(attach, process, is_still, *count);
	if (!are_linked(attach, process, *count))
		return STACK_TORN;
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
	    !snapshot_stood_still(thread->snapshot, attach->places, found) || !are_linked(attach, process, found))
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
static void mark_stack(struct attach_thread *thread, bool is_first_copy)
{
	struct attach_stack *stack = thread->stack;
	py_addr keep_end = 0;
	stack->is_marked = is_first_copy && stack->count > 0 && stack->count < ATTACH_FRAMES_KEPT;
	snapshot_shorten(thread->snapshot, stack->is_marked && stack->count > KEPT_BELOW_FRAMES);
	if (!stack->is_marked)
		return;
	const struct attach_row *leaf = &stack->rows[stack->count - 1];
	for (uint32_t i = stack->count - 1; i-- > 0 && keep_end == 0 && leaf->is_on_stack;) {
		if (leaf->place - stack->rows[i].place > KEPT_BELOW_BYTES)
			keep_end = stack->rows[i].place;
	}
	snapshot_mark(thread->snapshot, keep_end);
}

/* Reads only what is new, if it stood still; else all has to be read. */
static bool read_short(struct attach *attach, struct attach_process *process, struct attach_thread *thread,
		       uint64_t now_ns, uint32_t *kept)
{
	struct attach_stack *stack = thread->stack;
	uint32_t count, steady;
	bool is_met = false;
	if (!stack->is_marked || now_ns >= stack->check_ns ||
	    (steady = find_steady_row(process, thread)) == NO_ROW)
		return false;
	if (walk_up_to(attach, process, thread, 0, steady, &is_met, &count) != WALK_OK || !is_met ||
	    count + steady + 1 >= ATTACH_FRAMES_KEPT ||
	    !are_callees_steady(attach, process, stack, steady, count))
		return false;
	/* Two callers more, for what is judged by three frames. */
	uint32_t known = append_rows(attach, stack, steady, count, 2);
	if (!snapshot_stood_still(thread->snapshot, attach->places, known) ||
	    !are_linked(attach, process, known) ||
	    (process->remote.layout.frame_kind == PY_FRAME_CFRAME &&
	     count_returned(attach, process, true, known) > 0) ||
	    !trust_believes(&process->trust, attach->frames, known, count, true))
		return false;
	trust_learn(&process->trust, attach->frames, known, count);
	if (!fill_rows(attach, process, stack, count + steady + 1, steady + 1, now_ns)) {
		stack->is_marked = false;
		return false;
	}
	*kept = show_rows(attach->collector, stack);
	mark_stack(thread, true);
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
	mark_stack(thread, is_whole && is_first_copy);
	attach->collector->cut_samples += is_whole && is_cut;
	return is_whole;
}

/* All of the stack is to be copied and walked the next time. */
static void forget_stack(struct attach_thread *thread)
{
	thread->stack->is_marked = false;
	snapshot_forget(thread->snapshot);
}

bool attach_take(struct attach_thread *thread, uint64_t now_ns)
{
	struct attach_stack *stack = thread->stack;
	if (now_ns >= stack->whole_ns) {
		uint32_t further = stack->count > WHOLE_FRAMES ? stack->count - WHOLE_FRAMES : 0;
		forget_stack(thread);
		stack->whole_ns = now_ns + WHOLE_NS + WHOLE_FRAME_NS * further;
	}
	return snapshot_take(thread->snapshot);
}

bool attach_read_stack(struct attach *attach, struct attach_process *process, struct attach_thread *thread,
		       uint64_t now_ns, uint32_t *kept, bool *is_gone)
{
	*is_gone = false;
	if (read_once(attach, process, thread, false, now_ns, kept))
		return true;
	forget_stack(thread);
	*is_gone = !snapshot_take(thread->snapshot);
	return !*is_gone && read_once(attach, process, thread, true, now_ns, kept);
}
