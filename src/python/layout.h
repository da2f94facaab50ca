/* layout.h - where CPython keeps what we read: one row of offsets per version.
 *
 * Versions are data.  The walker has no version branch beyond the few kinds
 * named here; 3.6-3.12 are rows of a table, 3.13 and later publish their own
 * offsets (_Py_DebugOffsets at the start of _PyRuntime), which are untrusted
 * input and checked field by field before a row is made of them. */
#ifndef HEATLINE_PYTHON_LAYOUT_H
#define HEATLINE_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "python/reader.h"

/* How frames are kept. */
enum py_frame_kind {
	PY_FRAME_OBJECT,      /* 3.6-3.10: heap PyFrameObject, tstate->frame */
	PY_FRAME_CFRAME,      /* 3.11-3.12: _PyInterpreterFrame behind tstate->cframe */
	PY_FRAME_INTERPRETER, /* 3.13+: _PyInterpreterFrame at tstate->current_frame */
};

/* Values of frame.owner that the walker tells apart. */
#define PY_OWNER_THREAD 0u    /* lies on the thread's frame stack */
#define PY_OWNER_GENERATOR 1u /* lies in a generator or coroutine */
#define PY_OWNER_MAX 4u       /* no version has a larger one */

/* How a code object says which line an instruction belongs to. */
enum py_line_kind {
	PY_LINES_LNOTAB,   /* 3.6-3.9: co_lnotab, (bytecode, line) increments */
	PY_LINES_PEP626,   /* 3.10: co_linetable, line ranges */
	PY_LINES_LOCATIONS /* 3.11+: co_linetable, lines and columns */
};

/* Offsets in bytes from the start of the structure named before the dot.
 * PY_ABSENT where the version has no such field. */
#define PY_ABSENT 0xffffffffu

struct py_layout {
	uint16_t version;     /* 0x0308 for 3.8 */
	uint8_t frame_kind;   /* enum py_frame_kind */
	uint8_t line_kind;    /* enum py_line_kind */
	uint8_t lasti_scale;  /* bytes of code per unit of the stored last instruction */
	bool free_threaded;   /* built without the GIL */
	bool has_copies;      /* the same, 3.14+: threads run copies of the instructions
				 (instructions.h), which frame_copy and code_copies lead to */
	bool executable_tagged; /* 3.14+: the frame's code pointer carries tag bits */
	uint8_t owner_is_shim;  /* value of frame.owner from which on the frame is the
				   interpreter's own entry, not Python code; 255: none */
	uint8_t resume_opcodes[4]; /* 3.12: these push a generator's frame as a call does a
				      function's; ends with 0 */
	uint8_t unicode_kind_shift; /* in the word at unicode_state: where the three bits of the
				       character size begin; compact and ascii follow */

	/* runtime: _PyRuntime.  For 3.6, which has none: the variable that
	 * points to the first interpreter. */
	uint32_t runtime_interpreters_head, runtime_gilstate_current /* thread that has the GIL */,
		runtime_gc_collecting /* 3.7, 3.8; later it is the interpreter's */;
	uint32_t interp_next, interp_threads_head, interp_gil /* pointer to it; 3.12+ */,
		interp_gc_collecting, interp_modules /* pointer to the dict sys.modules */;
	uint32_t thread_next, thread_interp, thread_frame /* frame, cframe or current_frame */,
		thread_id, thread_native_id, thread_datastack_chunk, thread_datastack_top;
	uint32_t cframe_current_frame, cframe_previous;
	uint32_t frame_previous, frame_code, frame_instr /* f_lasti, prev_instr or instr_ptr */,
		frame_owner, frame_is_entry /* 3.11 only */,
		frame_stacktop /* 3.11 to 3.13: -1 unless it calls Python or is suspended */,
		frame_size /* bytes to read of a frame to have all of these */,
		frame_copy /* has_copies: which of them it runs */,
		frame_specials /* bytes of a frame before its variables */,
		frame_locals /* its variables; the same from 3.11 on */;
	uint32_t code_filename, code_name, code_qualname, code_lines, code_firstlineno,
		code_flags, code_code /* bytes object (<3.11) or the instructions themselves */,
		code_copies /* has_copies: pointer to the table of them */,
		code_units /* 3.11+: how many two-byte units of instructions */,
		code_framesize /* 3.12+: words that a frame of it takes on the frame stack */,
		code_stacksize /* 3.11, where the two make up code_framesize */,
		code_nlocalsplus,
		code_version /* 3.12+: a number that no other code object has */,
		code_local_names /* 3.11+: tuple of all variables' names, then their kinds as bytes;
				    before: three tuples: plain, free, cell variables */,
		code_size /* bytes to read of a code object to have all but the instructions */;
	uint32_t unicode_length, unicode_state, unicode_ascii_data, unicode_compact_data;
	uint32_t bytes_length, bytes_data;
	uint32_t object_type;
	uint32_t type_cached_keys /* of a class: the names that its instances share */;
};

/* Bytes of the head that every object has: its type is the last field, and what kind of object
 * it is decides what follows.  16, or 32 without the GIL. */
static inline uint32_t py_head_bytes(const struct py_layout *layout)
{
	return layout->object_type + 8;
}

/* The row for a released version before 3.13, or NULL.  Static storage. */
const struct py_layout *py_layout_known(unsigned version);

/* Reads and checks the offsets that 3.13+ publishes at the runtime's start.
 * Returns 0 and fills *layout, or -1 with a static sentence in *why; on
 * failure *layout is untouched. */
int py_layout_published(const struct mem_reader *reader, py_addr runtime,
			struct py_layout *layout, const char **why);

#endif
