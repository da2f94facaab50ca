/* journal_stack.c - see journal_stack.h. */
#include "collect/journal_stack.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct journal_stack {
	uint32_t process;
	uint32_t count; /* frames of the last stack; 0: there was none */
	struct record_frame frames[RECORD_MAX_BYTES / sizeof(struct record_frame)];
	_Alignas(8) unsigned char whole[RECORD_MAX_BYTES];
};

struct journal_stack *journal_stack_new(void)
{
	struct journal_stack *stack = mem_alloc(sizeof(*stack));
	stack->process = stack->count = 0;
	return stack;
}

void journal_stack_free(struct journal_stack *stack)
{
	free(stack);
}

/* Where a record's frames begin; 0: it has none. */
static uint32_t frames_at(const struct record *record)
{
	switch (record->type) {
	case RECORD_SAMPLE:
		return offsetof(struct record_sample, frames);
	case RECORD_ALLOC:
		return offsetof(struct record_alloc, frames);
	case RECORD_COPY:
		return offsetof(struct record_copy, frames);
	default:
		return 0;
	}
}

/* The frames fill the rest of the record, whatever it says of their number: that is
 * checked when it is taken. */
static uint32_t count_frames(const struct record *record)
{
	uint32_t begin = frames_at(record);
	if (begin == 0 || record->size < begin || record->size > RECORD_MAX_BYTES)
		return 0;
	return (record->size - begin) / (uint32_t)sizeof(struct record_frame);
}

/* A record's size is a multiple of a frame's, and so is where its frames begin. */
static const struct record_frame *frames_of(const struct record *record)
{
	return (const void *)((const char *)record + frames_at(record));
}

uint32_t journal_stack_shared(const struct journal_stack *stack, uint32_t process,
			      const struct record *record)
{
	uint32_t count = count_frames(record), shared = 0;
	if (count == 0 || stack->process != process || record->size % sizeof(*stack->frames) != 0)
		return 0;
	const struct record_frame *end = frames_of(record) + count;
	const struct record_frame *last_end = stack->frames + stack->count;
	while (shared < count && shared < stack->count &&
	       memcmp(end - shared - 1, last_end - shared - 1, sizeof(*end)) == 0)
		shared++;
	return shared;
}

void journal_stack_note(struct journal_stack *stack, uint32_t process, const struct record *record)
{
	uint32_t count = count_frames(record);
	if (count == 0)
		return;
	stack->process = process;
	stack->count = count;
	memcpy(stack->frames, frames_of(record), count * sizeof(*stack->frames));
}

const struct record *journal_stack_restore(struct journal_stack *stack, uint32_t process,
					   const struct record *record, uint64_t size,
					   uint32_t shared)
{
	if (size < sizeof(*record) || record->size > RECORD_MAX_BYTES ||
	    record->size < sizeof(*record))
		return NULL;
	if (shared == 0)
		return record->size <= size ? record : NULL;
	if (stack->process != process || shared > stack->count || shared > count_frames(record))
		return NULL;
	uint32_t rest = shared * (uint32_t)sizeof(*stack->frames);
	if (record->size - rest > size)
		return NULL;
	memcpy(stack->whole, record, record->size - rest);
	memcpy(stack->whole + record->size - rest, stack->frames + stack->count - shared, rest);
	return (const struct record *)(const void *)stack->whole;
}
