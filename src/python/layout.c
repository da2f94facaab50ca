/* layout.c - the rows for the versions that do not publish their offsets.
 *
 * The numbers hold for 64-bit Linux; tests/integration/test_layouts.py derives
 * them again from each interpreter's own headers.  Where a structure contains
 * a pthread mutex before the field, the two architectures differ. */
#include "python/layout.h"

#include <stddef.h>

/* sizeof(pthread_mutex_t) is 40 on x86_64 and 48 on aarch64; the GIL has two. */
#ifdef __aarch64__
#define TWO_MUTEXES 16u
#else
#define TWO_MUTEXES 0u
#endif

/* Fields that do not change over a range of versions. */
#define STRINGS_3_6                                                                                \
	.unicode_length = 16, .unicode_state = 32, .unicode_ascii_data = 48,                       \
	.unicode_compact_data = 72, .unicode_kind_shift = 2, .bytes_length = 16, .bytes_data = 32, \
	.object_type = 8

/* 3.12 dropped the wide-character copy of a string. */
#define STRINGS_3_12                                                                               \
	.unicode_length = 16, .unicode_state = 32, .unicode_ascii_data = 40,                       \
	.unicode_compact_data = 56, .unicode_kind_shift = 2, .bytes_length = 16, .bytes_data = 32, \
	.object_type = 8

#define OBJECT_FRAMES                                                                              \
	.frame_kind = PY_FRAME_OBJECT, .owner_is_shim = 255, .thread_next = 8, .thread_interp = 16, \
	.thread_frame = 24, .thread_native_id = PY_ABSENT, .thread_datastack_chunk = PY_ABSENT,    \
	.thread_datastack_top = PY_ABSENT, .cframe_current_frame = PY_ABSENT,                      \
	.cframe_previous = PY_ABSENT, .frame_previous = 24, .frame_code = 32,                      \
	.frame_owner = PY_ABSENT, .frame_is_entry = PY_ABSENT, .frame_stacktop = PY_ABSENT,        \
	.frame_specials = PY_ABSENT

#define OBJECT_CODE                                                                                \
	.code_qualname = PY_ABSENT, .code_units = PY_ABSENT, .code_framesize = PY_ABSENT,          \
	.code_stacksize = PY_ABSENT, .code_nlocalsplus = PY_ABSENT, .code_version = PY_ABSENT

#define CODE_3_6                                                                                   \
	OBJECT_CODE, .code_filename = 96, .code_name = 104, .code_lines = 112,                     \
		     .code_firstlineno = 36, .code_flags = 32, .code_code = 40, .code_size = 144,   \
		     .code_local_names = PY_ABSENT

/* 3.8 added the number of positional-only arguments. */
#define CODE_3_8                                                                                   \
	OBJECT_CODE, .code_filename = 104, .code_name = 112, .code_lines = 120,                    \
		     .code_firstlineno = 40, .code_flags = 36, .code_code = 48, .code_size = 176,   \
		     .code_local_names = 72

static const struct py_layout rows[] = {
	{
		.version = 0x0306,
		.line_kind = PY_LINES_LNOTAB,
		.lasti_scale = 1,
		.runtime_interpreters_head = 0,
		.runtime_gilstate_current = PY_ABSENT,
		.runtime_gc_collecting = PY_ABSENT,
		.interp_next = 0,
		.interp_threads_head = 8,
		.interp_gil = PY_ABSENT,
		.interp_gc_collecting = PY_ABSENT,
		.interp_modules = PY_ABSENT,
		.type_cached_keys = PY_ABSENT,
		.frame_locals = PY_ABSENT,
		OBJECT_FRAMES,
		.thread_id = 152,
		.frame_instr = 120,
		.frame_size = 128,
		CODE_3_6,
		STRINGS_3_6,
	},
	{
		/* The GIL's and the collector's places moved within 3.7: left out. */
		.version = 0x0307,
		.line_kind = PY_LINES_LNOTAB,
		.lasti_scale = 1,
		.runtime_interpreters_head = 24,
		.runtime_gilstate_current = PY_ABSENT,
		.runtime_gc_collecting = PY_ABSENT,
		.interp_next = 0,
		.interp_threads_head = 8,
		.interp_gil = PY_ABSENT,
		.interp_gc_collecting = PY_ABSENT,
		.interp_modules = PY_ABSENT,
		.type_cached_keys = PY_ABSENT,
		.frame_locals = PY_ABSENT,
		OBJECT_FRAMES,
		.thread_id = 176,
		.frame_instr = 104,
		.frame_size = 112,
		CODE_3_6,
		STRINGS_3_6,
	},
	{
		.version = 0x0308,
		.line_kind = PY_LINES_LNOTAB,
		.lasti_scale = 1,
		.runtime_interpreters_head = 32,
		.runtime_gilstate_current = 1368 + TWO_MUTEXES,
		.runtime_gc_collecting = 544,
		.interp_next = 0,
		.interp_threads_head = 8,
		.interp_gil = PY_ABSENT,
		.interp_gc_collecting = PY_ABSENT,
		.interp_modules = 56,
		.type_cached_keys = 872,
		.frame_locals = 360,
		OBJECT_FRAMES,
		.thread_id = 176,
		.frame_instr = 104,
		.frame_size = 112,
		CODE_3_8,
		STRINGS_3_6,
	},
	{
		.version = 0x0309,
		.line_kind = PY_LINES_LNOTAB,
		.lasti_scale = 1,
		.runtime_interpreters_head = 32,
		.runtime_gilstate_current = 568 + TWO_MUTEXES,
		.runtime_gc_collecting = PY_ABSENT,
		.interp_next = 0,
		.interp_threads_head = 8,
		.interp_gil = PY_ABSENT,
		.interp_gc_collecting = 816,
		.interp_modules = 856,
		.type_cached_keys = 864,
		.frame_locals = 360,
		OBJECT_FRAMES,
		.thread_id = 176,
		.frame_instr = 104,
		.frame_size = 112,
		CODE_3_8,
		STRINGS_3_6,
	},
	{
		.version = 0x030a,
		.line_kind = PY_LINES_PEP626,
		.lasti_scale = 2,
		.runtime_interpreters_head = 32,
		.runtime_gilstate_current = 568 + TWO_MUTEXES,
		.runtime_gc_collecting = PY_ABSENT,
		.interp_next = 0,
		.interp_threads_head = 8,
		.interp_gil = PY_ABSENT,
		.interp_gc_collecting = 816,
		.interp_modules = 856,
		.type_cached_keys = 872,
		.frame_locals = 352,
		OBJECT_FRAMES,
		.thread_id = 176,
		.frame_instr = 96,
		.frame_size = 104,
		CODE_3_8,
		STRINGS_3_6,
	},
	{
		.version = 0x030b,
		.frame_kind = PY_FRAME_CFRAME,
		.line_kind = PY_LINES_LOCATIONS,
		.lasti_scale = 1,
		.owner_is_shim = 255,
		.runtime_interpreters_head = 40,
		.runtime_gilstate_current = 576 + TWO_MUTEXES,
		.runtime_gc_collecting = PY_ABSENT,
		.interp_next = 0,
		.interp_threads_head = 16,
		.interp_gil = PY_ABSENT,
		.interp_gc_collecting = 848,
		.interp_modules = 888,
		.type_cached_keys = 872,
		.frame_locals = 72,
		.thread_next = 8,
		.thread_interp = 16,
		.thread_frame = 56,
		.thread_id = 152,
		.thread_native_id = 160,
		.thread_datastack_chunk = 296,
		.thread_datastack_top = 304,
		.cframe_current_frame = 8,
		.cframe_previous = 16,
		.frame_previous = 48,
		.frame_code = 32,
		.frame_instr = 56,
		.frame_owner = 69,
		.frame_is_entry = 68,
		.frame_stacktop = 64,
		.frame_size = 72,
		.frame_specials = 72,
		.code_filename = 112,
		.code_name = 120,
		.code_qualname = 128,
		.code_lines = 136,
		.code_firstlineno = 72,
		.code_flags = 48,
		.code_code = 184,
		.code_units = 16,
		.code_framesize = PY_ABSENT,
		.code_stacksize = 68,
		.code_nlocalsplus = 76,
		.code_version = PY_ABSENT,
		.code_local_names = 96,
		.code_size = 184,
		STRINGS_3_6,
	},
	{
		.version = 0x030c,
		.frame_kind = PY_FRAME_CFRAME,
		.line_kind = PY_LINES_LOCATIONS,
		.lasti_scale = 1,
		.owner_is_shim = 3,
		.runtime_interpreters_head = 40,
		.runtime_gilstate_current = PY_ABSENT,
		.runtime_gc_collecting = PY_ABSENT,
		.interp_next = 0,
		.interp_threads_head = 72,
		.interp_gil = 384,
		.interp_gc_collecting = 312,
		.interp_modules = 944,
		.type_cached_keys = 880,
		.frame_locals = 72,
		.thread_next = 8,
		.thread_interp = 16,
		.thread_frame = 56,
		.thread_id = 136,
		.thread_native_id = 144,
		.thread_datastack_chunk = 232,
		.thread_datastack_top = 240,
		.cframe_current_frame = 0,
		.cframe_previous = 8,
		.frame_previous = 8,
		.frame_code = 0,
		.frame_instr = 56,
		.frame_owner = 70,
		.frame_is_entry = PY_ABSENT,
		.frame_stacktop = 64,
		.resume_opcodes = { 65, 123, 168 }, /* FOR_ITER_GEN, SEND, SEND_GEN */
		.frame_size = 72,
		.frame_specials = 72,
		.code_filename = 112,
		.code_name = 120,
		.code_qualname = 128,
		.code_lines = 136,
		.code_firstlineno = 68,
		.code_flags = 48,
		.code_code = 192,
		.code_units = 16,
		.code_framesize = 76,
		.code_stacksize = PY_ABSENT,
		.code_nlocalsplus = PY_ABSENT,
		.code_version = 92,
		.code_local_names = 96,
		.code_size = 192,
		STRINGS_3_12,
	},
};

const struct py_layout *py_layout_known(unsigned version)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].version == version)
			return &rows[i];
	}
	return NULL;
}
