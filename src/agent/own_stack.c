/* own_stack.c - see own_stack.h. */
#include "agent/own_stack.h"

#include <string.h>

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

bool own_stack_walk(struct agent_thread *self, uint32_t *count)
{
	struct walker walker = g_agent.walker;
	uint8_t flags = 0;
	walker.reader = &direct_reader;
	return sample_walk(self, &walker, count, &flags);
}

void own_stack_copy(const struct agent_thread *self, struct record_frame *frames, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		frames[i] = (struct record_frame){self->identities[i], self->frames[i].offset};
}

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

/* What tells the code of a frame from one that lay at its address before (the
 * cells of a notebook do): its file name.  0 for the interpreter's own entries. */
static uint64_t frame_file(const char *frame, uint64_t code)
{
	const struct py_layout *layout = &g_agent.layout;
	if (layout->frame_kind != PY_FRAME_OBJECT &&
	    (unsigned char)frame[layout->frame_owner] >= layout->owner_is_shim)
		return 0;
	if (layout->executable_tagged)
		code &= ~(uint64_t)7;
	const char *at = (const char *)(uintptr_t)code; /* NOLINT: an address */
	return at == NULL ? 0 : load_word(at + layout->code_filename);
}

uint64_t own_stack_key(uint64_t seed, uint32_t depth, uint32_t *frames)
{
	const struct py_layout *layout = &g_agent.layout;
	const char *state = g_agent.this_thread_state();
	uint64_t key = seed;
	*frames = 0;
	if (state == NULL)
		return key;
	const char *frame = load_pointer(state + layout->thread_frame);
	if (frame != NULL && layout->frame_kind == PY_FRAME_CFRAME)
		frame = load_pointer(frame + layout->cframe_current_frame);
	/* f_lasti is half a word. */
	uint64_t mask = layout->frame_kind == PY_FRAME_OBJECT ? UINT32_MAX : UINT64_MAX;
	for (; *frames < depth && frame != NULL; ++*frames) {
		uint64_t at = load_word(frame + layout->frame_instr) & mask;
		uint64_t code = load_word(frame + layout->frame_code);
		key = (key ^ code ^ at << 20 ^ frame_file(frame, code) << 7) * 0x9e3779b97f4a7c15ull;
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
