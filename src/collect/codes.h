/* codes.h - the code objects of a run, each kept once, whoever sent it.
 *
 * Every process has ids of its own, the same module is loaded by each of
 * them, and a code object may be sent twice; so codes are told apart by what
 * they contain.  What is remembered of a code (lines, counts, its shape) is so
 * true of whatever has these contents, wherever it lies: no address is a key.
 *
 * Beside the texts a code keeps what is known of those of its instructions that
 * were met: few of many. */
#ifndef HEATLINE_COLLECT_CODES_H
#define HEATLINE_COLLECT_CODES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/map.h"
#include "collect/shape.h"
#include "collect/spread.h"
#include "python/code.h"
#include "python/locations.h"

#define CODES_MAX 200000u /* more is one code named "…" */

/* What is known of one instruction. */
struct code_op {
	uint32_t op;     /* byte offset / 2 */
	uint32_t line;   /* line + 1; 0: not looked up yet */
	uint32_t leaf;   /* innermost, program counter in the interpreter: who works is open */
	uint32_t running; /* or, of a call, in that part of it which runs Python functions, */
	uint32_t entering; /* as nothing else does */
	uint32_t native; /* innermost, program counter in an extension */
	uint32_t callee; /* called a Python function that was seen */
	uint32_t direct; /* of these, seen to be called by the instruction itself, not by C code */
	uint32_t placed; /* of leaf: in a function of the interpreter, or below it, that is known; */
	uint32_t inside; /* of these, in the evaluation loop, */
	uint32_t common; /* there, or elsewhere where short operations spend their time, */
	uint32_t working; /* or where they do not (neither, if the interpreter's names are not known) */
	bool calls_c;    /* it was seen specialised for a C function */
	bool makes;      /* a Python function that it calls makes an instance */
	bool is_partial; /* not all of that part is known, and leaf has some of it */
	struct spread spread; /* of the program counter within the interpreter */
};

struct code {
	const char *filename; /* interned */
	const char *qualname; /* interned */
	uint32_t first_line;
	uint32_t last_line;   /* see codes_last_line; 0: not known or not asked for */
	uint32_t flags;       /* co_flags */
	uint16_t version;     /* of the Python that ran it */
	bool in_scope;
	bool is_bootstrap;    /* of the import system's frozen start-up code */
	bool is_launcher;     /* multiprocessing's function that forks a process, */
	bool is_process;      /* and the one that it calls in the new process */
	bool is_maker;        /* of an instance: __init__ or __new__ */
	bool is_comprehension; /* see profile_is_comprehension */
	uint32_t as_library;  /* of a text that was run: the same, run by a library; else 0 */
	unsigned char *lines; /* owned */
	unsigned char *bytecode; /* owned */
	uint32_t lines_size, bytecode_size;
	bool is_counted;      /* codes_count was called */
	struct code_op *ops;  /* owned; by op */
	uint32_t op_count, op_room;
	struct shape *shape;  /* owned; see codes_shape */
	struct py_locator *locators; /* owned; where reading lines can begin; NULL until one is asked for */
};

struct codes {
	struct code *items; /* owned; index 0 is unused */
	uint32_t count, room;
	struct map_bytes known; /* contents to index */
	struct intern *strings; /* borrowed */
	bool has_texts;         /* there are some with as_library, */
	bool has_launchers;     /* with is_launcher */
};

/* Frees what a code owns. */
void code_fini(struct code *code);

void codes_init(struct codes *codes, struct intern *strings);
void codes_fini(struct codes *codes);

/* The index of a code with these contents; *is_new says whether it was made
 * (in_scope and is_comprehension are then to be set).  The contents are copied. */
uint32_t codes_add(struct codes *codes, const struct code_info *info, unsigned version,
		   bool *is_new);

/* The instruction at a byte offset, for counting, or NULL when it lies outside
 * the code.  Valid until the next call for this code. */
struct code_op *codes_count(struct code *code, uint32_t offset);

/* The same for reading; NULL also when nothing is known of it. */
const struct code_op *codes_find_op(const struct code *code, uint32_t offset);

/* Where the instruction begins that an offset, maybe of its inline cache, is part of;
 * the offset lies within the code. */
uint32_t codes_op_start(struct code *code, uint32_t offset);

/* The instruction by which a frame that stands at an offset has called another: 3.11 and 3.12 leave
 * it at the end of the call's inline cache. */
uint32_t codes_call_start(struct code *code, uint32_t offset);

/* A frame at this offset was seen so many times to have called the other code.  Returns the
 * instruction, as codes_count does. */
struct code_op *codes_note_call(struct code *caller, uint32_t offset, const struct code *callee,
				uint32_t times);

/* The code's pieces, found when they are first asked for. */
const struct shape *codes_shape(struct code *code);

/* The line of an instruction, never 0: where it has none, its code's first. */
uint32_t codes_line(struct code *code, uint32_t offset);

/* The last line that an instruction of the code has; 0 where its table of lines is not known. */
uint32_t codes_last_line(struct code *code);

/* Line and columns of an instruction. */
struct py_location codes_locate(struct code *code, uint32_t offset);

#endif
