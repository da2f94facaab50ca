/* classify.h - was it the interpreter, or one long operation in C?
 *
 * A program counter inside the interpreter does not tell `i * i` from
 * `x in long_list`.  The counts per instruction do: the instructions of a
 * straight piece of code run equally often, and loads and jumps take a few
 * nanoseconds each, so an operation that collects a thousand times the
 * samples of the loads beside it takes microseconds, and is C code at work.
 * length.h has the rest of it.
 * docs/ARCHITECTURE.md derives the thresholds.
 *
 * Pure: depends on the counts alone (and keeps the code's shape with it). */
#ifndef HEATLINE_COLLECT_CLASSIFY_H
#define HEATLINE_COLLECT_CLASSIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/codes.h"
#include "collect/images.h"
#include "remote/evaluator.h"

/* What one sample says by itself. */
enum verdict {
	VERDICT_PYTHON,
	VERDICT_NATIVE,
	VERDICT_OPEN, /* only the counts can tell */
};

/* What the program counter alone says: in an extension, or in code made at run time, it is
 * native, but for CPython's own generated code; elsewhere the instruction tells more. */
enum verdict classify_image(enum image_kind image, unsigned version, uint8_t opcode);

/* For a sample in the interpreter (or in the C library below it) at an
 * instruction; opcode is the specialised one, or 0 before 3.11. */
enum verdict classify_sample(const struct code *code, uint32_t offset, uint8_t opcode);

/* In which part of the interpreter a sample of an instruction was. */
void classify_note_part(struct code_op *op, enum evaluator_part part);

/* The same of one that is counted as leaf, for the lengths of operations (length.h).  has_names: all parts
 * are known, so that EVALUATOR_NONE is work that short operations do not consist of. */
void classify_note_place(struct code_op *op, enum evaluator_part part, bool has_names);

/* Whether an instruction is a call by which Python functions were seen to be called: of a Python function
 * itself, or of C code that calls some (a sort with a key). */
bool classify_calls_back(const struct code *code, uint32_t offset, const struct code_op *op);

/* For a sample at such a call, which it counts.  Calling Python functions is the interpreter's work, and
 * Python; the rest is the C code's; what both need is theirs by lot, as often as they were met.
 * knows_all: all functions of the interpreter are known. */
enum verdict classify_call_back(struct code_op *op, enum evaluator_part part, bool knows_all,
				uint64_t lot);

/* Whether open time at this instruction was native. */
bool classify_is_native(struct code *code, uint32_t offset);

#endif
