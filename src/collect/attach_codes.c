/* attach_codes.c - the code objects of an attached process, by their addresses. */
#include "collect/attach_parts.h"
#include "collect/process.h"

/* A code object's address can be another's when it is freed and its place used
 * again; so each is looked at anew from time to time. */
#define CODE_CHECK_NS 50000000u

struct attach_code *attach_find_code(struct attach_process *process, py_addr address)
{
	const uint64_t *index = map_get(&process->code_index, address);
	return index == NULL ? NULL : &process->codes.items[*index];
}

static struct attach_code *add_code(struct attach_process *process, py_addr address)
{
	bool is_new;
	uint64_t *index = map_put(&process->code_index, address, &is_new);
	if (is_new) {
		*index = process->codes.count;
		vec_push(&process->codes, ((struct attach_code){.address = address}));
	}
	return &process->codes.items[*index];
}

/* The interpreter rewrites its instructions as it learns (3.11): the newest
 * tell best who works. */
static void refresh_bytecode(struct attach *attach, struct attach_process *process,
			     const struct attach_code *known)
{
	const struct py_layout *layout = &process->remote.layout;
	struct code *code = &attach->collector->codes.items[known->code];
	if (layout->code_units != PY_ABSENT && code->bytecode_size > 0)
		process->remote.reader.read(&process->remote.reader, known->address + layout->code_code,
					    code->bytecode, code->bytecode_size);
}

/* Where the instructions are: in the code object, or in bytes of its own (before 3.11). */
static py_addr find_bytecode(struct attach_process *process, py_addr address)
{
	const struct py_layout *layout = &process->remote.layout;
	py_addr bytes = 0;
	if (layout->code_units != PY_ABSENT)
		return address + layout->code_code;
	if (!process->remote.reader.read(&process->remote.reader, address + layout->code_code, &bytes, sizeof(bytes)) ||
	    bytes == 0)
		return 0;
	return bytes + layout->bytes_data;
}

static void learn_code(struct attach *attach, struct attach_process *process, py_addr address,
		       uint32_t identity, uint64_t now_ns)
{
	struct attach_code *known = add_code(process, address);
	struct code_info info;
	if (known->identity != identity) {
		known->identity = CODE_TORN;
		if (identity == CODE_HIDDEN) {
			known->identity = identity;
		} else if (identity != CODE_TORN &&
			   processes_read_code(attach->collector, &process->remote.walker, address,
					       &info)) {
			known->code = processes_add_code(attach->collector, process->process, &info);
			known->identity = identity;
			known->bytecode = find_bytecode(process, address);
			process->has_new_codes = true;
		}
	} else if (identity > CODE_HIDDEN) {
		refresh_bytecode(attach, process, known);
	}
	known->check_ns = now_ns + CODE_CHECK_NS;
}

void attach_check_codes(struct attach *attach, struct attach_process *process, uint32_t count,
			uint64_t now_ns)
{
	bool is_needed = false;
	for (uint32_t i = 0; i < count && !is_needed; i++) {
		const struct attach_code *known = attach_find_code(process, attach->frames[i].code);
		is_needed = known == NULL || known->check_ns < now_ns || known->identity == CODE_TORN;
	}
	if (!is_needed)
		return;
	/* The frames are as they were a moment ago; the code objects are asked now. */
	code_identities(&process->remote.walker, attach->frames, count, attach->identities);
	for (uint32_t i = 0; i < count; i++) {
		const struct attach_code *known = attach_find_code(process, attach->frames[i].code);
		if (known == NULL || known->check_ns < now_ns || known->identity == CODE_TORN)
			learn_code(attach, process, attach->frames[i].code, attach->identities[i], now_ns);
	}
}
