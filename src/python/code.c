/* code.c - the identity and the contents of code objects.
 *
 * The hard part is to be cheap: a sample has some twenty frames, and each
 * frame's code object must be looked at, because its address alone proves
 * nothing.  So heads are read a dozen at a time in one call, each once.
 *
 * What must hold: lengths that come from the target are compared with the
 * room that is left before anything is copied. */
#include "python/code.h"

#include "python/ahead.h"
#include "python/bits.h"
#include "python/objects.h"

#define BATCH 12u
#define KNOWN_BITS 7u

/* What the fields before a code object's instructions tell. */
struct code_head {
	uint32_t identity;  /* CODE_TORN, CODE_HIDDEN or a hash */
	uint32_t units;     /* of instructions; UINT32_MAX where the layout does not say */
	uint32_t framesize; /* words; 0 where the layout does not say */
	bool is_generator;  /* its frames are those of a generator or coroutine */
};

#define PART_MAX (64u << 20) /* instructions or lines of a code object; more is none */
#define FLAGS_GENERATOR (0x20u | 0x80u | 0x200u) /* of co_flags; generator, coroutine, both */

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
	struct code_head parsed = { .identity = CODE_TORN, .units = UINT32_MAX };

	if (!is_pointer(type) || (walker->code_type != 0 && type != walker->code_type) ||
	    !is_pointer(filename) || !is_pointer(name) ||
	    !is_pointer(load_u64(head + layout->code_lines)))
		return parsed;
	parsed.framesize = head_framesize(layout, head);
	parsed.is_generator = load_u32(head + layout->code_flags) & FLAGS_GENERATOR;
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
	batch->limit = BATCH_BYTES / batch->head_size;
	if (batch->limit > BATCH)
		batch->limit = BATCH;
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
		batch->heads[i] = (struct code_head){ .identity = CODE_TORN };
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

/* What was read for earlier frames of the same stack, in little room: the
 * identity is that of the frame. */
struct known {
	uint16_t frame; /* its index plus one; 0: none */
	uint16_t framesize;
	uint32_t units : 31;
	uint32_t is_generator : 1;
};

/* The stack whose code objects are looked up. */
struct lookup {
	const struct walk_frame *frames;
	const uint32_t *identities;
	struct known known[1u << KNOWN_BITS];
};

static struct known *known_place(struct lookup *lookup, py_addr code)
{
	return &lookup->known[(code >> 4) * 0x9e3779b97f4a7c15ull >> (64 - KNOWN_BITS)];
}

/* The head of a code object, from what is known or from the batch. */
static bool head_find(struct lookup *lookup, const struct batch *batch, py_addr code,
		      struct code_head *head)
{
	const struct known *known = known_place(lookup, code);
	uint32_t place;

	if (known->frame != 0 && lookup->frames[known->frame - 1].code == code) {
		*head = (struct code_head){ lookup->identities[known->frame - 1], known->units,
					    known->framesize, known->is_generator };
		return true;
	}
	place = batch_find(batch, code);
	if (place != BATCH)
		*head = batch->heads[place];
	return place != BATCH;
}

/* Notes what the head of frames[at] says, if it fits in. */
static void known_add(struct lookup *lookup, uint32_t at, const struct code_head *head)
{
	if (at < UINT16_MAX && head->framesize <= UINT16_MAX)
		*known_place(lookup, lookup->frames[at].code) = (struct known){
			(uint16_t)(at + 1), (uint16_t)head->framesize,
			head->units < INT32_MAX ? head->units : INT32_MAX, head->is_generator };
}

/* Fills the batch with code objects whose heads are not at hand, from frame
 * `at` on; returns the first frame that it does not serve. */
static uint32_t batch_fill(struct batch *batch, struct lookup *lookup, uint32_t at, uint32_t count)
{
	struct code_head head;

	for (; at < count; at++) {
		if (head_find(lookup, batch, lookup->frames[at].code, &head))
			continue;
		if (batch->count == batch->limit)
			break;
		batch->codes[batch->count++] = lookup->frames[at].code;
	}
	return at;
}

void code_identities(const struct walker *walker, const struct walk_frame *frames, uint32_t count,
		     uint32_t *identities)
{
	struct stack_check check = { .has_begun = count > 0 && frames[0].offset > 0,
				     .is_topmost = true };
	struct lookup lookup = { .frames = frames, .identities = identities };
	uint32_t at = 0;

	while (at < count) {
		struct batch batch;
		uint32_t end;

		batch_init(&batch, walker->layout);
		end = batch_fill(&batch, &lookup, at, count);
		batch_read(walker, &batch);
		for (uint32_t i = at; i < end; i++) {
			struct code_head head = { .identity = CODE_TORN };
			bool is_fit = head_find(&lookup, &batch, frames[i].code, &head) &&
				      frame_fits(&check, &frames[i], &head);

			/* A generator is resumed by someone.  3.9 and 3.10 forget
			 * by whom while they throw into one.  (The coroutines of a
			 * waiting task are no entries.) */
			if (walker->layout->frame_kind == PY_FRAME_OBJECT && i + 1 == count &&
			    count < WALK_MAX_FRAMES && frames[i].is_entry && head.is_generator)
				is_fit = false;
			identities[i] = is_fit ? head.identity : CODE_TORN;
		}
		for (uint32_t i = 0; i < batch.count; i++, at++) {
			while (frames[at].code != batch.codes[i])
				at++;
			known_add(&lookup, at, &batch.heads[i]);
		}
		at = end;
	}
}

uint32_t code_identity(const struct walker *walker, const void *code, bool *is_generator)
{
	struct code_head head = head_parse(walker, code);

	*is_generator = head.is_generator;
	return head.identity;
}

/* ---- contents ---- */

/* Copies a bytes object; one that does not fit in is left out, if it can be one at all. */
static bool copy_part(const struct walker *walker, py_addr addr, struct object_room *room,
		      const unsigned char **data, uint32_t *size, bool *is_cut)
{
	uint64_t length;

	if (object_copy_bytes(walker, addr, room, data, size))
		return true;
	*data = room->at;
	*is_cut = true;
	return is_pointer(addr) &&
	       walker->reader->read(walker->reader, addr + walker->layout->bytes_length, &length,
				    sizeof(length)) &&
	       length > room->left && length <= PART_MAX;
}

/* The address of the str that names the code. */
static py_addr name_of(const struct py_layout *layout, const unsigned char *head)
{
	return load_u64(head + (layout->code_qualname != PY_ABSENT ? layout->code_qualname
								   : layout->code_name));
}

static bool copy_bytecode(const struct walker *walker, py_addr addr, const unsigned char *head,
			  struct object_room *room, struct code_info *info)
{
	const struct py_layout *layout = walker->layout;

	if (layout->code_units == PY_ABSENT)
		return copy_part(walker, load_u64(head + layout->code_code), room, &info->bytecode,
				 &info->bytecode_size, &info->is_cut);
	uint64_t units = load_u64(head + layout->code_units);

	info->bytecode = room->at;
	info->is_cut |= units * 2 > room->left;
	if (units > PART_MAX / 2)
		return false;
	return units * 2 > room->left ||
	       object_copy_memory(walker, addr + layout->code_code, units * 2, room, &info->bytecode,
				  &info->bytecode_size);
}

static bool copy_parts(const struct walker *walker, py_addr addr, const unsigned char *head,
		       struct object_room *room, struct code_info *info)
{
	const struct py_layout *layout = walker->layout;

	return object_copy_str(walker, load_u64(head + layout->code_filename), room, &info->filename,
			       &info->filename_size) &&
	       object_copy_str(walker, name_of(layout, head), room, &info->qualname,
			       &info->qualname_size) &&
	       copy_part(walker, load_u64(head + layout->code_lines), room, &info->lines,
			 &info->lines_size, &info->is_cut) &&
	       copy_bytecode(walker, addr, head, room, info);
}

/* Enough for most code objects: with what they point to in one call, where each part needs two. */
#define AHEAD_NAME 256u
#define AHEAD_PART 1536u
#define AHEAD_BYTES (2u * AHEAD_NAME + 2u * AHEAD_PART)

/* The room for it is taken from the end of the buffer. */
static void load_ahead(struct ahead *ahead, const struct py_layout *layout, py_addr addr,
		       const unsigned char *head, struct object_room *room)
{
	unsigned char *to = room->at + (room->left -= AHEAD_BYTES);
	bool is_inline = layout->code_units != PY_ABSENT;

	ahead_want(ahead, load_u64(head + layout->code_filename), AHEAD_NAME, to);
	ahead_want(ahead, name_of(layout, head), AHEAD_NAME, to + AHEAD_NAME);
	ahead_want(ahead, load_u64(head + layout->code_lines), AHEAD_PART, to + 2 * AHEAD_NAME);
	ahead_want(ahead, is_inline ? addr + layout->code_code : load_u64(head + layout->code_code),
		   AHEAD_PART, to + 2 * AHEAD_NAME + AHEAD_PART);
	ahead_load(ahead);
}

bool code_read(const struct walker *walker, py_addr addr, void *buffer, size_t size,
	       struct code_info *info)
{
	const struct py_layout *layout = walker->layout;
	struct object_room room = { buffer, size < UINT32_MAX ? size : UINT32_MAX };
	struct code_info made = { 0 };
	struct walker through = *walker;
	unsigned char head[CODE_HEAD_MAX];
	struct ahead ahead;

	if (!is_pointer(addr) || layout->code_size > sizeof(head) ||
	    !walker->reader->read(walker->reader, addr, head, layout->code_size) ||
	    head_parse(walker, head).identity <= CODE_HIDDEN)
		return false;
	made.first_line = load_u32(head + layout->code_firstlineno);
	made.flags = load_u32(head + layout->code_flags);
	/* Where a read is a system call, and there is room enough. */
	if (walker->reader->pid > 0 && room.left >= 8 * AHEAD_BYTES) {
		ahead_init(&ahead, walker->reader);
		load_ahead(&ahead, layout, addr, head, &room);
		through.reader = &ahead.reader;
	}
	if (!copy_parts(&through, addr, head, &room, &made))
		return false;
	*info = made;
	return true;
}
