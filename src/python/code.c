/* code.c - the identity and the contents of code objects.
 *
 * The hard part is to be cheap: a sample has some twenty frames, and each
 * frame's code object must be looked at, because its address alone proves
 * nothing.  So heads are read sixteen at a time in one call, each once.
 *
 * What must hold: lengths that come from the target are compared with the
 * room that is left before anything is copied. */
#include "python/code.h"

#include <string.h>

#define BATCH 16u

/* What the fields before a code object's instructions tell. */
struct code_head {
	uint32_t identity;  /* CODE_TORN, CODE_HIDDEN or a hash */
	uint32_t units;     /* of instructions; UINT32_MAX where the layout does not say */
	uint32_t framesize; /* words; 0 where the layout does not say */
};

static uint32_t load_u32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static uint64_t load_u64(const unsigned char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static bool is_pointer(py_addr addr)
{
	return addr >= 4096 && addr < (1ull << 56) && (addr & 7) == 0;
}

/* ---- identity ---- */

static uint64_t hash_add(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ (hash >> 29);
}

static uint32_t head_framesize(const struct py_layout *layout, const unsigned char *head)
{
	if (layout->code_framesize != PY_ABSENT)
		return load_u32(head + layout->code_framesize);
	if (layout->code_stacksize != PY_ABSENT)
		return load_u32(head + layout->code_stacksize) +
		       load_u32(head + layout->code_nlocalsplus) + layout->frame_specials / 8;
	return 0;
}

/* Hashes what stays the same while a code object lives; not its reference
 * count, nor what is cached in it. */
static uint32_t head_hash(const struct py_layout *layout, const unsigned char *head, py_addr filename,
			  py_addr name)
{
	uint64_t hash = hash_add(hash_add(0, filename), name);

	hash = hash_add(hash, load_u64(head + layout->code_lines));
	hash = hash_add(hash, load_u32(head + layout->code_firstlineno));
	hash = hash_add(hash, load_u32(head + layout->code_flags));
	if (layout->code_qualname != PY_ABSENT)
		hash = hash_add(hash, load_u64(head + layout->code_qualname));
	if (layout->code_units != PY_ABSENT)
		hash = hash_add(hash, load_u64(head + layout->code_units));
	else
		hash = hash_add(hash, load_u64(head + layout->code_code));
	if (layout->code_version != PY_ABSENT)
		hash = hash_add(hash, load_u32(head + layout->code_version));
	return (uint32_t)(hash >> 32) > CODE_HIDDEN ? (uint32_t)(hash >> 32) : CODE_HIDDEN + 1;
}

static struct code_head head_parse(const struct walker *walker, const unsigned char *head)
{
	const struct py_layout *layout = walker->layout;
	py_addr type = load_u64(head + layout->object_type);
	py_addr filename = load_u64(head + layout->code_filename);
	py_addr name = load_u64(head + layout->code_name);
	struct code_head parsed = { CODE_TORN, UINT32_MAX, 0 };

	if (!is_pointer(type) || (walker->code_type != 0 && type != walker->code_type) ||
	    !is_pointer(filename) || !is_pointer(name) ||
	    !is_pointer(load_u64(head + layout->code_lines)))
		return parsed;
	parsed.framesize = head_framesize(layout, head);
	if (layout->code_units != PY_ABSENT)
		parsed.units = load_u32(head + layout->code_units);
	/* The helper's file is called like itself, and it has no line. */
	if (layout->code_units != PY_ABSENT && filename == name &&
	    load_u32(head + layout->code_firstlineno) == 0)
		parsed.identity = CODE_HIDDEN;
	else
		parsed.identity = head_hash(layout, head, filename, name);
	return parsed;
}

/* Bytes to read of a code object to have every field of its identity. */
static uint32_t head_size(const struct py_layout *layout)
{
	const uint32_t fields[] = {
		layout->code_filename, layout->code_name,  layout->code_qualname,
		layout->code_lines,    layout->code_flags, layout->code_firstlineno,
		layout->code_version,  layout->code_units, layout->code_framesize,
		layout->code_units == PY_ABSENT ? layout->code_code : PY_ABSENT,
	};
	uint32_t size = 0;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (fields[i] != PY_ABSENT && fields[i] + 8 > size)
			size = fields[i] + 8;
	}
	return size < layout->code_size ? size : layout->code_size;
}

/* Code objects whose heads are read together. */
struct batch {
	uint32_t count, limit;
	uint32_t head_size;
	py_addr codes[BATCH];
	struct code_head heads[BATCH];
};

/* The sampling signal may run on a stack of 8 KB of which the kernel's own
 * frame takes up to 4, so this must not grow. */
#define BATCH_BYTES (BATCH * 144u)

static void batch_init(struct batch *batch, const struct py_layout *layout)
{
	batch->count = 0;
	batch->head_size = head_size(layout);
	batch->limit = BATCH_BYTES / batch->head_size < BATCH ? BATCH_BYTES / batch->head_size : BATCH;
}

/* Reads the heads; where one cannot be read it is torn and the rest go on. */
static void batch_read(const struct walker *walker, struct batch *batch)
{
	unsigned char bytes[BATCH_BYTES];
	struct iovec dst[BATCH], src[BATCH];
	uint32_t done = 0;

	for (uint32_t i = 0; i < batch->count; i++) {
		dst[i] = (struct iovec){ bytes + i * batch->head_size, batch->head_size };
		src[i] = (struct iovec){ (void *)(uintptr_t)batch->codes[i], batch->head_size };
		batch->heads[i] = (struct code_head){ CODE_TORN, 0, 0 };
	}
	while (done < batch->count) {
		size_t got = walker->reader->read_many(walker->reader, dst + done, src + done,
						       batch->count - done);

		for (size_t i = 0; i < got; i++, done++)
			batch->heads[done] = head_parse(walker, dst[done].iov_base);
		done++;
	}
}

/* What is known of a stack when its frames are looked at one by one. */
struct stack_check {
	bool has_begun;   /* the innermost frame runs; before that its caller may be stale */
	bool is_topmost;  /* no frame of the frame stack has been seen yet */
};

/* Whether the frame can be one of this code object.  On the frame stack a
 * frame needs its size, and until the innermost has begun there is nothing
 * between two of them that could be left out (later there may be: some
 * compilers of Python code keep frames there that are not linked). */
static bool frame_fits(struct stack_check *check, const struct walk_frame *frame,
		       const struct code_head *head)
{
	bool is_topmost = check->is_topmost;

	if (head->units != UINT32_MAX && frame->offset > (uint64_t)head->units * 2)
		return false;
	if (frame->room == 0 || head->framesize == 0)
		return true;
	check->is_topmost = false;
	return check->has_begun || is_topmost ? head->framesize <= frame->room
					      : head->framesize == frame->room;
}

/* Which place of the batch holds the code, or BATCH. */
static uint32_t batch_find(const struct batch *batch, py_addr code)
{
	for (uint32_t i = 0; i < batch->count; i++) {
		if (batch->codes[i] == code)
			return i;
	}
	return BATCH;
}

void code_identities(const struct walker *walker, const struct walk_frame *frames, uint32_t count,
		     uint32_t *identities)
{
	struct stack_check check = { .has_begun = count > 0 && frames[0].offset > 0,
				     .is_topmost = true };
	uint32_t start = 0;

	while (start < count) {
		struct batch batch;
		uint32_t end = start;

		batch_init(&batch, walker->layout);

		/* As many frames as one batch of different code objects serves:
		 * all of a recursion. */
		for (; end < count; end++) {
			if (batch_find(&batch, frames[end].code) != BATCH)
				continue;
			if (batch.count == batch.limit)
				break;
			batch.codes[batch.count++] = frames[end].code;
		}
		batch_read(walker, &batch);
		for (; start < end; start++) {
			const struct code_head *head =
				&batch.heads[batch_find(&batch, frames[start].code)];

			identities[start] = frame_fits(&check, &frames[start], head) ? head->identity
										     : CODE_TORN;
		}
	}
}

/* ---- contents ---- */

/* Room in the caller's buffer. */
struct room {
	unsigned char *at;
	size_t left;
};

#define NAME_BYTES_MAX 1000u
#define NAME_COPY_BYTES 256u

/* Appends one character as UTF-8, if it fits in `left`; returns its bytes. */
static size_t utf8_put(uint32_t character, unsigned char *to, size_t left)
{
	size_t size = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;

	if (size > left)
		return 0;
	if (size == 1) {
		to[0] = (unsigned char)character;
		return 1;
	}
	for (size_t i = size - 1; i > 0; i--, character >>= 6)
		to[i] = (unsigned char)(0x80 | (character & 0x3f));
	to[0] = (unsigned char)((0xf00u >> size & 0xff) | character);
	return size;
}

/* What cannot be said in UTF-8 is replaced. */
static uint32_t character_valid(uint32_t character)
{
	bool is_surrogate = character >= 0xd800 && character < 0xe000;

	return is_surrogate || character > 0x10ffff ? 0xfffd : character;
}

/* Converts the characters at addr, `kind` bytes each, into room as UTF-8.  The
 * text is cut where NAME_BYTES_MAX or the room ends, between characters. */
static bool text_copy(const struct mem_reader *reader, py_addr addr, uint64_t length, uint32_t kind,
		      struct room *room, uint32_t *size)
{
	unsigned char part[NAME_COPY_BYTES];
	size_t max = room->left < NAME_BYTES_MAX ? room->left : NAME_BYTES_MAX;
	size_t used = 0;
	bool is_full = false;

	while (length > 0 && !is_full) {
		uint64_t many = length < sizeof(part) / kind ? length : sizeof(part) / kind;

		if (!reader->read(reader, addr, part, many * kind))
			return false;
		for (uint64_t i = 0; i < many && !is_full; i++) {
			uint32_t character = 0;
			size_t put;

			memcpy(&character, part + i * kind, kind); /* little-endian */
			put = utf8_put(character_valid(character), room->at + used, max - used);
			is_full = put == 0;
			used += put;
		}
		addr += many * kind;
		length -= many;
	}
	room->at += used;
	room->left -= used;
	*size = (uint32_t)used;
	return true;
}

/* Copies a str object as UTF-8. */
static bool unicode_copy(const struct walker *walker, py_addr addr, struct room *room,
			 const char **text, uint32_t *size)
{
	const struct py_layout *layout = walker->layout;
	unsigned char head[128];
	uint64_t length;
	uint32_t state, kind;
	bool is_compact, is_ascii;

	if (!is_pointer(addr) || layout->unicode_ascii_data > sizeof(head) ||
	    !walker->reader->read(walker->reader, addr, head, layout->unicode_ascii_data))
		return false;
	length = load_u64(head + layout->unicode_length);
	state = load_u32(head + layout->unicode_state) >> layout->unicode_kind_shift;
	kind = state & 7;
	is_compact = state & 8;
	is_ascii = state & 16;
	if (!is_compact || (kind != 1 && kind != 2 && kind != 4) || length > 1u << 30)
		return false;
	*text = (const char *)room->at;
	addr += is_ascii ? layout->unicode_ascii_data : layout->unicode_compact_data;
	return text_copy(walker->reader, addr, length, kind, room, size);
}

/* Copies size bytes into room, or fails. */
static bool bytes_take(const struct walker *walker, py_addr addr, uint64_t size, struct room *room,
		       const unsigned char **data, uint32_t *data_size)
{
	if (size > room->left || !walker->reader->read(walker->reader, addr, room->at, size))
		return false;
	*data = room->at;
	*data_size = (uint32_t)size;
	room->at += size;
	room->left -= size;
	return true;
}

/* Copies what a bytes object holds. */
static bool bytes_copy(const struct walker *walker, py_addr addr, struct room *room,
		       const unsigned char **data, uint32_t *size)
{
	const struct py_layout *layout = walker->layout;
	uint64_t length;

	if (!is_pointer(addr) || !walker->reader->read(walker->reader, addr + layout->bytes_length,
						       &length, sizeof(length)))
		return false;
	return bytes_take(walker, addr + layout->bytes_data, length, room, data, size);
}

bool code_read(const struct walker *walker, py_addr addr, void *buffer, size_t size,
	       struct code_info *info)
{
	const struct py_layout *layout = walker->layout;
	struct room room = { buffer, size < UINT32_MAX ? size : UINT32_MAX };
	struct code_info made = { 0 };
	unsigned char head[CODE_HEAD_MAX];
	uint32_t name = layout->code_qualname != PY_ABSENT ? layout->code_qualname
							   : layout->code_name;

	if (!is_pointer(addr) || layout->code_size > sizeof(head) ||
	    !walker->reader->read(walker->reader, addr, head, layout->code_size) ||
	    head_parse(walker, head).identity <= CODE_HIDDEN)
		return false;
	made.first_line = load_u32(head + layout->code_firstlineno);
	made.flags = load_u32(head + layout->code_flags);
	if (!unicode_copy(walker, load_u64(head + layout->code_filename), &room, &made.filename,
			  &made.filename_size) ||
	    !unicode_copy(walker, load_u64(head + name), &room, &made.qualname,
			  &made.qualname_size) ||
	    !bytes_copy(walker, load_u64(head + layout->code_lines), &room, &made.lines,
			&made.lines_size))
		return false;
	if (layout->code_units != PY_ABSENT) {
		uint64_t units = load_u64(head + layout->code_units);

		if (units > UINT32_MAX / 2 || !bytes_take(walker, addr + layout->code_code, units * 2,
							  &room, &made.bytecode,
							  &made.bytecode_size))
			return false;
	} else if (!bytes_copy(walker, load_u64(head + layout->code_code), &room, &made.bytecode,
			       &made.bytecode_size)) {
		return false;
	}
	*info = made;
	return true;
}
