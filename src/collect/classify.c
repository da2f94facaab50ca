/* classify.c - see classify.h. */
#include "collect/classify.h"

/* An operation is long when it has more than LONG_BASE + LONG_RATIO * m
 * samples per k loads beside it that have m samples together: likelier to take
 * 10 000 loads' time than 200 (a dictionary access that misses every cache). */
#define LONG_BASE 200u
#define LONG_RATIO 800u

/* A lookup of a name takes several loads' time at the least. */
#define LOOKUP_LOADS 4u

/* Interrupts and the like put about one sample in 500 beside a long operation
 * (measured); one in STRAY is not held against it. */
#define STRAY 200u

static uint8_t opcode_at(const struct code *code, uint32_t offset)
{
	return offset < code->bytecode_size ? code->bytecode[offset] : 0;
}

enum verdict classify_sample(const struct code *code, uint32_t offset, uint8_t opcode)
{
	if (code->version < 0x030b)
		opcode = opcode_at(code, offset);
	switch (py_op_kind(code->version, opcode)) {
	case PY_OP_CALL_C:
		return VERDICT_NATIVE;
	case PY_OP_CALL_PYTHON:
	case PY_OP_TRIVIAL:
	case PY_OP_LOOKUP:
	case PY_OP_CACHE:
	case PY_OP_JIT:
		return VERDICT_PYTHON;
	case PY_OP_CALL:
	case PY_OP_HANDLER:
	case PY_OP_OTHER:
		break;
	}
	return VERDICT_OPEN;
}

/* The short instructions around one: their samples, and how many loads' time
 * they take at the least. */
struct neighbours {
	uint64_t samples;
	uint32_t loads;
};

static uint32_t loads_of(enum py_op_kind kind)
{
	return kind == PY_OP_TRIVIAL ? 1 : kind == PY_OP_LOOKUP ? LOOKUP_LOADS : 0;
}

/* Looks along the straight piece of code that the instruction stands in: from
 * one jump to the next.  Where exceptions are caught, the handlers are met as often
 * as something raises, which is what makes an instruction that raises look long:
 * half a microsecond for the exception, and none of the loads behind it.  An instruction that jumps itself, such as the head of
 * a for loop, is jumped to as well: it runs as often as what follows it, not
 * as what stands before it.  Instructions have inline caches behind them, so
 * the way leads from the code's start. */
static struct neighbours look_around(const struct code *code, uint32_t op)
{
	struct neighbours found = {0, 0};
	uint64_t handled = 0;
	bool is_past = false;
	uint32_t ops = code->bytecode_size / 2;
	for (uint32_t i = 0; i < ops; i += 1 + py_op_caches(code->version, code->bytecode[i * 2])) {
		uint8_t opcode = code->bytecode[i * 2];
		enum py_op_kind kind = py_op_kind(code->version, opcode);
		if (kind == PY_OP_HANDLER)
			handled += code->ops[i].leaf;
		if (is_past)
			continue;
		if (loads_of(kind) > 0) {
			found.samples += code->ops[i].leaf;
			found.loads += loads_of(kind);
		}
		if (!py_op_is_jump(code->version, opcode))
			continue;
		if (i > op)
			is_past = true;
		else
			found = (struct neighbours){0, 0};
	}
	found.samples += handled;
	return found;
}

bool classify_is_native(const struct code *code, uint32_t offset)
{
	uint32_t op = offset / 2;
	if (code->ops == NULL || op >= code->bytecode_size / 2)
		return false;
	const struct op_count *count = &code->ops[op];
	/* Most of the work at this instruction is done by an extension; the
	 * rest is that extension calling the interpreter's functions. */
	if (count->native > 0 && count->native >= count->leaf / 2)
		return true;
	if (py_op_kind(code->version, code->bytecode[op * 2]) == PY_OP_CALL)
		return count->callee < count->leaf / 4 || count->callee == 0;
	struct neighbours around = look_around(code, op);
	uint64_t stray = count->leaf / STRAY;
	uint64_t beside = around.samples > stray ? around.samples - stray : 0;
	return (uint64_t)count->leaf * around.loads > LONG_BASE + LONG_RATIO * beside;
}
