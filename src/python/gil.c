/* gil.c - see gil.h. */
#include "python/gil.h"

#include "python/bits.h"

/* struct _gil_runtime_state: an interval, the last holder, whether it is taken, two
 * conditions, two mutexes; the same in 3.8 to 3.15. */
#ifdef __aarch64__
#define GIL_BYTES 224u
#else
#define GIL_BYTES 208u
#endif
#define GIL_HOLDER 8u /* the last; right behind it, whether it is taken */

/* Until 3.11 the GIL stands right before the state of which the current thread
 * is the second word. */
#define GILSTATE_HEAD_BYTES 8u

py_addr gil_interpreter(const struct walker *walker, py_addr tstate)
{
	py_addr found;

	if (tstate == 0 ||
	    !walker->reader->read(walker->reader, tstate + walker->layout->thread_interp, &found,
				  sizeof(found)))
		return 0;
	return is_pointer(found) ? found : 0;
}

void gil_take(struct py_gil *gil, const unsigned char *bytes)
{
	bool is_taken = gil->holder_size < GIL_HOLDER_BYTES || load_u32(bytes + 8) == 1;

	gil->holder = is_taken ? load_u64(bytes) : 0;
}

void gil_refresh(const struct walker *walker, struct py_gil *gil)
{
	unsigned char bytes[GIL_HOLDER_BYTES];

	gil->holder = 0;
	if (gil->holder_size > 0 &&
	    walker->reader->read(walker->reader, gil->holder_place, bytes, gil->holder_size))
		gil_take(gil, bytes);
}

void gil_find(const struct walker *walker, py_addr runtime, py_addr interpreter, struct py_gil *gil)
{
	const struct py_layout *layout = walker->layout;
	py_addr at = 0;

	*gil = (struct py_gil){ .start = 0 };
	if (layout->runtime_gilstate_current != PY_ABSENT) {
		gil->holder_place = runtime + layout->runtime_gilstate_current;
		gil->holder_size = sizeof(py_addr);
		at = gil->holder_place - GILSTATE_HEAD_BYTES - GIL_BYTES;
	} else if (layout->interp_gil != PY_ABSENT && is_pointer(interpreter) &&
		   walker->reader->read(walker->reader, interpreter + layout->interp_gil, &at, sizeof(at)) &&
		   is_pointer(at)) {
		gil->holder_place = at + GIL_HOLDER;
		gil->holder_size = GIL_HOLDER_BYTES;
	} else {
		return;
	}
	gil->start = at;
	gil->end = at + GIL_BYTES;
}
