/* code.h - copy what we need of a code object out of a target.
 *
 * Addresses are reused: a code object is known by its address and its
 * identity (the pointers and numbers in its head), never by its address alone.
 *
 * Signal-safe: everything here. */
#ifndef HEATLINE_PYTHON_CODE_H
#define HEATLINE_PYTHON_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "python/reader.h"
#include "python/walk.h"

#define CODE_HEAD_MAX 256u  /* no layout's code_size is larger */

/* Identities that are none. */
#define CODE_TORN 0u   /* no code object, or the frame cannot be one of it */
#define CODE_HIDDEN 1u /* the interpreter's own helper (3.12+: it calls __init__ for a class and
			  throws its result away); the frame is to be left out of the stack */

/* Computes the identity of the code objects of frames[0..count) into
 * identities: CODE_TORN, CODE_HIDDEN, or 2 and up.  Equal neighbours and
 * repeats (recursion) are read once.  The reads are batched.  Some 3.5 KB of
 * stack. */
void code_identities(const struct walker *walker, const struct walk_frame *frames, uint32_t count,
		     uint32_t *identities);

/* The identity of one code object that lies in the caller's own memory: not copied, so it
 * must be one that runs.  *is_generator: its frames are those of a generator or coroutine. */
uint32_t code_identity(const struct walker *walker, const void *code, bool *is_generator);

#define PY_CO_NESTED 0x10u /* of co_flags: written within a function */

/* The texts and tables of one code object, copied into one buffer. */
struct code_info {
	uint32_t first_line;
	uint32_t flags;                       /* co_flags */
	const char *filename;                 /* UTF-8, not terminated; into the buffer */
	const char *qualname;                 /* co_qualname, or co_name before 3.11 */
	const unsigned char *lines;           /* co_lnotab or co_linetable */
	const unsigned char *bytecode;        /* the instructions (adaptive from 3.11 on) */
	uint32_t filename_size, qualname_size, lines_size, bytecode_size;
	bool is_cut; /* there are lines or instructions that did not fit in */
};

/* Copies the code object at addr.  False when it is none, a read failed, or
 * it does not fit (a name is cut at 1000 bytes; instructions, and lines, of a
 * code object that is too large are left out).  Pointers in *info lead into buffer. */
bool code_read(const struct walker *walker, py_addr addr, void *buffer, size_t size,
	       struct code_info *info);

#endif
