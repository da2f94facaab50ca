/* shape.h - the straight pieces that a code object is made of.
 *
 * A piece goes from behind one jump to the next jump, which is its last
 * instruction: what stands in it runs equally often (classify.h).  Straight code
 * without end (generated, or a long script's) is cut: in a piece of ten thousand
 * loads any sample would stand out against its neighbours.  Bytecode has
 * to be read from its start, since instructions have inline caches behind them,
 * and is asked about with every sample; so it is read once. */
#ifndef HEATLINE_COLLECT_SHAPE_H
#define HEATLINE_COLLECT_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "python/opcodes.h"

struct shape_piece {
	uint32_t end;   /* its last unit; UINT32_MAX: the rest of the code */
	uint32_t loads; /* how many loads' time its short instructions take at the least */
	uint32_t operators; /* how many may be long, calls and jumps apart */
};

/* Instructions are counted in units of two bytes, caches too. */
struct shape {
	struct shape_piece *pieces; /* owned; by end, the last one is the rest */
	uint32_t count;
	unsigned char starts[]; /* a bit for each unit: an instruction begins here */
};

struct shape *shape_new(unsigned version, const unsigned char *bytecode, uint32_t size);
void shape_free(struct shape *shape);

/* The piece that holds what runs as often as unit `op`, and its first unit.  A
 * jump itself is jumped to (the head of a for loop), so it goes with what follows. */
const struct shape_piece *shape_find(const struct shape *shape, uint32_t op, uint32_t *first);

static inline bool shape_is_start(const struct shape *shape, uint32_t op)
{
	return (shape->starts[op / 8] >> (op % 8) & 1) != 0;
}

/* How many loads' time a short instruction takes at the least; 0: it may be long. */
uint32_t shape_loads(enum py_op_kind kind);

/* Whether an instruction is one of a piece's operators. */
bool shape_is_operator(unsigned version, uint8_t opcode);

#endif
