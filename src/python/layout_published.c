/* layout_published.c - the offsets that 3.13 and later publish themselves.
 *
 * _PyRuntime begins with a table of 64-bit words (_Py_DebugOffsets).  Which
 * word means what differs by version, so that is a table here too.  The words
 * come from the target: every one that is used must lie inside the structure
 * whose size stands beside it and be aligned, or the whole table is refused.
 * After that the rest of the program uses them without a further look. */
#include "python/layout.h"

#include <string.h>

#include "python/code.h"

/* name, word in 3.13, 3.14, 3.15; 0: none.  A newer version is tried as the last. */
#define PUBLISHED_WORDS(X)           \
	X(RUNTIME_SIZE, 3, 3, 3)         \
	X(RUNTIME_HEAD, 5, 5, 5)         \
	X(INTERP_SIZE, 6, 6, 6)          \
	X(INTERP_NEXT, 8, 8, 8)          \
	X(INTERP_THREADS, 9, 9, 9)       \
	X(INTERP_GC, 10, 11, 11)         \
	X(INTERP_MODULES, 11, 12, 12)    \
	X(INTERP_GIL, 14, 15, 15)        \
	X(THREAD_SIZE, 19, 22, 22)       \
	X(THREAD_NEXT, 21, 24, 24)       \
	X(THREAD_INTERP, 22, 25, 25)     \
	X(THREAD_FRAME, 23, 26, 26)      \
	X(THREAD_ID, 24, 27, 30)         \
	X(THREAD_NATIVE_ID, 25, 28, 31)  \
	X(THREAD_CHUNK, 26, 29, 32)      \
	X(FRAME_SIZE, 28, 31, 39)        \
	X(FRAME_PREVIOUS, 29, 32, 40)    \
	X(FRAME_CODE, 30, 33, 41)        \
	X(FRAME_INSTR, 31, 34, 42)       \
	X(FRAME_LOCALS, 32, 35, 43)      \
	X(FRAME_OWNER, 33, 36, 44)       \
	X(FRAME_COPY, 0, 38, 46)         \
	X(CODE_SIZE, 34, 39, 47)         \
	X(CODE_FILENAME, 35, 40, 48)     \
	X(CODE_NAME, 36, 41, 49)         \
	X(CODE_QUALNAME, 37, 42, 50)     \
	X(CODE_LINES, 38, 43, 51)        \
	X(CODE_FIRST_LINE, 39, 44, 52)   \
	X(CODE_ARGCOUNT, 40, 45, 53)     \
	X(CODE_LOCAL_NAMES, 41, 46, 54)  \
	X(CODE_CODE, 43, 48, 56)         \
	X(CODE_COPIES, 0, 49, 57)        \
	X(OBJECT_SIZE, 44, 50, 58)       \
	X(OBJECT_TYPE, 45, 51, 59)       \
	X(BYTES_SIZE, 64, 74, 86)        \
	X(BYTES_LENGTH, 65, 75, 87)      \
	X(BYTES_DATA, 66, 76, 88)        \
	X(UNICODE_SIZE, 67, 77, 89)      \
	X(UNICODE_STATE, 68, 78, 90)     \
	X(UNICODE_LENGTH, 69, 79, 91)    \
	X(UNICODE_ASCII_SIZE, 70, 80, 92) \
	X(GC_SIZE, 71, 81, 94)           \
	X(GC_COLLECTING, 72, 82, 95)

enum published_word {
#define X(name, in_3_13, in_3_14, in_3_15) name,
	PUBLISHED_WORDS(X)
#undef X
	PUBLISHED_COUNT
};

static const uint8_t word_places[3][PUBLISHED_COUNT] = {
#define X(name, in_3_13, in_3_14, in_3_15) [name] = in_3_13,
	{ PUBLISHED_WORDS(X) },
#undef X
#define X(name, in_3_13, in_3_14, in_3_15) [name] = in_3_14,
	{ PUBLISHED_WORDS(X) },
#undef X
#define X(name, in_3_13, in_3_14, in_3_15) [name] = in_3_15,
	{ PUBLISHED_WORDS(X) },
#undef X
};

#define VERSION_FIRST 0x030du
#define VERSION_LAST 0x030fu /* the newest whose table was seen */
#define TABLE_WORDS_MAX 96u

/* Larger structures are taken for nonsense. */
static const struct {
	uint8_t word;
	uint32_t min_bytes, max_bytes;
} sizes[] = {
	{ RUNTIME_SIZE, 256, 64u << 20 }, { INTERP_SIZE, 256, 64u << 20 },
	{ THREAD_SIZE, 128, 64u << 10 },  { FRAME_SIZE, 40, 256 },
	{ CODE_SIZE, 64, CODE_HEAD_MAX }, { OBJECT_SIZE, 16, 64 },
	{ BYTES_SIZE, 16, 256 },	  { UNICODE_SIZE, 16, 256 },
	{ GC_SIZE, 4, 64u << 10 },
};

/* Which word is an offset into which structure, and how wide the field is. */
static const struct {
	uint8_t word, size_word, width;
} offsets[] = {
	{ RUNTIME_HEAD, RUNTIME_SIZE, 8 },
	{ INTERP_NEXT, INTERP_SIZE, 8 },
	{ INTERP_THREADS, INTERP_SIZE, 8 },
	{ INTERP_GC, INTERP_SIZE, 8 },
	{ INTERP_MODULES, INTERP_SIZE, 8 },
	{ INTERP_GIL, INTERP_SIZE, 8 },
	{ THREAD_NEXT, THREAD_SIZE, 8 },
	{ THREAD_INTERP, THREAD_SIZE, 8 },
	{ THREAD_FRAME, THREAD_SIZE, 8 },
	{ THREAD_ID, THREAD_SIZE, 8 },
	{ THREAD_NATIVE_ID, THREAD_SIZE, 8 },
	{ THREAD_CHUNK, THREAD_SIZE, 8 },
	{ FRAME_PREVIOUS, FRAME_SIZE, 8 },
	{ FRAME_CODE, FRAME_SIZE, 8 },
	{ FRAME_INSTR, FRAME_SIZE, 8 },
	{ FRAME_LOCALS, FRAME_SIZE, 8 },
	{ FRAME_OWNER, FRAME_SIZE, 1 },
	{ CODE_FILENAME, CODE_SIZE, 8 },
	{ CODE_NAME, CODE_SIZE, 8 },
	{ CODE_QUALNAME, CODE_SIZE, 8 },
	{ CODE_LINES, CODE_SIZE, 8 },
	{ CODE_FIRST_LINE, CODE_SIZE, 4 },
	{ CODE_ARGCOUNT, CODE_SIZE, 4 },
	{ CODE_LOCAL_NAMES, CODE_SIZE, 8 },
	{ CODE_CODE, CODE_SIZE, 2 },
	{ FRAME_COPY, FRAME_SIZE, 4 },
	{ CODE_COPIES, CODE_SIZE, 8 },
	{ OBJECT_TYPE, OBJECT_SIZE, 8 },
	{ BYTES_LENGTH, BYTES_SIZE, 8 },
	{ BYTES_DATA, BYTES_SIZE, 1 },
	{ UNICODE_STATE, UNICODE_SIZE, 4 },
	{ UNICODE_LENGTH, UNICODE_SIZE, 8 },
	{ GC_COLLECTING, GC_SIZE, 4 },
};

/* Every field of a code object that is used stands before its instructions. */
static bool head_makes_sense(const uint64_t *words)
{
	const uint64_t end = words[CODE_CODE];

	return words[CODE_FILENAME] + 8 <= end && words[CODE_NAME] + 8 <= end &&
	       words[CODE_QUALNAME] + 8 <= end && words[CODE_LINES] + 8 <= end &&
	       words[CODE_LOCAL_NAMES] <= end && words[CODE_COPIES] + 8 <= end && words[CODE_ARGCOUNT] <= end &&
	       words[CODE_FIRST_LINE] + 12 <= end && words[OBJECT_TYPE] + 8 <= end &&
	       words[OBJECT_SIZE] + 8 <= end;
}

static bool words_make_sense(const uint64_t *words)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint64_t bytes = words[sizes[i].word];

		if (bytes < sizes[i].min_bytes || bytes > sizes[i].max_bytes)
			return false;
	}
	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		uint64_t offset = words[offsets[i].word];

		if (offset % offsets[i].width != 0 || offset > words[offsets[i].size_word] ||
		    words[offsets[i].size_word] - offset < offsets[i].width)
			return false;
	}
	/* Offsets that are made from others, and what must lie in the part of an
	 * object that is copied. */
	return words[INTERP_GC] + words[GC_COLLECTING] + 4 <= words[INTERP_SIZE] &&
	       words[THREAD_CHUNK] + 16 <= words[THREAD_SIZE] && words[OBJECT_SIZE] % 8 == 0 &&
	       words[UNICODE_ASCII_SIZE] % 8 == 0 &&
	       words[UNICODE_ASCII_SIZE] <= words[UNICODE_SIZE] &&
	       words[UNICODE_STATE] + 4 <= words[UNICODE_ASCII_SIZE] &&
	       words[UNICODE_LENGTH] + 8 <= words[UNICODE_ASCII_SIZE] &&
	       words[CODE_ARGCOUNT] >= 4 && words[CODE_LOCAL_NAMES] >= 4 &&
	       words[FRAME_OWNER] >= 6 && head_makes_sense(words);
}

/* What the table does not say, as the released versions have it. */
static void fill_unpublished(const uint64_t *words, struct py_layout *layout)
{
	bool is_seen = layout->version <= VERSION_LAST;

	/* These stand beside a published field. */
	layout->thread_datastack_top = is_seen ? (uint32_t)words[THREAD_CHUNK] + 8 : PY_ABSENT;
	layout->frame_stacktop = layout->version == 0x030d ? (uint32_t)words[FRAME_OWNER] - 6 : PY_ABSENT;
	layout->code_flags = (uint32_t)words[CODE_ARGCOUNT] - 4;
	layout->code_units = (uint32_t)words[OBJECT_SIZE];
	layout->code_framesize = is_seen ? (uint32_t)words[CODE_FIRST_LINE] + 8 : PY_ABSENT;
	layout->code_version = is_seen ? (uint32_t)words[CODE_LOCAL_NAMES] - 4 : PY_ABSENT;
	layout->unicode_compact_data = (uint32_t)words[UNICODE_ASCII_SIZE] + 16;
	layout->type_cached_keys = !is_seen		       ? PY_ABSENT
				   : layout->version < 0x030f ? 880
							      : 888;
	/* Without the GIL the bits before it are a byte, which is changed by itself. */
	layout->unicode_kind_shift = layout->has_copies ? 8 : 2;
	layout->owner_is_shim = 3;
	layout->executable_tagged = layout->version >= 0x030e;
}

static void fill_absent(struct py_layout *layout)
{
	layout->runtime_gilstate_current = PY_ABSENT;
	layout->runtime_gc_collecting = PY_ABSENT;
	layout->cframe_current_frame = PY_ABSENT;
	layout->cframe_previous = PY_ABSENT;
	layout->frame_is_entry = PY_ABSENT;
	layout->code_stacksize = PY_ABSENT;
	layout->code_nlocalsplus = PY_ABSENT;
}

static void fill_published(const uint64_t *words, struct py_layout *layout)
{
	layout->frame_kind = PY_FRAME_INTERPRETER;
	layout->line_kind = PY_LINES_LOCATIONS;
	layout->lasti_scale = 1;
	layout->runtime_interpreters_head = (uint32_t)words[RUNTIME_HEAD];
	layout->interp_next = (uint32_t)words[INTERP_NEXT];
	layout->interp_threads_head = (uint32_t)words[INTERP_THREADS];
	layout->interp_gil = layout->free_threaded ? PY_ABSENT : (uint32_t)words[INTERP_GIL];
	layout->interp_gc_collecting = (uint32_t)(words[INTERP_GC] + words[GC_COLLECTING]);
	layout->interp_modules = (uint32_t)words[INTERP_MODULES];
	layout->thread_next = (uint32_t)words[THREAD_NEXT];
	layout->thread_interp = (uint32_t)words[THREAD_INTERP];
	layout->thread_frame = (uint32_t)words[THREAD_FRAME];
	layout->thread_id = (uint32_t)words[THREAD_ID];
	layout->thread_native_id = (uint32_t)words[THREAD_NATIVE_ID];
	layout->thread_datastack_chunk = (uint32_t)words[THREAD_CHUNK];
	layout->frame_previous = (uint32_t)words[FRAME_PREVIOUS];
	layout->frame_code = (uint32_t)words[FRAME_CODE];
	layout->frame_instr = (uint32_t)words[FRAME_INSTR];
	layout->frame_owner = (uint32_t)words[FRAME_OWNER];
	layout->frame_size = (uint32_t)words[FRAME_LOCALS];
	layout->frame_specials = (uint32_t)words[FRAME_LOCALS];
	layout->frame_locals = (uint32_t)words[FRAME_LOCALS];
	layout->code_filename = (uint32_t)words[CODE_FILENAME];
	layout->code_name = (uint32_t)words[CODE_NAME];
	layout->code_qualname = (uint32_t)words[CODE_QUALNAME];
	layout->code_lines = (uint32_t)words[CODE_LINES];
	layout->code_firstlineno = (uint32_t)words[CODE_FIRST_LINE];
	layout->code_local_names = (uint32_t)words[CODE_LOCAL_NAMES];
	layout->code_code = (uint32_t)words[CODE_CODE];
	layout->code_size = (uint32_t)words[CODE_CODE];
	layout->unicode_length = (uint32_t)words[UNICODE_LENGTH];
	layout->unicode_state = (uint32_t)words[UNICODE_STATE];
	layout->unicode_ascii_data = (uint32_t)words[UNICODE_ASCII_SIZE];
	layout->bytes_length = (uint32_t)words[BYTES_LENGTH];
	layout->bytes_data = (uint32_t)words[BYTES_DATA];
	layout->object_type = (uint32_t)words[OBJECT_TYPE];
	layout->frame_copy = (uint32_t)words[FRAME_COPY];
	layout->code_copies = (uint32_t)words[CODE_COPIES];
}

/* Every field of a frame stands before its variables. */
static bool frame_makes_sense(const struct py_layout *layout)
{
	return layout->frame_previous + 8 <= layout->frame_size &&
	       layout->frame_code + 8 <= layout->frame_size &&
	       layout->frame_instr + 8 <= layout->frame_size &&
	       layout->frame_owner + 1 <= layout->frame_size &&
	       layout->frame_copy + 4 <= layout->frame_size;
}

/* A build that has none publishes 0 for both, where another field stands. */
static bool copies_make_sense(const struct py_layout *layout)
{
	return !layout->has_copies || (layout->frame_copy > 0 && layout->code_copies > 0);
}

static int refuse(const char **why, const char *sentence)
{
	*why = sentence;
	return -1;
}

int py_layout_published(const struct mem_reader *reader, py_addr runtime,
			struct py_layout *layout, const char **why)
{
	uint64_t table[TABLE_WORDS_MAX], words[PUBLISHED_COUNT];
	struct py_layout made = { 0 };
	const uint8_t *places;

	if (!reader->read(reader, runtime, table, sizeof(table)))
		return refuse(why, "the interpreter's runtime could not be read");
	if (memcmp(table, "xdebugpy", 8) != 0)
		return refuse(why, "the interpreter does not publish its offsets");
	made.version = (uint16_t)(table[1] >> 16);
	if (table[1] >> 32 != 0 || made.version < VERSION_FIRST || made.version >> 8 != 3)
		return refuse(why, "the interpreter publishes a version that makes no sense");
	made.free_threaded = table[2] != 0;
	made.has_copies = made.free_threaded && made.version >= 0x030e;
	places = word_places[(made.version < VERSION_LAST ? made.version : VERSION_LAST) -
			     VERSION_FIRST];
	for (size_t i = 0; i < PUBLISHED_COUNT; i++)
		words[i] = places[i] != 0 ? table[places[i]] : 0;
	if (!words_make_sense(words))
		return refuse(why, "the offsets that the interpreter publishes make no sense");
	fill_published(words, &made);
	fill_unpublished(words, &made);
	fill_absent(&made);
	if (!frame_makes_sense(&made) || !copies_make_sense(&made))
		return refuse(why, "the frame offsets that the interpreter publishes make no sense");
	*layout = made;
	return 0;
}
