/* codes.c - see codes.h. */
#include "collect/codes.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "python/layout.h"

void codes_init(struct codes *codes, struct intern *strings)
{
	memset(codes, 0, sizeof(*codes));
	codes->strings = strings;
	map_bytes_init(&codes->known);
	vec_reserve(codes->items, codes->room, codes->count);
	memset(&codes->items[0], 0, sizeof(codes->items[0]));
	codes->count = 1;
}

void code_fini(struct code *code)
{
	free(code->lines);
	free(code->bytecode);
	free(code->ops);
	free(code->locators);
	shape_free(code->shape);
}

void codes_fini(struct codes *codes)
{
	for (uint32_t i = 0; i < codes->count; i++)
		code_fini(&codes->items[i]);
	free(codes->items);
	map_bytes_fini(&codes->known);
}

/* What tells codes apart.  The bytecode is not in it: from 3.11 on the
 * interpreter rewrites it while it runs. */
static void make_key(struct buf *key, const struct code_info *info, unsigned version)
{
	uint64_t head[3] = {
		(uint64_t)version << 32 | info->first_line,
		(uint64_t)info->bytecode_size << 32 | info->filename_size,
		map_hash_bytes(info->lines, info->lines_size),
	};
	buf_append(key, head, sizeof(head));
	buf_append(key, info->filename, info->filename_size);
	buf_append(key, info->qualname, info->qualname_size);
}

uint32_t codes_add(struct codes *codes, const struct code_info *info, unsigned version, bool *is_new)
{
	static const struct code_info overflow = {
		.filename = "<more>", .filename_size = 6, .qualname = "<more>", .qualname_size = 6};
	if (codes->count >= CODES_MAX)
		info = &overflow;

	struct buf key;
	buf_init(&key, 64u << 10);
	make_key(&key, info, version);
	uint32_t *index = map_bytes_put(&codes->known, key.data, key.size, is_new);
	buf_fini(&key);
	if (!*is_new)
		return *index;

	*index = codes->count;
	struct code code = {
		.filename = intern_bytes(codes->strings, info->filename, info->filename_size),
		.qualname = intern_bytes(codes->strings, info->qualname, info->qualname_size),
		.first_line = info->first_line,
		.flags = info->flags,
		.version = (uint16_t)version,
		.lines_size = info->lines_size,
		.bytecode_size = info->bytecode_size,
	};
	code.is_maker = text_ends_with(code.qualname, "__init__") ||
			text_ends_with(code.qualname, "__new__");
	code.is_bootstrap = text_starts_with(code.filename, "<frozen importlib") ||
			    text_starts_with(code.filename, "<frozen zipimport");
	/* Those of billiard, which celery uses, and multiprocess have the same names. */
	code.is_launcher = text_ends_with(code.filename, "/popen_fork.py") &&
			   text_ends_with(code.qualname, "_launch");
	code.is_process = text_ends_with(code.filename, "/process.py") &&
			  text_ends_with(code.qualname, "_bootstrap");
	codes->has_launchers |= code.is_launcher;
	code.lines = (unsigned char *)mem_copy_bytes(info->lines, info->lines_size);
	code.bytecode = (unsigned char *)mem_copy_bytes(info->bytecode, info->bytecode_size);
	vec_reserve(codes->items, codes->room, codes->count);
	codes->items[codes->count] = code;
	return codes->count++;
}

/* --- instructions --- */

/* Where op is among those that are known, or belongs. */
static uint32_t op_place(const struct code *code, uint32_t op)
{
	uint32_t low = 0, high = code->op_count;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (code->ops[middle].op < op)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct code_op *codes_find_op(const struct code *code, uint32_t offset)
{
	uint32_t place = op_place(code, offset / 2);
	return place < code->op_count && code->ops[place].op == offset / 2 ? &code->ops[place] : NULL;
}

/* Made when missing; NULL: outside the code. */
static struct code_op *take_op(struct code *code, uint32_t offset)
{
	uint32_t op = offset / 2;
	if (op >= code->bytecode_size / 2)
		return NULL;
	uint32_t place = op_place(code, op);
	if (place < code->op_count && code->ops[place].op == op)
		return &code->ops[place];
	vec_reserve(code->ops, code->op_room, code->op_count);
	memmove(&code->ops[place + 1], &code->ops[place],
		(code->op_count - place) * sizeof(*code->ops));
	code->ops[place] = (struct code_op){.op = op};
	code->op_count++;
	return &code->ops[place];
}

struct code_op *codes_count(struct code *code, uint32_t offset)
{
	struct code_op *op = take_op(code, offset);
	code->is_counted = code->is_counted || op != NULL;
	return op;
}

/* --- lines --- */

/* Versions that publish their offsets have no row, and all the same kind. */
static enum py_line_kind line_kind(unsigned version)
{
	const struct py_layout *layout = py_layout_known(version);
	return layout ? (enum py_line_kind)layout->line_kind : PY_LINES_LOCATIONS;
}

/* Bytes of code between two places at which reading can begin.  The table of a module that is
 * all data has a megabyte, and is asked for each of its instructions that was met. */
#define LOCATOR_STEP 4096u

static void make_locators(struct code *code)
{
	uint32_t count = code->bytecode_size / LOCATOR_STEP + 1;
	code->locators = mem_zalloc(count, sizeof(*code->locators));
	py_locator_init(&code->locators[0], line_kind(code->version), code->lines, code->lines_size,
			(int32_t)code->first_line);
	for (uint32_t i = 1; i < count; i++) {
		code->locators[i] = code->locators[i - 1];
		py_locator_find(&code->locators[i], i * LOCATOR_STEP);
	}
}

struct py_location codes_locate(struct code *code, uint32_t offset)
{
	if (code->locators == NULL)
		make_locators(code);
	uint32_t last = code->bytecode_size / LOCATOR_STEP;
	uint32_t part = offset / LOCATOR_STEP;
	struct py_locator locator = code->locators[part < last ? part : last];
	return py_locator_find(&locator, offset);
}

uint32_t codes_last_line(struct code *code)
{
	if (code->last_line == 0 && code->lines_size > 0)
		code->last_line = py_last_line(line_kind(code->version), code->lines, code->lines_size,
					       code->first_line);
	return code->last_line;
}

const struct shape *codes_shape(struct code *code)
{
	if (code->shape == NULL)
		code->shape = shape_new(code->version, code->bytecode, code->bytecode_size);
	return code->shape;
}

uint32_t codes_op_start(struct code *code, uint32_t offset)
{
	const struct shape *shape = codes_shape(code);
	uint32_t op = offset / 2;
	while (op > 0 && !shape_is_start(shape, op))
		op--;
	return op * 2;
}

uint32_t codes_call_start(struct code *code, uint32_t offset)
{
	bool is_left_behind = code->version == 0x030b || code->version == 0x030c;
	return is_left_behind && offset < code->bytecode_size ? codes_op_start(code, offset) : offset;
}

struct code_op *codes_note_call(struct code *caller, uint32_t offset, const struct code *callee,
				uint32_t times)
{
	struct code_op *op = codes_count(caller, codes_call_start(caller, offset));
	if (op != NULL) {
		op->callee += times;
		op->makes |= callee->is_maker;
	}
	return op;
}

uint32_t codes_line(struct code *code, uint32_t offset)
{
	struct code_op *op = take_op(code, offset);
	if (op == NULL)
		return code->first_line;
	if (op->line == 0) {
		struct py_location where = codes_locate(code, offset);
		uint32_t line = where.line > 0 ? (uint32_t)where.line : code->first_line;
		op->line = 1 + (line < UINT32_MAX - 1 ? line : 0);
	}
	return op->line - 1;
}
