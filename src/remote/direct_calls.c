/* direct_calls.c - see direct_calls.h. */
#include "remote/direct_calls.h"

#include <string.h>

#ifdef __x86_64__
#define CALL           0xe8
#define JUMP           0xe9
#define LONG           0x0f /* then a conditional jump */
#define IS_JUMP_IF(op) ((op) >= 0x80 && (op) <= 0x8f)
#define TAKE_ADDRESS   0x8d /* then how: */
#define IS_NEAR(how)   (((how)&0xc7) == 0x05)
#define DISTANCE_SIZE  4u

/* What lies as far from the next instruction as the four bytes at an offset say. */
static uint64_t target_at(const struct direct_code *code, uint64_t offset)
{
	int32_t distance;

	memcpy(&distance, code->bytes + offset, sizeof(distance));
	return code->address + offset + DISTANCE_SIZE + (uint64_t)(int64_t)distance;
}

void direct_calls(const struct direct_code *code,
		  void (*found)(void *context, enum direct_kind kind, uint64_t target),
		  void *context)
{
	const unsigned char *bytes = code->bytes;

	for (uint64_t at = 0; at + 2 + DISTANCE_SIZE <= code->size; at++) {
		uint64_t target;

		if (bytes[at] == CALL || bytes[at] == JUMP)
			target = target_at(code, at + 1);
		else if (bytes[at] == LONG && IS_JUMP_IF(bytes[at + 1]))
			target = target_at(code, at + 2);
		else
			continue;
		if (target - code->address >= code->size)
			found(context, bytes[at] == CALL ? DIRECT_CALL : DIRECT_JUMP, target);
	}
}

/* From where it stands, or as a number, which four bytes hold where code is not moved. */
void direct_references(const struct direct_code *code,
		       void (*found)(void *context, uint64_t target), void *context)
{
	for (uint64_t at = 0; at + DISTANCE_SIZE <= code->size; at++) {
		uint32_t number;

		memcpy(&number, code->bytes + at, sizeof(number));
		found(context, number);
		if (at >= 2 && code->bytes[at - 2] == TAKE_ADDRESS && IS_NEAR(code->bytes[at - 1]))
			found(context, target_at(code, at));
	}
}
#else
void direct_calls(const struct direct_code *code,
		  void (*found)(void *context, enum direct_kind kind, uint64_t target),
		  void *context)
{
	(void)code;
	(void)found;
	(void)context;
}

void direct_references(const struct direct_code *code,
		       void (*found)(void *context, uint64_t target), void *context)
{
	(void)code;
	(void)found;
	(void)context;
}
#endif
