/* test_walk.c - whole, torn and hostile stacks. */
#include "fake_python.h"

#define OWNER_SHIM 3u

/* ---- frame objects, as in 3.8 ---- */

static py_addr object_at(uint32_t index)
{
	return FAKE_HEAP + index * 0x80u;
}

static void put_object(struct fake *fake, uint32_t index, py_addr code, int32_t last,
		       py_addr previous)
{
	fake_put_object(fake, object_at(index), code, last, previous);
}

static void start_objects(struct fake *fake, py_addr first)
{
	fake_put(fake, FAKE_TSTATE + fake->layout.thread_frame, first);
}

static void test_objects_whole(void **state)
{
	struct fake *fake = fake_new(0x0308);

	put_object(fake, 0, fake_code(0), -1, object_at(7));
	put_object(fake, 7, fake_code(1), 14, object_at(40));
	put_object(fake, 40, fake_code(2), 6, 0);
	start_objects(fake, object_at(0));
	assert_int_equal(fake_walk(fake), WALK_OK);
	assert_int_equal(fake->count, 3);
	assert_int_equal(fake->frames[0].code, fake_code(0));
	assert_int_equal(fake->frames[0].offset, 0);
	assert_int_equal(fake->frames[1].offset, 14);
	assert_int_equal(fake->frames[2].code, fake_code(2));
	fake_free(fake);
}

static void test_objects_count_in_units_from_3_10(void **state)
{
	struct fake *fake = fake_new(0x030a);

	put_object(fake, 0, fake_code(0), 21, 0);
	start_objects(fake, object_at(0));
	assert_int_equal(fake_walk(fake), WALK_OK);
	assert_int_equal(fake->frames[0].offset, 42);
	fake_free(fake);
}

/* One reference is of who runs it, one of what it has called. */
static void test_objects_tell_whether_they_call(void **state)
{
	static const struct {
		uint64_t references;
		enum walk_frame_state state;
	} known[] = {
		{ 0, WALK_FRAME_OVER }, { 1, WALK_FRAME_RUNS }, { 2, WALK_FRAME_CALLS },
		{ 7, WALK_FRAME_CALLS }, { UINT64_MAX, WALK_FRAME_OVER },
	};
	struct fake *fake = fake_new(0x0309);

	put_object(fake, 0, fake_code(0), 4, object_at(7));
	put_object(fake, 7, fake_code(1), 4, 0);
	start_objects(fake, object_at(0));
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		fake_put(fake, object_at(0), known[i].references);
		fake_put(fake, object_at(7), 2);
		assert_int_equal(fake_walk(fake), WALK_OK);
		assert_int_equal(fake->frames[0].state, known[i].state);
		assert_int_equal(fake->frames[1].state, WALK_FRAME_CALLS);
	}
	fake_free(fake);
}

static void test_objects_torn(void **state)
{
	struct fake *fake = fake_new(0x0308);

	start_objects(fake, 0);
	assert_int_equal(fake_walk(fake), WALK_NO_PYTHON);
	assert_int_equal(fake->count, 0);
	start_objects(fake, 0xdead000);
	assert_int_equal(fake_walk(fake), WALK_TORN);
	start_objects(fake, object_at(0) + 3);
	assert_int_equal(fake_walk(fake), WALK_TORN);
	put_object(fake, 0, 0, 4, 0);
	start_objects(fake, object_at(0));
	assert_int_equal(fake_walk(fake), WALK_TORN);
	put_object(fake, 0, fake_code(0), 4, object_at(1));
	put_object(fake, 1, fake_code(1), 4, FAKE_BASE + FAKE_SIZE - 8);
	assert_int_equal(fake_walk(fake), WALK_TORN);
	assert_int_equal(fake->count, 2);
	fake_free(fake);
}

static void test_objects_cycle(void **state)
{
	struct fake *fake = fake_new(0x0308);

	for (uint32_t length = 1; length < 40; length++) {
		for (uint32_t i = 0; i < length; i++)
			put_object(fake, i, fake_code(0), 4, object_at((i + 1) % length));
		start_objects(fake, object_at(0));
		assert_int_equal(fake_walk(fake), WALK_TORN);
		assert_true(fake->count < 4 * length + 4);
	}
	fake_free(fake);
}

static void test_objects_cut(void **state)
{
	struct fake *fake = fake_new(0x0308);

	for (uint32_t i = 0; i < 3000; i++)
		put_object(fake, i, fake_code(0), 4, i == 2999 ? 0 : object_at(i + 1));
	start_objects(fake, object_at(0));
	assert_int_equal(fake_walk(fake), WALK_CUT);
	assert_int_equal(fake->count, WALK_MAX_FRAMES);
	fake_free(fake);
}

/* ---- the frame stack, as in 3.13 ---- */

#define ROOT (FAKE_CHUNK + 32u) /* the first frame of the oldest chunk */
#define WORDS 20u               /* of every frame in these tests */
#define STEP (8u * WORDS)
#define FAR (ROOT + WALK_CHUNK_BYTES + STEP)
#define SHIM (FAKE_HEAP + 0x100u)
#define GENERATOR (FAKE_HEAP + 0x800u)

static void start_stack(struct fake *fake, py_addr current, py_addr top)
{
	fake_put(fake, FAKE_TSTATE + fake->layout.thread_frame, current);
	fake_put(fake, FAKE_TSTATE + fake->layout.thread_datastack_chunk, FAKE_CHUNK);
	fake_put(fake, FAKE_TSTATE + fake->layout.thread_datastack_top, top);
	fake_put(fake, FAKE_CHUNK + 8, 16384);
}

/* Three frames on the stack, entered from C. */
static struct fake *fake_new_stack(void)
{
	struct fake *fake = fake_new(0x030d);

	for (uint32_t i = 0; i < 5; i++)
		fake_put_code(fake, i, WORDS);
	fake_put_frame(fake, SHIM, 0, 0, OWNER_SHIM, 0);
	fake_put_frame(fake, ROOT, fake_code(0), 8, PY_OWNER_THREAD, SHIM);
	fake_put_frame(fake, ROOT + STEP, fake_code(1), 16, PY_OWNER_THREAD, ROOT);
	fake_put_frame(fake, ROOT + 2 * STEP, fake_code(2), 32, PY_OWNER_THREAD, ROOT + STEP);
	start_stack(fake, ROOT + 2 * STEP, ROOT + 3 * STEP);
	return fake;
}

static void test_stack_whole(void **state)
{
	struct fake *fake = fake_new_stack();

	assert_int_equal(fake_walk(fake), WALK_OK);
	assert_int_equal(fake->count, 3);
	assert_int_equal(fake->frames[0].code, fake_code(2));
	assert_int_equal(fake->frames[0].offset, 32);
	assert_int_equal(fake->frames[0].is_entry, 0);
	assert_int_equal(fake->frames[1].room, WORDS);
	assert_int_equal(fake->frames[2].is_entry, 1);
	code_identities(&fake->walker, fake->frames, fake->count, fake->identities);
	for (uint32_t i = 0; i < 3; i++)
		assert_true(fake->identities[i] > CODE_HIDDEN);
	assert_int_not_equal(fake->identities[0], fake->identities[1]);
	fake_free(fake);
}

static void test_stack_before_and_after_python(void **state)
{
	struct fake *fake = fake_new_stack();

	start_stack(fake, 0, ROOT);
	assert_int_equal(fake_walk(fake), WALK_NO_PYTHON);
	start_stack(fake, SHIM, ROOT);
	assert_int_equal(fake_walk(fake), WALK_NO_PYTHON);
	assert_int_equal(fake->count, 0);
	fake_free(fake);
}

static void test_stack_generator(void **state)
{
	struct fake *fake = fake_new_stack();

	fake_put_frame(fake, GENERATOR, fake_code(3), 4, PY_OWNER_GENERATOR, ROOT + STEP);
	fake_put_frame(fake, ROOT + 2 * STEP, fake_code(2), 32, PY_OWNER_THREAD, GENERATOR);
	assert_int_equal(fake_walk(fake), WALK_OK);
	assert_int_equal(fake->count, 4);
	assert_int_equal(fake->frames[1].code, fake_code(3));
	assert_int_equal(fake->frames[1].room, 0);
	assert_int_equal(fake->frames[2].room, WORDS);
	/* A generator that has just been suspended has lost its caller. */
	fake_put_frame(fake, GENERATOR, fake_code(3), 4, PY_OWNER_GENERATOR, 0);
	start_stack(fake, GENERATOR, ROOT + 2 * STEP);
	assert_int_equal(fake_walk(fake), WALK_TORN);
	fake_free(fake);
}

static void test_stack_chunks(void **state)
{
	struct fake *fake = fake_new_stack();
	py_addr first = FAKE_OLDER + 32u;

	/* The older chunk holds one frame; its top counts words. */
	fake_put(fake, FAKE_CHUNK, FAKE_OLDER);
	fake_put(fake, FAKE_OLDER + 8, 16384);
	fake_put(fake, FAKE_OLDER + 16, 1 + WORDS);
	fake_put_frame(fake, first, fake_code(4), 8, PY_OWNER_THREAD, SHIM);
	fake_put_frame(fake, FAKE_CHUNK + 24, fake_code(0), 8, PY_OWNER_THREAD, first);
	fake_put_frame(fake, FAKE_CHUNK + 24 + STEP, fake_code(1), 0, PY_OWNER_THREAD,
		       FAKE_CHUNK + 24);
	start_stack(fake, FAKE_CHUNK + 24 + STEP, FAKE_CHUNK + 24 + 2 * STEP);
	assert_int_equal(fake_walk(fake), WALK_OK);
	assert_int_equal(fake->count, 3);
	assert_int_equal(fake->frames[2].code, fake_code(4));
	assert_int_equal(fake->frames[2].room, WORDS);
	fake_free(fake);
}

static void test_stack_torn(void **state)
{
	static const struct {
		py_addr frame, previous;
	} links[] = {
		{ ROOT, 0 },                          /* ends, but was not entered from C */
		{ ROOT + STEP, ROOT + 2 * STEP },     /* its own callee */
		{ ROOT + STEP, ROOT + 4 * STEP },     /* above the top */
		{ ROOT + STEP, FAKE_HEAP + 0x4000u }, /* zeroes: owned by the thread, not on its stack */
		{ ROOT + STEP, 0xdead000u },
		{ ROOT + STEP, ROOT + 4 },
	};

	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		struct fake *fake = fake_new_stack();

		fake_put(fake, links[i].frame + fake->layout.frame_previous, links[i].previous);
		assert_int_equal(fake_walk(fake), WALK_TORN);
		fake_free(fake);
	}
}

static void test_stack_torn_frames(void **state)
{
	struct fake *fake = fake_new_stack();

	fake_put8(fake, ROOT + STEP + fake->layout.frame_owner, 77);
	assert_int_equal(fake_walk(fake), WALK_TORN);
	fake_put8(fake, ROOT + STEP + fake->layout.frame_owner, PY_OWNER_THREAD);
	fake_put(fake, ROOT + STEP + fake->layout.frame_code, 0);
	assert_int_equal(fake_walk(fake), WALK_TORN);
	/* The instruction belongs to other code. */
	fake_put_frame(fake, ROOT + STEP, fake_code(3), 0, PY_OWNER_THREAD, ROOT);
	fake_put(fake, ROOT + STEP + fake->layout.frame_instr, fake_code(1));
	assert_int_equal(fake_walk(fake), WALK_TORN);
	/* A dead frame at the top of the stack. */
	fake_free(fake);
	fake = fake_new_stack();
	start_stack(fake, ROOT + 2 * STEP, ROOT + STEP);
	assert_int_equal(fake_walk(fake), WALK_TORN);
	fake_free(fake);
}

/* A frame that has not begun has the caller of the frame that lay there. */
static void test_stack_stale_caller(void **state)
{
	struct fake *fake = fake_new_stack();

	fake_put_frame(fake, ROOT + 2 * STEP, fake_code(2), 0, PY_OWNER_THREAD, ROOT);
	assert_int_equal(fake_walk(fake), WALK_OK);
	code_identities(&fake->walker, fake->frames, fake->count, fake->identities);
	assert_int_equal(fake->identities[1], CODE_TORN);
	/* Once it runs, such a gap is somebody's purpose. */
	fake_put_frame(fake, ROOT + 2 * STEP, fake_code(2), 2, PY_OWNER_THREAD, ROOT);
	assert_int_equal(fake_walk(fake), WALK_OK);
	code_identities(&fake->walker, fake->frames, fake->count, fake->identities);
	assert_true(fake->identities[1] > CODE_HIDDEN);
	/* The caller was a generator that is gone. */
	fake_put_frame(fake, GENERATOR, fake_code(3), 4, PY_OWNER_GENERATOR, SHIM);
	fake_put_frame(fake, ROOT + 2 * STEP, fake_code(2), 0, PY_OWNER_THREAD, GENERATOR);
	assert_int_equal(fake_walk(fake), WALK_TORN);
	fake_free(fake);
}

static void test_stack_cycle_of_entries(void **state)
{
	struct fake *fake = fake_new_stack();

	fake_put_frame(fake, SHIM, 0, 0, OWNER_SHIM, SHIM + 0x100);
	fake_put_frame(fake, SHIM + 0x100, 0, 0, OWNER_SHIM, SHIM);
	assert_int_equal(fake_walk(fake), WALK_TORN);
	fake_free(fake);
}

/* A version that is newer than what is known: the top is not. */
static void test_stack_without_top(void **state)
{
	struct fake *fake = fake_new_stack();

	fake->layout.thread_datastack_top = PY_ABSENT;
	assert_int_equal(fake_walk(fake), WALK_OK);
	assert_int_equal(fake->count, 3);
	assert_int_equal(fake->frames[0].room, 0);
	assert_int_equal(fake->frames[1].room, WORDS);
	fake_put_frame(fake, ROOT + 2 * STEP, fake_code(2), 0, PY_OWNER_THREAD, ROOT + STEP);
	assert_int_equal(fake_walk(fake), WALK_OK);
	/* A chunk is as large as its frames want: the next one lies behind all that is copied at once. */
	fake_put_frame(fake, FAR, fake_code(3), 32, PY_OWNER_THREAD, ROOT + 2 * STEP);
	start_stack(fake, FAR, 0);
	assert_int_equal(fake_walk(fake), WALK_OK);
	assert_int_equal(fake->count, 4);
	fake_free(fake);
}

static void test_stack_tagged(void **state)
{
	struct fake *fake = fake_new_stack();

	fake->layout.executable_tagged = true;
	fake_put(fake, ROOT + STEP + fake->layout.frame_code, fake_code(1) | 1);
	assert_int_equal(fake_walk(fake), WALK_OK);
	assert_int_equal(fake->frames[1].code, fake_code(1));
	fake_free(fake);
}

/* Without the GIL: frames that run copies of the instructions. */
static void test_stack_copies(void **state)
{
	enum { COPIES = 168, COPY = 24 }; /* where the fake versions have nothing that counts */
	py_addr table = FAKE_HEAP + 0x2000u, copy = FAKE_HEAP + 0x3000u;
	struct fake *fake = fake_new_stack();
	const struct py_layout *layout = &fake->layout;

	fake->layout.has_copies = true;
	fake->layout.frame_copy = COPY;
	fake->layout.code_copies = COPIES;
	fake_put(fake, fake_code(2) + COPIES, table);
	fake_put(fake, table, 3);
	fake_put(fake, table + 8 + 8 * 2, copy);
	assert_int_equal(fake_walk(fake), WALK_OK);
	assert_int_equal(fake->frames[0].offset, 32);
	assert_int_equal(fake->scratch.instruction, fake_code(2) + layout->code_code + 32);

	fake_put32(fake, ROOT + 2 * STEP + COPY, 2);
	fake_put(fake, ROOT + 2 * STEP + layout->frame_instr, copy + 12);
	assert_int_equal(fake_walk(fake), WALK_OK);
	assert_int_equal(fake->count, 3);
	assert_int_equal(fake->frames[0].code, fake_code(2));
	assert_int_equal(fake->frames[0].offset, 12);
	assert_int_equal(fake->frames[1].offset, 16);
	assert_int_equal(fake->scratch.instruction, copy + 12);
	/* Before the first instruction. */
	fake_put(fake, ROOT + 2 * STEP + layout->frame_instr, copy - 2);
	assert_int_equal(fake_walk(fake), WALK_OK);
	assert_int_equal(fake->frames[0].offset, 0);
	assert_int_equal(fake->scratch.instruction, copy);

	/* A copy that is not there, not made yet, or beyond all bounds; no table. */
	fake_put32(fake, ROOT + 2 * STEP + COPY, 1);
	assert_int_equal(fake_walk(fake), WALK_TORN);
	fake_put32(fake, ROOT + 2 * STEP + COPY, 3);
	fake_put(fake, table + 8 + 8 * 3, copy);
	assert_int_equal(fake_walk(fake), WALK_TORN);
	fake_put32(fake, ROOT + 2 * STEP + COPY, UINT32_MAX);
	fake_put(fake, table, UINT64_MAX);
	assert_int_equal(fake_walk(fake), WALK_TORN);
	fake_put32(fake, ROOT + 2 * STEP + COPY, 2);
	fake_put(fake, fake_code(2) + COPIES, 0);
	assert_int_equal(fake_walk(fake), WALK_TORN);
	fake_free(fake);
}

/* ---- evaluations, as in 3.12 ---- */

static struct fake *fake_new_evaluation(void)
{
	struct fake *fake = fake_new(0x030c);
	py_addr root = FAKE_TSTATE + 0x48;

	for (uint32_t i = 0; i < 2; i++)
		fake_put_code(fake, i, WORDS);
	fake_put_frame(fake, SHIM, 0, 0, OWNER_SHIM, 0);
	fake_put_frame(fake, ROOT, fake_code(0), 8, PY_OWNER_THREAD, SHIM);
	fake_put_frame(fake, SHIM + 0x100, 0, 0, OWNER_SHIM, ROOT);
	fake_put_frame(fake, ROOT + STEP, fake_code(1), 8, PY_OWNER_THREAD, SHIM + 0x100);
	/* Two evaluations: the inner was entered from the outer's frame. */
	fake_put(fake, FAKE_CFRAME + fake->layout.cframe_current_frame, ROOT + STEP);
	fake_put(fake, FAKE_CFRAME + fake->layout.cframe_previous, FAKE_CFRAME + 0x100);
	fake_put(fake, FAKE_CFRAME + 0x100 + fake->layout.cframe_current_frame, ROOT);
	fake_put(fake, FAKE_CFRAME + 0x100 + fake->layout.cframe_previous, root);
	start_stack(fake, FAKE_CFRAME, ROOT + 2 * STEP);
	return fake;
}

static void test_evaluation_whole(void **state)
{
	struct fake *fake = fake_new_evaluation();

	assert_int_equal(fake_walk(fake), WALK_OK);
	assert_int_equal(fake->count, 2);
	assert_int_equal(fake->frames[0].is_entry, 1);
	fake_put(fake, FAKE_TSTATE + fake->layout.thread_frame, FAKE_TSTATE + 0x48);
	assert_int_equal(fake_walk(fake), WALK_NO_PYTHON);
	fake_free(fake);
}

static void test_evaluation_not_filled_in(void **state)
{
	struct fake *fake = fake_new_evaluation();

	/* Left by an earlier one, which somebody else had entered. */
	fake_put(fake, FAKE_CFRAME + 0x100 + fake->layout.cframe_current_frame, ROOT + 5 * STEP);
	assert_int_equal(fake_walk(fake), WALK_TORN);
	fake_put(fake, FAKE_CFRAME + 0x100 + fake->layout.cframe_current_frame, ROOT);
	fake_put(fake, FAKE_CFRAME + fake->layout.cframe_previous, 0);
	assert_int_equal(fake_walk(fake), WALK_TORN);
	fake_put(fake, FAKE_CFRAME + fake->layout.cframe_previous, FAKE_CFRAME + 0x100);
	fake_put(fake, FAKE_CFRAME + fake->layout.cframe_current_frame, 0x123456789);
	assert_int_equal(fake_walk(fake), WALK_TORN);
	fake_free(fake);
}

/* A frame that has not begun, and somebody who is not calling anyone. */
static void test_evaluation_stale_caller(void **state)
{
	struct fake *fake = fake_new_evaluation();
	py_addr stacktop = ROOT + fake->layout.frame_stacktop;

	fake_put_frame(fake, ROOT + STEP, fake_code(1), 0, PY_OWNER_THREAD, ROOT);
	fake_put_frame(fake, ROOT, fake_code(0), 8, PY_OWNER_THREAD, SHIM);
	fake_put(fake, FAKE_CFRAME + fake->layout.cframe_previous, FAKE_TSTATE + 0x48);
	assert_int_equal(fake_walk(fake), WALK_OK);
	assert_int_equal(fake->frames[1].state, WALK_FRAME_CALLS);
	fake_put32(fake, stacktop, UINT32_MAX); /* it runs C */
	assert_int_equal(fake_walk(fake), WALK_TORN);
	fake_put_frame(fake, ROOT + STEP, fake_code(1), 2, PY_OWNER_THREAD, ROOT);
	assert_int_equal(fake_walk(fake), WALK_OK);
	assert_int_equal(fake->frames[1].state, WALK_FRAME_RUNS);
	fake_put_frame(fake, ROOT + STEP, fake_code(1), 0, PY_OWNER_THREAD, ROOT);
	fake_put32(fake, stacktop, 3);
	/* It resumes a generator, which is not in the chain. */
	fake_put8(fake, fake_code(0) + fake->layout.code_code + 6, fake->layout.resume_opcodes[0]);
	assert_int_equal(fake_walk(fake), WALK_TORN);
	fake_free(fake);
}

/* ---- hostile memory ---- */

/* Whatever lies there, the walk ends within its bounds. */
static void test_random_memory(void **state)
{
	static const unsigned versions[] = { 0x0308, 0x030b, 0x030c, 0x030d };
	uint64_t random = 88172645463325252ull;

	for (uint32_t round = 0; round < 2000; round++) {
		struct fake *fake = fake_new(versions[round % 4]);

		/* Words that are mostly addresses, in a small part, so that chains form. */
		for (py_addr at = FAKE_TSTATE; at < FAKE_TSTATE + 0x4000; at += 8) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			fake_put(fake, at, random % 8 ? FAKE_TSTATE + random % 0x4000 / 8 * 8 : random);
		}
		assert_in_range(fake_walk(fake), WALK_OK, WALK_TORN);
		assert_in_range(fake->count, 0, WALK_MAX_FRAMES);
		code_identities(&fake->walker, fake->frames, fake->count, fake->identities);
		walk_find_thread(&fake->walker, FAKE_TSTATE, 1, 2);
		fake_free(fake);
	}
}

static void test_find_thread(void **state)
{
	struct fake *fake = fake_new(0x030c);
	const struct py_layout *layout = &fake->layout;
	py_addr runtime = FAKE_HEAP, interp = FAKE_HEAP + 0x1000, thread = FAKE_HEAP + 0x3000;

	fake_put(fake, runtime + layout->runtime_interpreters_head, interp);
	fake_put(fake, interp + layout->interp_threads_head, thread);
	for (uint32_t i = 0; i < 3; i++) {
		fake_put(fake, thread + layout->thread_id, 100 + i);
		fake_put(fake, thread + layout->thread_native_id, 200 + i);
		fake_put(fake, thread + layout->thread_next, i == 2 ? 0 : thread + 0x400);
		thread += 0x400;
	}
	assert_int_equal(walk_find_thread(&fake->walker, runtime, 101, 0), FAKE_HEAP + 0x3400);
	assert_int_equal(walk_find_thread(&fake->walker, runtime, 0, 202), FAKE_HEAP + 0x3800);
	assert_int_equal(walk_find_thread(&fake->walker, runtime, 100, 202), FAKE_HEAP + 0x3800);
	assert_int_equal(walk_find_thread(&fake->walker, runtime, 999, 0), 0);
	/* A list that bites its tail. */
	fake_put(fake, FAKE_HEAP + 0x3800 + layout->thread_next, FAKE_HEAP + 0x3000);
	fake_put(fake, interp + layout->interp_next, interp);
	assert_int_equal(walk_find_thread(&fake->walker, runtime, 999, 0), 0);
	fake_free(fake);
}

/* A thread with a state in each of two interpreters, the newer of them first in the list. */
static void test_find_thread_in_interpreters(void **state)
{
	(void)state;
	static const unsigned versions[] = { 0x0308, 0x030b, 0x030d };
	const py_addr runtime = FAKE_HEAP, newer = FAKE_HEAP + 0x1000, older = FAKE_HEAP + 0x2000;
	const py_addr states[2] = { FAKE_HEAP + 0x3000, FAKE_HEAP + 0x5000 }, frame = FAKE_HEAP + 0x8000;

	for (size_t i = 0; i < 3; i++) {
		struct fake *fake = fake_new(versions[i]);
		const struct py_layout *layout = &fake->layout;
		/* Before any frame: the first of all cframes, which is part of the state. */
		py_addr none = layout->frame_kind == PY_FRAME_CFRAME ? states[0] + 0x100 : 0;

		fake_put(fake, runtime + layout->runtime_interpreters_head, newer);
		fake_put(fake, newer + layout->interp_next, older);
		fake_put(fake, newer + layout->interp_threads_head, states[0]);
		fake_put(fake, older + layout->interp_threads_head, states[1]);
		for (int n = 0; n < 2; n++) {
			fake_put(fake, states[n] + layout->thread_id, 100);
			fake_put(fake, states[n] + layout->thread_frame, frame);
		}
		assert_int_equal(walk_find_thread(&fake->walker, runtime, 100, 0), states[0]);
		assert_int_equal(walk_find_oldest(&fake->walker, runtime, 100, 0), states[1]);
		fake_put(fake, states[0] + layout->thread_frame, none);
		assert_int_equal(walk_find_thread(&fake->walker, runtime, 100, 0), states[1]);
		fake_put(fake, states[1] + layout->thread_frame, none == 0 ? 0 : states[1] + 0x100);
		assert_int_equal(walk_find_thread(&fake->walker, runtime, 100, 0), states[0]);
		fake_free(fake);
	}
}

/* A reader that counts its calls. */
static const struct mem_reader *counted_reader;
static uint32_t reads;

static bool counted_read(const struct mem_reader *reader, py_addr addr, void *dst, size_t size)
{
	(void)reader;
	reads++;
	return counted_reader->read(counted_reader, addr, dst, size);
}

static size_t counted_read_many(const struct mem_reader *reader, const struct iovec *dst,
				const struct iovec *src, size_t count)
{
	(void)reader;
	reads++;
	return counted_reader->read_many(counted_reader, dst, src, count);
}

/* A hundred threads: each is found again in two reads, but never where it was once
 * it is unlinked, replaced, or there is a second interpreter. */
static void test_find_thread_again(void **state)
{
	struct fake *fake = fake_new(0x030c);
	const struct py_layout *layout = &fake->layout;
	py_addr runtime = FAKE_HEAP, interp = FAKE_HEAP + 0x1000, first = FAKE_HEAP + 0x3000;
	struct mem_reader plain = fake->reader;

	counted_reader = &plain;
	fake->reader.read = counted_read;
	fake->reader.read_many = counted_read_many;
	fake_put(fake, runtime + layout->runtime_interpreters_head, interp);
	fake_put(fake, interp + layout->interp_threads_head, first);
	for (uint32_t i = 0; i < 100; i++) {
		py_addr thread = first + i * 0x200;

		fake_put(fake, thread + layout->thread_id, 100 + i);
		fake_put(fake, thread + layout->thread_native_id, 1000 + i);
		fake_put(fake, thread + layout->thread_interp, interp);
		fake_put(fake, thread + layout->thread_next - 8, i == 0 ? 0 : thread - 0x200);
		fake_put(fake, thread + layout->thread_next, i == 99 ? 0 : thread + 0x200);
	}
	for (uint32_t i = 0; i < 100; i++) {
		py_addr thread = first + i * 0x200;

		assert_int_equal(walk_find_thread_again(&fake->walker, runtime, 0, 100 + i, 1000 + i),
				 thread);
		reads = 0;
		assert_int_equal(walk_find_thread_again(&fake->walker, runtime, thread, 100 + i, 1000 + i),
				 thread);
		assert_int_equal(reads, 2);
		/* It was another's. */
		assert_int_equal(walk_find_thread_again(&fake->walker, runtime, first + 0x200 * (99 - i),
							100 + i, 1000 + i), thread);
	}
	/* Number 50 is unlinked and freed; its memory still looks as it did, and the
	 * same thread has a new state at the head. */
	py_addr old = first + 50 * 0x200, made = first + 100 * 0x200;

	fake_put(fake, old - 0x200 + layout->thread_next, old + 0x200);
	fake_put(fake, old + 0x200 + layout->thread_next - 8, old - 0x200);
	assert_int_equal(walk_find_thread_again(&fake->walker, runtime, old, 150, 1050), 0);
	fake_put(fake, made + layout->thread_id, 150);
	fake_put(fake, made + layout->thread_native_id, 1050);
	fake_put(fake, made + layout->thread_interp, interp);
	fake_put(fake, made + layout->thread_next, first);
	fake_put(fake, first + layout->thread_next - 8, made);
	fake_put(fake, interp + layout->interp_threads_head, made);
	assert_int_equal(walk_find_thread_again(&fake->walker, runtime, old, 150, 1050), made);

	/* A newer interpreter, in which thread 60 has a state too: that one counts. */
	py_addr other = FAKE_HEAP + 0x2000, inner = first + 101 * 0x200;

	fake_put(fake, runtime + layout->runtime_interpreters_head, other);
	fake_put(fake, other + layout->interp_next, interp);
	fake_put(fake, other + layout->interp_threads_head, inner);
	fake_put(fake, inner + layout->thread_id, 160);
	fake_put(fake, inner + layout->thread_native_id, 1060);
	assert_int_equal(walk_find_thread_again(&fake->walker, runtime, first + 60 * 0x200, 160, 1060),
			 inner);
	fake_free(fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objects_whole),
		cmocka_unit_test(test_objects_count_in_units_from_3_10),
		cmocka_unit_test(test_objects_tell_whether_they_call),
		cmocka_unit_test(test_objects_torn),
		cmocka_unit_test(test_objects_cycle),
		cmocka_unit_test(test_objects_cut),
		cmocka_unit_test(test_stack_whole),
		cmocka_unit_test(test_stack_before_and_after_python),
		cmocka_unit_test(test_stack_generator),
		cmocka_unit_test(test_stack_chunks),
		cmocka_unit_test(test_stack_torn),
		cmocka_unit_test(test_stack_torn_frames),
		cmocka_unit_test(test_stack_stale_caller),
		cmocka_unit_test(test_stack_cycle_of_entries),
		cmocka_unit_test(test_stack_without_top),
		cmocka_unit_test(test_stack_tagged),
		cmocka_unit_test(test_stack_copies),
		cmocka_unit_test(test_evaluation_whole),
		cmocka_unit_test(test_evaluation_not_filled_in),
		cmocka_unit_test(test_evaluation_stale_caller),
		cmocka_unit_test(test_random_memory),
		cmocka_unit_test(test_find_thread),
		cmocka_unit_test(test_find_thread_in_interpreters),
		cmocka_unit_test(test_find_thread_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
