/* own_stack.c - see own_stack.h. */
#include "agent/own_stack.h"

#include <string.h>

#include "agent/codes.h"
#include "agent/sample.h"
#include "agent/threads.h"
#include "python/instructions.h"

static uint64_t load_word(const char *at)
{
	uint64_t word;
	memcpy(&word, at, sizeof(word));
	return word;
}

static const char *load_pointer(const char *at)
{
	return (const char *)(uintptr_t)load_word(at); /* NOLINT: an address */
}

/* As far below us on the C stack what a switch of stacks has left may be overwritten: by
 * us, by what called us since, by a signal.  Farther down nobody has been yet. */
#define OVERWRITTEN_BYTES 32768u

static inline bool is_overwritten(const char *at)
{
	return (uintptr_t)__builtin_frame_address(0) - (uintptr_t)at < OVERWRITTEN_BYTES;
}

/* The frame that runs, or NULL.  False when it cannot be told. */
static inline bool find_innermost(const char **frame)
{
	const struct py_layout *layout = &g_agent.layout;
	const char *state = (const char *)(uintptr_t)sample_state(); /* NOLINT: an address */
	*frame = state != NULL ? load_pointer(state + layout->thread_frame) : NULL;
	if (*frame == NULL || layout->frame_kind != PY_FRAME_CFRAME)
		return true;
	if (is_overwritten(*frame))
		return false;
	*frame = load_pointer(*frame + layout->cframe_current_frame);
	return true;
}

static bool is_shim(const char *frame)
{
	const struct py_layout *layout = &g_agent.layout;
	return layout->frame_kind != PY_FRAME_OBJECT &&
	       (unsigned char)frame[layout->frame_owner] >= layout->owner_is_shim;
}

static uint64_t code_of(const char *frame)
{
	uint64_t code = load_word(frame + g_agent.layout.frame_code);
	return g_agent.layout.executable_tagged ? code & ~(uint64_t)7 : code;
}

/* --- reading --- */

static bool read_direct(const struct mem_reader *reader, py_addr addr, void *dst, size_t size)
{
	(void)reader;
	memcpy(dst, (const void *)(uintptr_t)addr, size);
	return true;
}

static size_t read_many_direct(const struct mem_reader *reader, const struct iovec *dst,
			       const struct iovec *src, size_t count)
{
	(void)reader;
	for (size_t i = 0; i < count; i++)
		memcpy(dst[i].iov_base, src[i].iov_base, src[i].iov_len);
	return count;
}

static const struct mem_reader direct_reader = {.read = read_direct, .read_many = read_many_direct};

/* What stands on the stack lives, and so does all that it holds: the code objects
 * of a program's imports, seven pieces each, are read without a system call. */
static struct walker direct_walker(void)
{
	struct walker walker = g_agent.walker;
	walker.reader = &direct_reader;
	return walker;
}

/* --- in place --- */

/* Where the frame's instructions are, read in place; 0 when that makes no sense. */
static uint64_t instructions_of(const char *frame, uint64_t code)
{
	const struct py_layout *layout = &g_agent.layout;
	uint32_t copy = instructions_copy(layout, (const unsigned char *)frame);
	py_addr start;
	return instructions_find(&direct_reader, layout, code, copy, &start) ? start : 0;
}

/* Where the frame stands in its code; below 0 when that makes no sense. */
static int64_t offset_of(const char *frame, uint64_t code)
{
	const struct py_layout *layout = &g_agent.layout;
	if (layout->frame_kind == PY_FRAME_OBJECT) {
		int32_t last;
		memcpy(&last, frame + layout->frame_instr, sizeof(last));
		return last > 0 ? (int64_t)last * layout->lasti_scale : 0;
	}
	uint64_t start = instructions_of(frame, code);
	int64_t offset = start != 0 ? (int64_t)(load_word(frame + layout->frame_instr) - start) : -1;
	/* Before its first instruction a frame points one unit in front of it. */
	return offset == -2 ? 0 : offset;
}

struct direct_walk {
	struct agent_thread *self;
	struct walker walker;
	uint32_t count;
	uint64_t last_code; /* of the frame before, often the same */
	uint32_t last_id;   /* CODE_ID_NONE: it is left out of stacks */
	bool is_generator;
};

static bool add_frame(struct direct_walk *walk, const char *frame)
{
	uint64_t code = code_of(frame);
	int64_t offset = code != 0 ? offset_of(frame, code) : -1;
	if (offset < 0 || offset > UINT32_MAX)
		return false;
	if (code != walk->last_code) {
		uint32_t identity = code_identity(&walk->walker, (const void *)(uintptr_t)code, /* NOLINT */
						  &walk->is_generator);
		if (identity == CODE_TORN)
			return false;
		walk->last_code = code;
		walk->last_id = identity == CODE_HIDDEN
					? CODE_ID_NONE
					: codes_find(walk->self, &walk->walker, code, identity);
		if (walk->last_id == CODE_ID_NONE && identity != CODE_HIDDEN)
			return false;
	}
	if (walk->last_id != CODE_ID_NONE) {
		walk->self->frames[walk->count].offset = (uint32_t)offset;
		walk->self->identities[walk->count++] = walk->last_id;
	}
	return true;
}

/* False when something is not as it should be. */
static bool walk_directly(struct agent_thread *self, uint32_t *count)
{
	struct direct_walk walk = {.self = self, .walker = direct_walker()};
	const char *frame;
	if (!find_innermost(&frame))
		return false;
	for (; frame != NULL && walk.count < WALK_MAX_FRAMES;
	     frame = load_pointer(frame + g_agent.layout.frame_previous)) {
		if (is_overwritten(frame) || (!is_shim(frame) && !add_frame(&walk, frame)))
			return false;
	}
	*count = walk.count;
	/* A generator is resumed by someone; see code_identities. */
	return g_agent.layout.frame_kind != PY_FRAME_OBJECT || frame != NULL || !walk.is_generator;
}

/* By the walker that believes nothing, and by reads that can fail. */
static bool walk_carefully(struct agent_thread *self, uint32_t *count)
{
	uint8_t flags = 0;
	return sample_walk(self, &g_agent.walker, count, &flags);
}

bool own_stack_walk(struct agent_thread *self, uint32_t *count)
{
	return walk_directly(self, count) || walk_carefully(self, count);
}

void own_stack_copy(const struct agent_thread *self, struct record_frame *frames, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		frames[i] = (struct record_frame){self->identities[i], self->frames[i].offset};
}

/* What tells the code of a frame from one that lay at its address before (the
 * cells of a notebook do): its file name.  0 for the interpreter's own entries. */
static inline uint64_t frame_file(const char *frame)
{
	const char *code = (const char *)(uintptr_t)code_of(frame); /* NOLINT: an address */
	return is_shim(frame) || code == NULL ? 0 : load_word(code + g_agent.layout.code_filename);
}

uint64_t own_stack_key(uint64_t seed, uint32_t depth)
{
	const struct py_layout *layout = &g_agent.layout;
	const char *frame;
	uint64_t key = seed;
	if (!find_innermost(&frame))
		return seed;
	/* f_lasti is half a word. */
	uint64_t mask = layout->frame_kind == PY_FRAME_OBJECT ? UINT32_MAX : UINT64_MAX;
	for (; depth > 0 && frame != NULL && !is_overwritten(frame); depth--) {
		uint64_t at = load_word(frame + layout->frame_instr) & mask;
		uint64_t code = load_word(frame + layout->frame_code);
		key = (key ^ code ^ at << 20 ^ frame_file(frame) << 7) * 0x9e3779b97f4a7c15ull;
		key ^= key >> 32;
		frame = load_pointer(frame + layout->frame_previous);
	}
	return key;
}

struct agent_thread *own_stack_enter(void)
{
	struct agent_thread *self = threads_self();
	if (self == NULL || atomic_exchange(&self->is_busy, true))
		return NULL;
	if (agent_is_current(self))
		return self;
	own_stack_leave(self);
	return NULL;
}

void own_stack_leave(struct agent_thread *self)
{
	atomic_store_explicit(&self->is_busy, false, memory_order_release);
}
