/* classify.c - see classify.h. */
#include "collect/classify.h"

#include "collect/length.h"

static uint8_t opcode_at(const struct code *code, uint32_t offset)
{
	return offset < code->bytecode_size ? code->bytecode[offset] : 0;
}

enum verdict classify_image(enum image_kind image, unsigned version, uint8_t opcode)
{
	if (image == IMAGE_GENERATED)
		return py_op_kind(version, opcode) == PY_OP_JIT ? VERDICT_PYTHON : VERDICT_NATIVE;
	return image == IMAGE_EXTENSION ? VERDICT_NATIVE : VERDICT_OPEN;
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

/* One call in so many that calls a Python function may be chance: a finaliser, a signal's handler. */
#define CHANCE 20u
#define MAKER_CHANCE 100u /* to make an instance can take ten times as long as its __init__ */

/* Specialised or not: the code is as it was when it was first met.  (In 3.11 it is the instruction before
 * the call that calls C functions.) */
static bool is_call(const struct code *code, uint32_t offset, const struct code_op *op)
{
	enum py_op_kind kind = py_op_kind(code->version, opcode_at(code, offset));
	return op->calls_c || kind == PY_OP_CALL || kind == PY_OP_CALL_C || kind == PY_OP_CALL_PYTHON;
}

bool classify_calls_back(const struct code *code, uint32_t offset, const struct code_op *op)
{
	uint32_t seen = op->callee + op->entering;
	return seen > 0 && seen >= (op->leaf + op->running) / CHANCE && is_call(code, offset, op);
}

void classify_note_part(struct code_op *op, enum evaluator_part part)
{
	op->entering += part == EVALUATOR_ENTERING;
}

void classify_note_place(struct code_op *op, enum evaluator_part part, bool has_names)
{
	op->placed++;
	op->inside += part == EVALUATOR_LOOP;
	op->common += has_names && part != EVALUATOR_NONE;
	op->working += has_names && part == EVALUATOR_NONE;
}

/* An extension's work shows in the interpreter's functions, too. */
static bool is_extension_at_work(const struct code_op *op)
{
	return op->native > 0 && op->native >= op->leaf / 8;
}

enum verdict classify_call_back(struct code_op *op, enum evaluator_part part, bool knows_all,
				uint64_t lot)
{
	uint32_t known = op->running + op->leaf;
	bool is_extension = is_extension_at_work(op);
	op->is_partial = !knows_all;
	bool is_running = part == EVALUATOR_RUNNING || part == EVALUATOR_LOOP;
	if (part == EVALUATOR_ENTERING || (is_running && !is_extension)) {
		op->running++;
		return VERDICT_PYTHON;
	}
	if (part == EVALUATOR_CHORES && (op->makes || op->direct > 0) && !is_extension)
		return VERDICT_PYTHON;
	if (part == EVALUATOR_CHORES && (!knows_all || known == 0))
		return VERDICT_OPEN;
	if (part == EVALUATOR_CHORES && !is_extension)
		return lot % known < op->running ? VERDICT_PYTHON : VERDICT_NATIVE;
	op->leaf++;
	return knows_all && !is_extension ? VERDICT_NATIVE : VERDICT_OPEN;
}

/* What stays open is the interpreter's where a Python function or class was called.  Where C code
 * calls them it goes with the greater part; but where not all functions that run them have names, their
 * time is in leaf, as much again and more.  Where none has: to call a Python function takes the
 * interpreter less time than that takes, or some four times as long where it makes an instance.
 * An extension at work in the same call has Python functions called by it, and the rest is its
 * own as long as that is more than these take: compiled Python (mypyc) spends two thirds of
 * its time in the interpreter's functions. */
static bool is_call_native(const struct code_op *op)
{
	if (op->callee + op->entering == 0)
		return true;
	if (is_extension_at_work(op) && op->callee < op->leaf)
		return true;
	if ((op->direct > 0 && op->callee >= op->leaf / CHANCE) ||
	    (op->makes && op->callee >= op->leaf / MAKER_CHANCE))
		return false;
	if (op->running > 0)
		return op->leaf / (op->is_partial ? 2 : 1) > op->running;
	return op->callee < op->leaf / 4;
}

bool classify_is_native(struct code *code, uint32_t offset)
{
	static const struct code_op none;
	if (!code->is_counted || offset / 2 >= code->bytecode_size / 2)
		return false;
	const struct code_op *known = codes_find_op(code, offset);
	const struct code_op *count = known == NULL ? &none : known;
	/* Most of the work at this instruction is done by an extension; the
	 * rest is that extension calling the interpreter's functions. */
	if (count->native > 0 && count->native >= count->leaf / 2)
		return true;
	if (is_call(code, offset, count))
		return is_call_native(count);
	return known != NULL && length_is_long(code, known);
}
