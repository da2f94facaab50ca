/* shape.c - see shape.h. */
#include "collect/shape.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"

/* A lookup of a name takes several loads' time at the least. */
#define LOOKUP_LOADS 4u

/* A piece ends where it has so many. */
#define PIECE_LOADS 200u

uint32_t shape_loads(enum py_op_kind kind)
{
	return kind == PY_OP_TRIVIAL ? 1 : kind == PY_OP_LOOKUP ? LOOKUP_LOADS : 0;
}

bool shape_is_operator(unsigned version, uint8_t opcode)
{
	return py_op_kind(version, opcode) == PY_OP_OTHER && !py_op_is_jump(version, opcode);
}

struct shape *shape_new(unsigned version, const unsigned char *bytecode, uint32_t size)
{
	uint32_t ops = size / 2, room = 0, loads = 0, operators = 0;
	struct shape *shape = mem_zalloc(1, sizeof(*shape) + ops / 8 + 1);
	for (uint32_t i = 0; i < ops; i += 1 + py_op_caches(version, bytecode[i * 2])) {
		uint8_t opcode = bytecode[i * 2];
		shape->starts[i / 8] |= (unsigned char)(1u << (i % 8));
		loads += shape_loads(py_op_kind(version, opcode));
		operators += shape_is_operator(version, opcode);
		if (!py_op_is_jump(version, opcode) && loads < PIECE_LOADS)
			continue;
		vec_reserve(shape->pieces, room, shape->count);
		shape->pieces[shape->count++] = (struct shape_piece){i, loads, operators};
		loads = operators = 0;
	}
	vec_reserve(shape->pieces, room, shape->count);
	shape->pieces[shape->count++] = (struct shape_piece){UINT32_MAX, loads, operators};
	return shape;
}

void shape_free(struct shape *shape)
{
	if (shape == NULL)
		return;
	free(shape->pieces);
	free(shape);
}

const struct shape_piece *shape_find(const struct shape *shape, uint32_t op, uint32_t *first)
{
	/* The first piece that ends behind op. */
	uint32_t low = 0, high = shape->count - 1;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (shape->pieces[middle].end > op)
			high = middle;
		else
			low = middle + 1;
	}
	*first = low == 0 ? 0 : shape->pieces[low - 1].end + 1;
	return &shape->pieces[low];
}
