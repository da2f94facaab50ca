/* direct_calls.h - which places a piece of machine code calls, jumps to and names.
 *
 * The code is not decoded: each byte is tried as the beginning of an instruction.  What is found that
 * is none leads anywhere, so who asks must know where functions begin; then one in some hundred thousand
 * is wrong.  For x86-64; nothing is found on other machines. */
#ifndef HEATLINE_REMOTE_DIRECT_CALLS_H
#define HEATLINE_REMOTE_DIRECT_CALLS_H

#include <stdint.h>

enum direct_kind {
	DIRECT_CALL,
	DIRECT_JUMP,
};

/* Code of so many bytes that runs at an address. */
struct direct_code {
	const unsigned char *bytes;
	uint64_t address, size;
};

/* Hands out each place outside of the code that it calls or jumps to. */
void direct_calls(const struct direct_code *code,
		  void (*found)(void *context, enum direct_kind kind, uint64_t target),
		  void *context);

/* Hands out each address that it may take, as to store it. */
void direct_references(const struct direct_code *code,
		       void (*found)(void *context, uint64_t target), void *context);

#endif
