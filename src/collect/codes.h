/* codes.h - the code objects of a run, each kept once, whoever sent it.
 *
 * Every process has ids of its own, the same module is loaded by each of
 * them, and a code object may be sent twice; so codes are told apart by what
 * they contain.  Beside the texts a code keeps counts per instruction, from
 * which classify.h tells long operations from short ones. */
#ifndef HEATLINE_COLLECT_CODES_H
#define HEATLINE_COLLECT_CODES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/map.h"
#include "python/code.h"
#include "python/locations.h"

#define CODES_MAX 200000u /* more is one code named "…" */

/* What was seen at one instruction (two bytes of code). */
struct op_count {
	uint32_t leaf;   /* innermost, program counter in the interpreter: who works is open */
	uint32_t native; /* innermost, program counter in an extension */
	uint32_t callee; /* called a Python function that was seen */
};

struct code {
	const char *filename; /* interned */
	const char *qualname; /* interned */
	uint32_t first_line;
	uint32_t flags;       /* co_flags */
	uint16_t version;     /* of the Python that ran it */
	bool in_scope;
	bool is_bootstrap;    /* of the import system's frozen start-up code */
	unsigned char *lines; /* owned */
	unsigned char *bytecode; /* owned */
	uint32_t lines_size, bytecode_size;
	struct op_count *ops; /* owned; bytecode_size / 2, NULL until one is counted */
	uint32_t *line_of;    /* owned; line + 1 by instruction, 0: not looked up yet */
};

struct codes {
	struct code *items; /* owned; index 0 is unused */
	uint32_t count, room;
	struct map_bytes known; /* contents to index */
	struct intern *strings; /* borrowed */
};

void codes_init(struct codes *codes, struct intern *strings);
void codes_fini(struct codes *codes);

/* The index of a code with these contents; *is_new says whether it was made
 * (in_scope is then to be set).  The contents are copied. */
uint32_t codes_add(struct codes *codes, const struct code_info *info, unsigned version,
		   bool *is_new);

/* The counts at a byte offset, or NULL when it lies outside the code. */
struct op_count *codes_op(struct code *code, uint32_t offset);

/* The line of an instruction, never 0: where it has none, its code's first. */
uint32_t codes_line(struct code *code, uint32_t offset);

/* Line and columns of an instruction. */
struct py_location codes_locate(const struct code *code, uint32_t offset);

#endif
