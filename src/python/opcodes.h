/* opcodes.h - what an instruction can tell about who is working.
 *
 * The numbers differ by version and are a table, derived again from each
 * interpreter by a test. */
#ifndef HEATLINE_PYTHON_OPCODES_H
#define HEATLINE_PYTHON_OPCODES_H

#include <stdbool.h>
#include <stdint.h>

enum py_op_kind {
	PY_OP_OTHER,       /* an operation of the interpreter; may be long or short */
	PY_OP_CALL,        /* calls something: Python or C, the opcode does not say */
	PY_OP_CALL_PYTHON, /* specialised: pushes a Python frame */
	PY_OP_CALL_C,      /* specialised: runs C code (a builtin, a type, a method) */
	PY_OP_TRIVIAL,     /* loads and jumps: a few nanoseconds, never more (stores may free) */
	PY_OP_CACHE,       /* not an instruction: the inline cache of the one before */
	PY_OP_JIT,         /* machine code made by CPython's own compiler runs here */
	PY_OP_LOOKUP,      /* a name in a dictionary or two: several loads' time, never long */
	PY_OP_HANDLER,     /* where an exception's handler begins and ends; runs once an exception */
};

/* PY_OP_OTHER for a version or number that is not known. */
enum py_op_kind py_op_kind(unsigned version, uint8_t opcode);

/* How many two-byte units of inline cache follow the instruction (3.11+). */
unsigned py_op_caches(unsigned version, uint8_t opcode);

/* Whether control may go elsewhere than to the next instruction: a jump, taken
 * or not, a return, a yield, a raise.  (Any other may raise, too.) */
bool py_op_is_jump(unsigned version, uint8_t opcode);

/* Whether a frame that stands at this instruction can be calling Python code:
 * from 3.11 on without C code in between, before that at all (a signal's handler
 * and a finaliser apart, which run anywhere). */
bool py_op_may_call(unsigned version, uint8_t opcode);

#endif
