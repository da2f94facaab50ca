/* evaluator.h - which part of an interpreter's own code does what, where C code calls Python.
 *
 * sorted() with a key spends its time in calling the key, in sorting, and in what both need,
 * such as memory; the Python frame is the same for all, and so is the instruction, a call to C.
 * The program counter tells them apart.  Functions are known by their names, or, in a file that was stripped
 * of them, by who refers to them (nameless.h). */
#ifndef HEATLINE_REMOTE_EVALUATOR_H
#define HEATLINE_REMOTE_EVALUATOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

enum evaluator_part {
	EVALUATOR_NONE,    /* any other function, such as those that sort */
	EVALUATOR_ENTERING, /* calls of Python functions, their frames and generators */
	EVALUATOR_LOOP,    /* the evaluation loop: the instructions themselves */
	EVALUATOR_RUNNING, /* calls of any functions */
	EVALUATOR_CHORES, /* memory, arguments: for calls as well as for others */
	EVALUATOR_READING, /* like any other for calls; looks up, hashes, takes an item or attribute, compares
			      two: a step of one short operation, and where that waits for memory */
};

/* Some bytes of a file. */
struct evaluator_piece {
	uint64_t start, end; /* offsets */
	enum evaluator_part part;
};

/* All zero: nothing is known. */
struct evaluator {
	VEC(struct evaluator_piece) pieces; /* by offset; they do not overlap */
	bool is_complete; /* what is in no piece is no such function */
	bool has_names;   /* by the names of all; else those that read are not known */
};

/* Reads the names of a file that the process has mapped; there are no pieces when it cannot be
 * read, or is no interpreter. */
void evaluator_read(struct evaluator *evaluator, pid_t pid, const char *path);
void evaluator_fini(struct evaluator *evaluator);

/* What lies there in the file. */
enum evaluator_part evaluator_find(const struct evaluator *evaluator, uint64_t offset);

/* What a function of this name is; what compilers append (".cold") does not matter. */
enum evaluator_part evaluator_part_of(const char *name);

#endif
