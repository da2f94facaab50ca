/* walk_find.c - which thread state belongs to an OS thread. */
#include "python/walk.h"

#define MAX_INTERPRETERS 256u
#define MAX_THREADS 8192u

static bool read_addr(const struct walker *walker, py_addr addr, py_addr *value)
{
	return walker->reader->read(walker->reader, addr, value, sizeof(*value));
}

/* The ids of one thread state and the state after it, in one call. */
struct thread_ids {
	uint64_t next, pthread_id, native_id;
};

static bool read_ids(const struct walker *walker, py_addr tstate, struct thread_ids *ids)
{
	const struct py_layout *layout = walker->layout;
	size_t count = layout->thread_native_id != PY_ABSENT ? 3 : 2;
	struct iovec dst[3] = { { &ids->next, 8 }, { &ids->pthread_id, 8 }, { &ids->native_id, 8 } };
	struct iovec src[3] = {
		{ (void *)(uintptr_t)(tstate + layout->thread_next), 8 },
		{ (void *)(uintptr_t)(tstate + layout->thread_id), 8 },
		{ (void *)(uintptr_t)(tstate + layout->thread_native_id), 8 },
	};

	ids->native_id = 0;
	return walker->reader->read_many(walker->reader, dst, src, count) == count;
}

/* A pthread id is reused after its thread has ended and may linger in a dead
 * state, a native id as good as never; so that decides where both are known. */
static bool is_thread(const struct thread_ids *ids, uint64_t pthread_id, uint64_t native_id)
{
	if (ids->native_id != 0 && native_id != 0)
		return ids->native_id == native_id;
	return ids->pthread_id == pthread_id;
}

/* Whether no Python function runs in the state, as in one that a thread has left. */
static bool is_idle(const struct walker *walker, py_addr tstate)
{
	py_addr frame;

	if (!read_addr(walker, tstate + walker->layout->thread_frame, &frame))
		return true;
	return frame == 0 || walk_is_first_cframe(walker->layout, tstate, frame);
}

/* The thread's state in the oldest interpreter, or in the newest in which Python runs (if it runs in
 * none: in the newest).  The list begins with the newest. */
static py_addr find_state(const struct walker *walker, py_addr runtime, uint64_t pthread_id,
			  uint64_t native_id, bool is_oldest)
{
	const struct py_layout *layout = walker->layout;
	uint32_t visited = 0;
	py_addr interp, tstate, found = 0;

	if (!read_addr(walker, runtime + layout->runtime_interpreters_head, &interp))
		return 0;
	for (uint32_t i = 0; interp != 0 && i < MAX_INTERPRETERS; i++) {
		if (!read_addr(walker, interp + layout->interp_threads_head, &tstate))
			return found;
		while (tstate != 0 && visited++ < MAX_THREADS) {
			struct thread_ids ids;

			if (!read_ids(walker, tstate, &ids))
				return found;
			if (is_thread(&ids, pthread_id, native_id)) {
				if (!is_oldest && !is_idle(walker, tstate))
					return tstate;
				found = is_oldest || found == 0 ? tstate : found;
				break;
			}
			tstate = ids.next;
		}
		if (!read_addr(walker, interp + layout->interp_next, &interp))
			return found;
	}
	return found;
}

py_addr walk_find_thread(const struct walker *walker, py_addr runtime, uint64_t pthread_id,
			 uint64_t native_id)
{
	return find_state(walker, runtime, pthread_id, native_id, false);
}

py_addr walk_find_oldest(const struct walker *walker, py_addr runtime, uint64_t pthread_id,
			 uint64_t native_id)
{
	return find_state(walker, runtime, pthread_id, native_id, true);
}

/* Whether the state is the thread's and linked, and there is but one interpreter
 * (where a thread has states in several, the search decides).  A state's first
 * two words are the states before and after it; without one before, the interpreter
 * has it first. */
static bool is_still_state(const struct walker *walker, py_addr runtime, py_addr tstate,
			   uint64_t pthread_id, uint64_t native_id)
{
	const struct py_layout *layout = walker->layout;
	struct thread_ids ids = { .native_id = 0 };
	py_addr previous, interp, first_interp, link, back, next_interp;
	size_t count = layout->thread_native_id != PY_ABSENT ? 5 : 4;
	struct iovec dst[5] = {
		{ &first_interp, 8 }, { &previous, 8 }, { &interp, 8 }, { &ids.pthread_id, 8 },
		{ &ids.native_id, 8 },
	};
	struct iovec src[5] = {
		{ (void *)(uintptr_t)(runtime + layout->runtime_interpreters_head), 8 },
		{ (void *)(uintptr_t)(tstate + layout->thread_next - 8), 8 },
		{ (void *)(uintptr_t)(tstate + layout->thread_interp), 8 },
		{ (void *)(uintptr_t)(tstate + layout->thread_id), 8 },
		{ (void *)(uintptr_t)(tstate + layout->thread_native_id), 8 },
	};

	if (walker->reader->read_many(walker->reader, dst, src, count) != count ||
	    interp != first_interp || !is_thread(&ids, pthread_id, native_id))
		return false;
	link = previous != 0 ? previous + layout->thread_next
			     : interp + layout->interp_threads_head;
	dst[0] = (struct iovec){ &back, 8 };
	dst[1] = (struct iovec){ &next_interp, 8 };
	src[0] = (struct iovec){ (void *)(uintptr_t)link, 8 };
	src[1] = (struct iovec){ (void *)(uintptr_t)(interp + layout->interp_next), 8 };
	return walker->reader->read_many(walker->reader, dst, src, 2) == 2 && back == tstate &&
	       next_interp == 0;
}

py_addr walk_find_thread_again(const struct walker *walker, py_addr runtime, py_addr known,
			       uint64_t pthread_id, uint64_t native_id)
{
	if (known != 0 && is_still_state(walker, runtime, known, pthread_id, native_id))
		return known;
	return walk_find_thread(walker, runtime, pthread_id, native_id);
}
