/* walk.h - read the Python stack of one thread.
 *
 * Runs inside the sampling signal, so the thread may stand anywhere: half way
 * through pushing a frame, inside free(), before main.  Two rules follow.
 * (1) No pointer is trusted: each hop is copied by a read that can fail.
 * (2) No loop is unbounded: WALK_MAX_FRAMES hops, then the stack is cut, and
 *     the cut is marked.
 * Lines are not resolved here: a frame is (code object, instruction offset).
 *
 * Half-made states.  What the interpreter stores in a few instructions can be
 * seen in between, so what was read is checked against what must hold:
 *  - on the frame stack a caller lies below the frame it called, and all lie
 *    below the stack's top (3.11+);
 *  - the outermost frame was entered from C: a chain that ends elsewhere was
 *    being unlinked (3.11+);
 *  - the frame that C called into has as its caller the frame that was
 *    current before (3.11, 3.12, where an evaluation is announced before its
 *    first frame is);
 *  - a frame that has not begun may still name the caller of the frame that lay
 *    there before it: the one it names must be calling Python, and together
 *    with its callers fill the frame stack (3.11+);
 *  - no address comes twice.
 * What fails a check is torn; nothing is guessed.  How it is known that these
 * are all: tests/integration/test_walker.py looks after every instruction of
 * programs that make frames in every way.
 *
 * Signal-safe: everything here.  Some 1.5 KB of stack. */
#ifndef HEATLINE_PYTHON_WALK_H
#define HEATLINE_PYTHON_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "python/layout.h"
#include "python/reader.h"

#define WALK_MAX_FRAMES 2048u   /* deeper stacks lose their outermost frames */
#define WALK_CHUNK_BYTES 16384u /* bytes of the frame stack copied at once */
#define WALK_PAGE_BYTES 4096u   /* bytes copied at once elsewhere */
#define WALK_PAGES 2u

/* What a frame is about, as far as the version tells: 3.6 to 3.10 by its references (one of who
 * runs it, one of what it has called; none is left in one that is over, which names its caller
 * still), 3.11 to 3.13 by whether its evaluation stack is put away. */
enum walk_frame_state {
	WALK_FRAME_OVER,  /* has ended */
	WALK_FRAME_RUNS,  /* has called no Python */
	WALK_FRAME_CALLS, /* has, or may have */
};

/* One Python frame, innermost first in a stack. */
struct walk_frame {
	py_addr code;      /* the code object */
	uint32_t offset;   /* byte offset of the current instruction in its code */
	uint8_t is_entry;  /* 1 when C code called into Python here (always before 3.11) */
	uint8_t state;     /* enum walk_frame_state */
	uint16_t room;     /* 3.11+: words on the frame stack from here to the frame called;
			      0: not known.  A code object that needs more was not running
			      here: code_identities() takes the frame for torn. */
};

enum walk_result {
	WALK_OK,         /* whole stack */
	WALK_NO_PYTHON,  /* the thread has no Python frame (now) */
	WALK_CUT,        /* deeper than WALK_MAX_FRAMES; the innermost are there */
	WALK_TORN,       /* a read failed or made no sense; frames read so far are there */
};

/* The caller's scratch memory (see fetch.h): too big for a signal stack, so it lives with
 * the thread (agent) or the collector.  Copies mean nothing between calls. */
struct walk_scratch {
	py_addr instruction; /* out, 3.11+: where the innermost frame found last stands */
	_Alignas(16) unsigned char chunk[WALK_CHUNK_BYTES];
	_Alignas(16) unsigned char pages[WALK_PAGES][WALK_PAGE_BYTES];
};

/* What to walk with.  Inputs are set once by the caller. */
struct walker {
	const struct mem_reader *reader;
	const struct py_layout *layout;
	py_addr code_type; /* address of PyCode_Type, or 0 when not known */
	uint32_t room;     /* frames that the caller has room for; 0: WALK_MAX_FRAMES */
	py_addr *places;   /* as many: where each frame lies; NULL: not wanted */
	py_addr known;     /* a frame from which on outwards the caller knows the stack: the walk
			      may end there; 0: none */
	py_addr known_caller; /* 3.11, 3.12: the frame from which C code entered the innermost
				 evaluation that is known; 0: it is the first */
	bool *is_met;      /* set to whether it did; with known */
};

/* 3.11, 3.12: the first cframe of all is part of the thread state and has no frames. */
#define WALK_THREAD_BYTES_MAX 4096u /* no version's thread state is larger */

static inline bool walk_is_first_cframe(const struct py_layout *layout, py_addr tstate, py_addr cframe)
{
	return layout->frame_kind == PY_FRAME_CFRAME && cframe - tstate < WALK_THREAD_BYTES_MAX;
}

/* Walks the stack of the thread state at tstate into frames (walker->room of
 * them), innermost first; *count is how many were written. */
enum walk_result walk_thread(const struct walker *walker, py_addr tstate,
			     struct walk_scratch *scratch, struct walk_frame *frames,
			     uint32_t *count);

/* Finds the thread state of an OS thread by its pthread id (and native id,
 * where the version keeps one), or 0.  Of a thread that has one in each of several
 * interpreters it is the one in which Python runs; where one runs another's code, that is the
 * newest interpreter's.  Visits at most a few thousand states. */
py_addr walk_find_thread(const struct walker *walker, py_addr runtime, uint64_t pthread_id,
			 uint64_t native_id);

/* The same, but the oldest interpreter's: the one in which the thread was made. */
py_addr walk_find_oldest(const struct walker *walker, py_addr runtime, uint64_t pthread_id,
			 uint64_t native_id);

/* As walk_find_thread, for a thread whose state was at `known` before (0: not known yet): when
 * that is still its state, and still in the list, the way does not lead past those
 * of all other threads.  A state that was freed may look as it did, so it is not
 * taken on its own word: the one before it must lead to it. */
py_addr walk_find_thread_again(const struct walker *walker, py_addr runtime, py_addr known,
			       uint64_t pthread_id, uint64_t native_id);

#endif
