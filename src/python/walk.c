/* walk.c - from a thread state to its frames.
 *
 * The hard idea is to believe nothing: walk.h says which half-made states
 * there are and by what they are known.  The other one is to make few system
 * calls: the frame stack of 3.11 and later is copied in pieces of some KB and
 * walked in the copy; generators, entry frames and frame objects are copied by
 * whole pages, since they lie close together.
 *
 * What must hold: every address that is followed went through fetch_bytes(),
 * and every hop is counted. */
#include "python/walk.h"

#include <string.h>

#include "python/bits.h"
#include "python/fetch.h"
#include "python/instructions.h"

#define FIRST_COPY_BYTES 4096u /* most stacks fit */

/* Entry frames of the interpreter are hops, but no frames. */
#define HOPS_PER_FRAME 3u

/* A part of the frame stack: previous, size and top, then the frames. */
struct chunk {
	py_addr start;
	py_addr end;      /* where its frames end; beyond that where not known */
	bool has_end;     /* end is exact */
	py_addr previous; /* the older chunk */
	bool is_known;    /* previous was read */
};

#define CHUNK_HEAD_BYTES 24u
#define CHUNK_BYTES_MAX (1u << 20) /* taken where the top is not known; too much does no harm */
#define CHUNK_ROOT_GAP 8u      /* the oldest chunk leaves its first word unused */
#define CFRAME_BYTES 24u

/* The parts of a frame that matter. */
struct frame_view {
	py_addr code, previous, instr;
	uint32_t copy; /* of the instructions; see instructions.h */
	uint8_t owner;
	bool is_entry;
	bool is_calling; /* its evaluation stack is put away, as for a call of Python */
};

struct walk {
	const struct walker *walker;
	struct fetch fetch;
	struct walk_scratch *scratch;
	bool is_first_copy;
	struct chunk top_chunk;   /* the newest */
	struct chunk chunk;       /* where the walk stands on the frame stack */
	py_addr last_on_stack;    /* the frame found last on this chunk, its end when there
				     is none yet; 0: not known */
	bool has_gap;             /* the frames found leave out some of the stack */
	py_addr mark;             /* Brent's cycle detection: an address seen, */
	uint32_t hops, mark_hops; /* and after how many hops to take a new one */
	struct walk_frame *frames;
	uint32_t count, room;
};

static void walk_restart(struct walk *walk)
{
	walk->count = 0;
	walk->mark = 0;
	walk->hops = 0;
	walk->mark_hops = 1;
	walk->chunk = walk->top_chunk;
	walk->last_on_stack = walk->chunk.has_end ? walk->chunk.end : 0;
	walk->has_gap = false;
}

/* Counts a hop to addr.  False when it was here before. */
static bool walk_hop(struct walk *walk, py_addr addr)
{
	if (addr == walk->mark)
		return false;
	if (++walk->hops == walk->mark_hops) {
		walk->mark = addr;
		walk->mark_hops *= 2;
	}
	return true;
}

/* ---- 3.6 to 3.10: frame objects ---- */

/* By the references that the frame object has, its first field. */
static enum walk_frame_state object_state(const unsigned char *object)
{
	int64_t references = (int64_t)load_u64(object);

	return references > 1 ? WALK_FRAME_CALLS : references == 1 ? WALK_FRAME_RUNS : WALK_FRAME_OVER;
}

static enum walk_result walk_objects(struct walk *walk, py_addr addr)
{
	const struct py_layout *layout = walk->walker->layout;

	while (addr != 0) {
		const unsigned char *at;
		struct walk_frame *frame = &walk->frames[walk->count];
		int32_t last;

		if (addr == walk->walker->known && walk->count > 0) {
			*walk->walker->is_met = true;
			return WALK_OK;
		}
		if (walk->count == walk->room)
			return WALK_CUT;
		if (!is_pointer(addr) || !walk_hop(walk, addr))
			return WALK_TORN;
		at = fetch_bytes(&walk->fetch, addr, layout->frame_size);
		if (at == NULL)
			return WALK_TORN;
		frame->code = load_u64(at + layout->frame_code);
		if (!is_pointer(frame->code))
			return WALK_TORN;
		memcpy(&last, at + layout->frame_instr, sizeof(last));
		frame->offset = last > 0 ? (uint32_t)last * layout->lasti_scale : 0;
		frame->is_entry = 1;
		frame->state = object_state(at);
		frame->room = 0;
		if (walk->walker->places != NULL)
			walk->walker->places[walk->count] = addr;
		walk->count++;
		addr = load_u64(at + layout->frame_previous);
	}
	return walk->count > 0 ? WALK_OK : WALK_NO_PYTHON;
}

/* ---- 3.11 and later: the frame stack ---- */

static bool chunk_has(const struct chunk *chunk, py_addr addr)
{
	return addr > chunk->start && addr <= chunk->end;
}

/* Reads where the older chunk lies; it is 0 for the oldest. */
static bool chunk_learn(struct walk *walk, struct chunk *chunk)
{
	const unsigned char *at;

	if (!chunk->is_known) {
		at = fetch_bytes(&walk->fetch, chunk->start, CHUNK_HEAD_BYTES);
		if (at == NULL)
			return false;
		chunk->previous = load_u64(at);
		chunk->is_known = true;
	}
	return is_pointer(chunk->previous);
}

/* Steps to the older chunk if addr lies in it. */
static bool chunk_step(struct walk *walk, py_addr addr)
{
	struct chunk older = { 0 };
	const unsigned char *at;

	if (!chunk_learn(walk, &walk->chunk))
		return false;
	at = fetch_bytes(&walk->fetch, walk->chunk.previous, CHUNK_HEAD_BYTES);
	if (at == NULL)
		return false;
	older.start = walk->chunk.previous;
	older.previous = load_u64(at);
	older.end = older.start + CHUNK_HEAD_BYTES + 8 * load_u64(at + 16);
	older.has_end = true;
	older.is_known = true;
	if (!chunk_has(&older, addr))
		return false;
	walk->has_gap |= walk->last_on_stack != walk->chunk.start + CHUNK_HEAD_BYTES;
	walk->chunk = older;
	walk->last_on_stack = older.end;
	return true;
}

/* Whether the frame found last is the oldest of all on the frame stack. */
static bool chunk_is_exhausted(struct walk *walk)
{
	return walk->chunk.start == 0 ||
	       (walk->last_on_stack == walk->chunk.start + CHUNK_HEAD_BYTES + CHUNK_ROOT_GAP &&
		!chunk_learn(walk, &walk->chunk));
}

/* Copies the part of the frame stack that ends with the frame at addr. */
static void stack_load(struct walk *walk, py_addr addr)
{
	uint32_t bytes = walk->is_first_copy ? FIRST_COPY_BYTES : WALK_CHUNK_BYTES;
	py_addr end = addr + walk->walker->layout->frame_size;
	py_addr start = end - walk->chunk.start > bytes ? end - bytes : walk->chunk.start;

	walk->is_first_copy = false;
	fetch_stack(&walk->fetch, start, (uint32_t)(end - start));
}

/* Reads the frame at addr; *is_on_stack says whether it lies on the frame
 * stack.  False when it cannot be read or is no frame. */
static bool frame_read(struct walk *walk, py_addr addr, struct frame_view *view, bool *is_on_stack)
{
	const struct py_layout *layout = walk->walker->layout;
	const unsigned char *at;

	if (!is_pointer(addr))
		return false;
	*is_on_stack = chunk_has(&walk->chunk, addr);
	if (*is_on_stack && !fetch_has_stack(&walk->fetch, addr, layout->frame_size))
		stack_load(walk, addr);
	at = fetch_bytes(&walk->fetch, addr, layout->frame_size);
	if (at == NULL)
		return false;
	view->code = load_u64(at + layout->frame_code);
	if (layout->executable_tagged)
		view->code &= ~(py_addr)7;
	view->previous = load_u64(at + layout->frame_previous);
	view->instr = load_u64(at + layout->frame_instr);
	view->copy = instructions_copy(layout, at);
	view->owner = at[layout->frame_owner];
	view->is_entry = layout->frame_is_entry != PY_ABSENT && at[layout->frame_is_entry] != 0;
	view->is_calling = layout->frame_stacktop == PY_ABSENT ||
			   (int32_t)load_u32(at + layout->frame_stacktop) >= 0;
	return view->owner <= PY_OWNER_MAX;
}

/* Checks that the frame at addr may be the caller of those found before it on
 * the frame stack, and notes how much room it has there. */
static bool frame_place(struct walk *walk, py_addr addr)
{
	py_addr words;

	if (walk->last_on_stack != 0) {
		/* A frame is taken off the stack just before it is left when it
		 * turns into a generator.  (In 3.11 and 3.12 this looks like an
		 * evaluation that has no frame yet.) */
		bool may_be_top = walk->walker->layout->frame_kind == PY_FRAME_INTERPRETER &&
				  walk->count == 0;

		if (addr > walk->last_on_stack || (addr == walk->last_on_stack && !may_be_top))
			return false;
		words = (walk->last_on_stack - addr) / 8;
		walk->frames[walk->count].room = words <= UINT16_MAX ? (uint16_t)words : 0;
	}
	walk->last_on_stack = addr;
	return true;
}

/* Appends a frame of Python code.  False when it cannot be one. */
static bool frame_add(struct walk *walk, const struct frame_view *view)
{
	struct walk_frame *frame = &walk->frames[walk->count];
	py_addr start;
	int64_t offset;

	if (!is_pointer(view->code) ||
	    !instructions_find(walk->walker->reader, walk->walker->layout, view->code, view->copy, &start))
		return false;
	/* Before its first instruction a frame points one unit in front of it.
	 * No code object has 64 MB of instructions. */
	offset = (int64_t)(view->instr - start);
	if (offset < -2 || offset > 64 << 20)
		return false;
	frame->code = view->code;
	frame->offset = offset > 0 ? (uint32_t)offset : 0;
	frame->is_entry = view->is_entry;
	frame->state = view->is_calling ? WALK_FRAME_CALLS : WALK_FRAME_RUNS;
	if (walk->count == 0)
		walk->scratch->instruction = start + frame->offset;
	walk->count++;
	return true;
}

/* Whether the frame may be the caller of one that has not begun.  That one may
 * not have its caller yet and still name that of the frame that lay there
 * before, which must be told by what a caller does: it has put its evaluation
 * stack away, and not for a generator. */
static bool frame_may_call(struct walk *walk, const struct frame_view *view)
{
	const uint8_t *opcode = walk->walker->layout->resume_opcodes;
	const unsigned char *at;

	if (!view->is_calling)
		return false;
	if (*opcode == 0)
		return true;
	/* The instruction that is kept is the last unit of its inline cache,
	 * of which those that resume have one. */
	at = fetch_bytes(&walk->fetch, view->instr - 2, 1);
	while (at != NULL && *opcode != 0 && *opcode != *at)
		opcode++;
	return at != NULL && *opcode == 0;
}

/* Follows the frames from addr.  Where entry_caller is not NULL, one of those
 * that were entered from C must have *entry_caller as its caller. */
static enum walk_result walk_stack(struct walk *walk, py_addr addr, const py_addr *entry_caller)
{
	const struct py_layout *layout = walk->walker->layout;
	bool is_entered = true; /* the frame seen last was entered from C */
	bool is_linked = entry_caller == NULL;

	walk_restart(walk);
	while (addr != 0) {
		struct frame_view view;
		bool is_on_stack;

		if (addr == walk->walker->known && walk->count > 0 && walk->frames[0].offset > 0 &&
		    (is_linked || *entry_caller == walk->walker->known_caller)) {
			*walk->walker->is_met = true;
			return WALK_OK;
		}
		if (walk->count == walk->room || walk->hops / HOPS_PER_FRAME >= walk->room)
			return WALK_CUT;
		if (!walk_hop(walk, addr) || !frame_read(walk, addr, &view, &is_on_stack))
			return WALK_TORN;
		if (view.owner >= layout->owner_is_shim) {
			if (walk->count > 0)
				walk->frames[walk->count - 1].is_entry = 1;
			is_entered = true;
		} else {
			walk->frames[walk->count].room = 0;
			if (view.owner == PY_OWNER_THREAD && !is_on_stack &&
			    !chunk_step(walk, addr))
				return WALK_TORN;
			if (view.owner == PY_OWNER_THREAD && !frame_place(walk, addr))
				return WALK_TORN;
			if (walk->count == 1 && walk->frames[0].offset == 0 && !is_entered &&
			    !frame_may_call(walk, &view))
				return WALK_TORN;
			if (walk->walker->places != NULL)
				walk->walker->places[walk->count] = addr;
			if (!frame_add(walk, &view))
				return WALK_TORN;
			is_entered = view.is_entry;
		}
		if (is_entered && entry_caller != NULL && view.previous == *entry_caller)
			is_linked = true;
		addr = view.previous;
	}
	if (!is_entered || !is_linked)
		return WALK_TORN;
	if (walk->count == 0)
		return WALK_NO_PYTHON;
	/* A frame that has not begun: see frame_may_call().  Its true caller and
	 * all before it fill the frame stack. */
	if (walk->frames[0].offset == 0 && (walk->has_gap || !chunk_is_exhausted(walk)))
		return WALK_TORN;
	return WALK_OK;
}

/* Where the top of the frame stack lies. */
static bool read_stack_top(struct walk *walk, py_addr tstate, py_addr *first)
{
	const struct py_layout *layout = walk->walker->layout;
	const struct mem_reader *reader = walk->walker->reader;
	py_addr stack[2] = { 0, 0 };
	bool has_top = layout->thread_datastack_top == layout->thread_datastack_chunk + 8;
	size_t stack_size = has_top ? sizeof(stack) : sizeof(stack[0]);
	struct iovec dst[2] = { { first, sizeof(*first) }, { stack, stack_size } };
	struct iovec src[2] = {
		{ (void *)(uintptr_t)(tstate + layout->thread_frame), sizeof(*first) },
		{ (void *)(uintptr_t)(tstate + layout->thread_datastack_chunk), stack_size },
	};

	if (reader->read_many(reader, dst, src, 2) != 2)
		return false;
	walk->top_chunk.start = stack[0];
	walk->top_chunk.end = has_top ? stack[1] : stack[0] + CHUNK_BYTES_MAX;
	walk->top_chunk.has_end = has_top;
	return true;
}

/* 3.11, 3.12: the evaluation that runs is known by a structure on the C
 * stack, which is announced before it is filled in; until then it holds what
 * an earlier evaluation left there.  What tells: the evaluation was entered
 * from the frame that is current in the one before. */
static enum walk_result walk_evaluations(struct walk *walk, py_addr tstate, py_addr cframe)
{
	const struct py_layout *layout = walk->walker->layout;
	const unsigned char *at = is_pointer(cframe) ? fetch_bytes(&walk->fetch, cframe, CFRAME_BYTES) : NULL;
	py_addr current, previous, caller;

	if (at == NULL)
		return WALK_TORN;
	if (walk_is_first_cframe(layout, tstate, cframe))
		return WALK_NO_PYTHON;
	current = load_u64(at + layout->cframe_current_frame);
	previous = load_u64(at + layout->cframe_previous);
	at = is_pointer(previous) ? fetch_bytes(&walk->fetch, previous, CFRAME_BYTES) : NULL;
	if (at == NULL)
		return WALK_TORN;
	caller = load_u64(at + layout->cframe_current_frame);
	return walk_stack(walk, current, &caller);
}

enum walk_result walk_thread(const struct walker *walker, py_addr tstate,
			     struct walk_scratch *scratch, struct walk_frame *frames,
			     uint32_t *count)
{
	struct walk walk;
	enum walk_result result = WALK_TORN;
	py_addr first;

	walk.walker = walker;
	walk.scratch = scratch;
	walk.frames = frames;
	walk.room = walker->room != 0 ? walker->room : WALK_MAX_FRAMES;
	walk.is_first_copy = true;
	walk.top_chunk = (struct chunk){ 0 };
	fetch_init(&walk.fetch, walker->reader, scratch,
		   walker->layout->frame_kind != PY_FRAME_OBJECT);
	walk_restart(&walk);
	if (walker->layout->frame_kind == PY_FRAME_OBJECT) {
		if (walker->reader->read(walker->reader, tstate + walker->layout->thread_frame,
					 &first, sizeof(first)))
			result = walk_objects(&walk, first);
	} else if (read_stack_top(&walk, tstate, &first)) {
		result = walker->layout->frame_kind == PY_FRAME_CFRAME
				 ? walk_evaluations(&walk, tstate, first)
				 : walk_stack(&walk, first, NULL);
	}
	*count = walk.count;
	return result;
}
