/* gil.c - see gil.h. */
#include "python/gil.h"

#include "python/bits.h"

/* struct _gil_runtime_state: two numbers and the holder, two conditions, two
 * mutexes; the same in 3.8 to 3.15. */
#ifdef __aarch64__
#define GIL_BYTES 224u
#else
#define GIL_BYTES 208u
#endif

/* Until 3.11 the GIL stands right before the state of which the current thread
 * is the second word. */
#define GILSTATE_HEAD_BYTES 8u

bool gil_find(const struct walker *walker, py_addr runtime, py_addr tstate, py_addr *start,
	      py_addr *end)
{
	const struct py_layout *layout = walker->layout;
	const struct mem_reader *reader = walker->reader;
	uint64_t interp, gil;
	if (layout->runtime_gilstate_current != PY_ABSENT) {
		gil = runtime + layout->runtime_gilstate_current - GILSTATE_HEAD_BYTES - GIL_BYTES;
	} else if (layout->interp_gil == PY_ABSENT ||
		   !reader->read(reader, tstate + layout->thread_interp, &interp, sizeof(interp)) ||
		   !is_pointer(interp) ||
		   !reader->read(reader, interp + layout->interp_gil, &gil, sizeof(gil)) ||
		   !is_pointer(gil)) {
		return false;
	}
	*start = gil;
	*end = gil + GIL_BYTES;
	return true;
}
