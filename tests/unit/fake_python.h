/* fake_python.h - a byte array that stands for a Python process.
 *
 * Addresses run from FAKE_BASE on; everything is zero until it is put there. */
#ifndef HEATLINE_TESTS_FAKE_PYTHON_H
#define HEATLINE_TESTS_FAKE_PYTHON_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "python/code.h"
#include "python/layout.h"
#include "python/reader.h"
#include "python/walk.h"

#define FAKE_BASE 0x100000u
#define FAKE_SIZE (1u << 20)

/* Where the tests put things. */
#define FAKE_TSTATE (FAKE_BASE + 0x1000u)
#define FAKE_CFRAME (FAKE_BASE + 0x3000u)
#define FAKE_CODE (FAKE_BASE + 0x4000u)   /* code objects, 0x400 apart */
#define FAKE_CHUNK (FAKE_BASE + 0x8000u)  /* the frame stack */
#define FAKE_OLDER (FAKE_BASE + 0x10000u) /* the chunk before it */
#define FAKE_HEAP (FAKE_BASE + 0x20000u)  /* generators, entry frames, frame objects */
#define FAKE_TYPE (FAKE_BASE + 0x800u)

/* Of the first code object, as fake_put_code makes it. */
#define FAKE_FILENAME (FAKE_HEAP + 0x10000u)
#define FAKE_NAME (FAKE_HEAP + 0x10100u)
#define FAKE_LINES (FAKE_HEAP + 0x11000u)

struct fake {
	unsigned char *bytes;
	struct mem_reader reader;
	struct py_layout layout;
	struct walker walker;
	struct walk_scratch scratch;
	struct walk_frame frames[WALK_MAX_FRAMES];
	uint32_t identities[WALK_MAX_FRAMES];
	uint32_t count;
};

static inline void fake_put(struct fake *fake, py_addr addr, uint64_t value)
{
	memcpy(fake->bytes + (addr - FAKE_BASE), &value, 8);
}

static inline void fake_put32(struct fake *fake, py_addr addr, uint32_t value)
{
	memcpy(fake->bytes + (addr - FAKE_BASE), &value, 4);
}

static inline void fake_put8(struct fake *fake, py_addr addr, uint8_t value)
{
	fake->bytes[addr - FAKE_BASE] = value;
}

/* A process of a version before 3.13, or one that is like 3.12 with the frames
 * of 3.13. */
static inline struct fake *fake_new(unsigned version)
{
	struct fake *fake = calloc(1, sizeof(*fake));

	assert_non_null(fake);
	fake->bytes = calloc(1, FAKE_SIZE);
	assert_non_null(fake->bytes);
	fake->layout = *py_layout_known(version == 0x030d ? 0x030c : version);
	if (version == 0x030d)
		fake->layout.frame_kind = PY_FRAME_INTERPRETER;
	mem_reader_init_bytes(&fake->reader, fake->bytes, FAKE_SIZE, FAKE_BASE);
	fake->walker = (struct walker){ .reader = &fake->reader, .layout = &fake->layout,
					 .code_type = FAKE_TYPE };
	return fake;
}

static inline void fake_free(struct fake *fake)
{
	free(fake->bytes);
	free(fake);
}

static inline py_addr fake_code(uint32_t index)
{
	return FAKE_CODE + index * 0x400u;
}

/* A code object with room for 0x100 units and a frame of `words` words. */
static inline py_addr fake_put_code(struct fake *fake, uint32_t index, uint32_t words)
{
	const struct py_layout *layout = &fake->layout;
	py_addr code = fake_code(index);

	fake_put(fake, code + layout->object_type, FAKE_TYPE);
	fake_put(fake, code + layout->code_filename, FAKE_HEAP + 0x10000);
	fake_put(fake, code + layout->code_name, FAKE_HEAP + 0x10100 + index * 0x100);
	fake_put(fake, code + layout->code_lines, FAKE_HEAP + 0x11000 + index * 0x100);
	fake_put32(fake, code + layout->code_firstlineno, 10 * index + 1);
	if (layout->code_qualname != PY_ABSENT)
		fake_put(fake, code + layout->code_qualname,
			 FAKE_HEAP + 0x10100 + index * 0x100);
	if (layout->code_units != PY_ABSENT)
		fake_put(fake, code + layout->code_units, 0x80);
	if (layout->code_framesize != PY_ABSENT)
		fake_put32(fake, code + layout->code_framesize, words);
	return code;
}

/* A str object: kind is the bytes of a character. */
static inline void fake_put_str(struct fake *fake, py_addr addr, uint32_t kind, bool is_ascii,
				const void *text, uint32_t length)
{
	const struct py_layout *layout = &fake->layout;
	py_addr data = addr + (is_ascii ? layout->unicode_ascii_data : layout->unicode_compact_data);

	fake_put(fake, addr + layout->unicode_length, length);
	fake_put32(fake, addr + layout->unicode_state,
		   kind << layout->unicode_kind_shift | 8u << layout->unicode_kind_shift |
			   (is_ascii ? 16u << layout->unicode_kind_shift : 0));
	memcpy(fake->bytes + (data - FAKE_BASE), text, length * kind);
}

static inline void fake_put_bytes(struct fake *fake, py_addr addr, const void *data, uint64_t length)
{
	fake_put(fake, addr + fake->layout.bytes_length, length);
	if (length < 4096)
		memcpy(fake->bytes + (addr + fake->layout.bytes_data - FAKE_BASE), data, length);
}

/* A process with a code object "run" of prog.py, at fake_code(0). */
static inline struct fake *fake_new_code(unsigned version)
{
	struct fake *fake = fake_new(version);

	fake_put_code(fake, 0, 20);
	fake_put_str(fake, FAKE_FILENAME, 1, true, "prog.py", 7);
	fake_put_str(fake, FAKE_NAME, 1, true, "run", 3);
	fake_put_bytes(fake, FAKE_LINES, "\1\2\3", 3);
	if (fake->layout.code_units == PY_ABSENT) {
		fake_put(fake, fake_code(0) + fake->layout.code_code, FAKE_LINES + 0x80);
		fake_put_bytes(fake, FAKE_LINES + 0x80, "abcd", 4);
	}
	return fake;
}

/* A frame of 3.12 and later at addr. */
static inline void fake_put_frame(struct fake *fake, py_addr addr, py_addr code, uint32_t offset,
				  uint8_t owner, py_addr previous)
{
	const struct py_layout *layout = &fake->layout;

	fake_put(fake, addr + layout->frame_code, code);
	fake_put(fake, addr + layout->frame_previous, previous);
	fake_put(fake, addr + layout->frame_instr, code + layout->code_code + offset);
	fake_put8(fake, addr + layout->frame_owner, owner);
}

/* A frame object (3.8 to 3.10). */
static inline void fake_put_object(struct fake *fake, py_addr addr, py_addr code, int32_t last,
				   py_addr previous)
{
	fake_put(fake, addr + fake->layout.frame_code, code);
	fake_put32(fake, addr + fake->layout.frame_instr, (uint32_t)last);
	fake_put(fake, addr + fake->layout.frame_previous, previous);
}

static inline enum walk_result fake_walk(struct fake *fake)
{
	fake->count = 12345;
	return walk_thread(&fake->walker, FAKE_TSTATE, &fake->scratch, fake->frames, &fake->count);
}

#endif
