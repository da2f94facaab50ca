/* test_snapshot.c - a thread's memory copied twice: the walker reads from the
 * copies, a change in between is seen, and garbage does no harm. */
#include "fake_python.h"

#include "python/bits.h"
#include "remote/snapshot.h"

#define FIRST (FAKE_CHUNK + 32)
#define SECOND (FIRST + 16 * 8)

static struct fake *changed; /* whose memory changes between the two copies */

static size_t read_and_change(const struct mem_reader *reader, const struct iovec *dst,
			      const struct iovec *src, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i == count / 2)
			fake_put_frame(changed, SECOND, fake_code(2), 10, 0, FIRST);
		if (!reader->read(reader, (uintptr_t)src[i].iov_base, dst[i].iov_base, src[i].iov_len))
			return i;
	}
	return count;
}

static void fake_remote(struct fake *fake, struct remote *remote)
{
	memset(remote, 0, sizeof(*remote));
	remote->reader = fake->reader;
	remote->layout = fake->layout;
	remote->walker = (struct walker){ .reader = &remote->reader, .layout = &remote->layout,
					  .code_type = FAKE_TYPE };
}

/* Two frames on the frame stack, the outer one entered from C. */
static struct fake *two_frames(void)
{
	struct fake *fake = fake_new(0x030d);
	const py_addr entry = FAKE_HEAP;

	for (uint32_t i = 0; i < 3; i++)
		fake_put_code(fake, i, 16);
	fake_put_frame(fake, entry, fake_code(0), 0, 3, 0);
	fake_put_frame(fake, FIRST, fake_code(0), 20, 0, entry);
	fake_put_frame(fake, SECOND, fake_code(1), 10, 0, FIRST);
	fake_put(fake, FAKE_CHUNK + 8, 16384);
	fake_put(fake, FAKE_TSTATE + fake->layout.thread_frame, SECOND);
	fake_put(fake, FAKE_TSTATE + fake->layout.thread_datastack_chunk, FAKE_CHUNK);
	fake_put(fake, FAKE_TSTATE + fake->layout.thread_datastack_top, SECOND + 16 * 8);
	return fake;
}

static enum walk_result walk(struct fake *fake, struct snapshot *snapshot, py_addr *places)
{
	struct walker walker = fake->walker;

	walker.reader = &snapshot->reader;
	walker.places = places;
	return walk_thread(&walker, FAKE_TSTATE, &fake->scratch, fake->frames, &fake->count);
}

static void test_still(void **unused)
{
	(void)unused;
	struct fake *fake = two_frames();
	struct snapshot *snapshot = malloc(sizeof(*snapshot));
	py_addr places[WALK_MAX_FRAMES];
	struct remote remote;

	assert_non_null(snapshot);
	fake_remote(fake, &remote);
	snapshot_init(snapshot, &remote, FAKE_TSTATE);
	for (int i = 0; i < 3; i++) {
		assert_true(snapshot_take(snapshot));
		assert_int_equal(walk(fake, snapshot, places), WALK_OK);
		assert_int_equal(fake->count, 2);
		assert_int_equal(fake->frames[0].code, fake_code(1));
		assert_int_equal(places[1], FIRST);
		assert_true(snapshot_stood_still(snapshot, places, fake->count));
	}
	/* The entry frame was copied along, and nothing else of its page. */
	assert_int_equal(snapshot->page_count, 1);
	assert_int_equal(snapshot->pages[0].to - snapshot->pages[0].from, fake->layout.frame_size);
	/* And what is watched. */
	snapshot_watch(snapshot, FAKE_CHUNK + 8, 8);
	assert_true(snapshot_take(snapshot));
	assert_int_equal(load_u64(snapshot->watched), 16384);
	assert_int_equal(walk(fake, snapshot, places), WALK_OK);
	assert_true(snapshot_stood_still(snapshot, places, fake->count));
	free(snapshot);
	fake_free(fake);
}

static void test_changed_in_between(void **unused)
{
	(void)unused;
	struct fake *fake = two_frames();
	struct snapshot *snapshot = malloc(sizeof(*snapshot));
	py_addr places[WALK_MAX_FRAMES];
	struct remote remote;

	assert_non_null(snapshot);
	fake_remote(fake, &remote);
	snapshot_init(snapshot, &remote, FAKE_TSTATE);
	assert_true(snapshot_take(snapshot));
	changed = fake;
	remote.reader.read_many = read_and_change;
	assert_true(snapshot_take(snapshot));
	assert_int_equal(walk(fake, snapshot, places), WALK_OK);
	assert_int_equal(fake->frames[0].code, fake_code(1));
	assert_false(snapshot_stood_still(snapshot, places, fake->count));
	snapshot_use(snapshot, 1);
	assert_int_equal(walk(fake, snapshot, places), WALK_OK);
	assert_int_equal(fake->frames[0].code, fake_code(2));
	free(snapshot);
	fake_free(fake);
}

/* What was marked is compared, and a walk may end where nothing changed. */
static void test_marked(void **unused)
{
	(void)unused;
	struct fake *fake = two_frames();
	struct snapshot *snapshot = malloc(sizeof(*snapshot));
	struct walker walker = fake->walker;
	struct remote remote;
	bool is_met = false;

	assert_non_null(snapshot);
	fake_remote(fake, &remote);
	snapshot_init(snapshot, &remote, FAKE_TSTATE);
	assert_true(snapshot_take(snapshot));
	assert_int_equal(snapshot_steady_end(snapshot), 0);
	snapshot_mark(snapshot, 0);
	assert_true(snapshot_take(snapshot));
	assert_true(snapshot_steady_end(snapshot) > SECOND);
	fake_put_frame(fake, SECOND, fake_code(2), 10, 0, FIRST);
	assert_true(snapshot_take(snapshot));
	assert_true(snapshot_steady_end(snapshot) >= SECOND && snapshot_steady_end(snapshot) < SECOND + 128);
	walker.reader = &snapshot->reader;
	walker.known = FIRST;
	walker.is_met = &is_met;
	assert_int_equal(walk_thread(&walker, FAKE_TSTATE, &fake->scratch, fake->frames, &fake->count), WALK_OK);
	assert_true(is_met);
	assert_int_equal(fake->count, 1);
	assert_int_equal(fake->frames[0].code, fake_code(2));
	snapshot_forget(snapshot);
	assert_int_equal(snapshot_steady_end(snapshot), 0);
	free(snapshot);
	fake_free(fake);
}

static uint64_t read_word(const struct snapshot *snapshot, py_addr addr)
{
	uint64_t word = 0;

	assert_true(snapshot->reader.read(&snapshot->reader, addr, &word, sizeof(word)));
	return word;
}

/* Far below the top the stack is not copied again, unless what lies above it
 * has changed. */
static void test_kept(void **unused)
{
	(void)unused;
	struct fake *fake = two_frames();
	struct snapshot *snapshot = malloc(sizeof(*snapshot));
	const py_addr low = FAKE_CHUNK + 512, above = FAKE_CHUNK + 1024;
	struct remote remote;

	assert_non_null(snapshot);
	fake_put(fake, FAKE_TSTATE + fake->layout.thread_datastack_top, FAKE_CHUNK + 3072);
	fake_remote(fake, &remote);
	snapshot_init(snapshot, &remote, FAKE_TSTATE);
	assert_true(snapshot_take(snapshot));
	snapshot_mark(snapshot, FAKE_CHUNK + 768);
	fake_put(fake, low, 7);
	assert_true(snapshot_take(snapshot));
	assert_int_equal(read_word(snapshot, low), 0);
	assert_int_equal(read_word(snapshot, FAKE_CHUNK + 8), 16384);
	fake_put(fake, above, 9);
	assert_true(snapshot_take(snapshot));
	assert_int_equal(read_word(snapshot, low), 7);
	assert_int_equal(read_word(snapshot, above), 9);
	free(snapshot);
	fake_free(fake);
}

/* Of frame objects on pages of their own only the innermost are copied while the caller
 * knows the others, and all of them once it has forgotten. */
static void test_short(void **unused)
{
	(void)unused;
	struct fake *fake = fake_new(0x0308);
	const py_addr outer = FAKE_HEAP, inner = FAKE_HEAP + 2 * WALK_PAGE_BYTES;
	struct snapshot *snapshot = malloc(sizeof(*snapshot));
	py_addr places[WALK_MAX_FRAMES];
	struct walker walker = fake->walker;
	struct remote remote;
	bool is_met = false;

	assert_non_null(snapshot);
	fake_put_code(fake, 0, 16);
	fake_put_object(fake, outer, fake_code(0), 20, 0);
	fake_put_object(fake, inner, fake_code(0), 10, outer);
	fake_put(fake, FAKE_TSTATE + fake->layout.thread_frame, inner);
	fake_remote(fake, &remote);
	snapshot_init(snapshot, &remote, FAKE_TSTATE);
	for (int i = 0; i < 2; i++) {
		assert_true(snapshot_take(snapshot));
		assert_int_equal(walk(fake, snapshot, places), WALK_OK);
		assert_int_equal(fake->count, 2);
	}
	assert_int_equal(snapshot->page_count, 2);
	assert_int_equal(snapshot->twice_count, 2);
	walker.reader = &snapshot->reader;
	walker.known = outer;
	walker.is_met = &is_met;
	snapshot_shorten(snapshot, true);
	for (int i = 0; i < 2; i++) {
		assert_true(snapshot_take(snapshot));
		assert_true(snapshot->is_short);
		assert_int_equal(walk_thread(&walker, FAKE_TSTATE, &fake->scratch, fake->frames, &fake->count),
				 WALK_OK);
		assert_true(is_met);
		assert_int_equal(fake->count, 1);
	}
	assert_int_equal(snapshot->page_count, 1);
	assert_int_equal(snapshot->pages[0].start, inner);
	snapshot_forget(snapshot);
	assert_true(snapshot_take(snapshot));
	assert_int_equal(snapshot->page_count, 2);
	assert_int_equal(walk(fake, snapshot, places), WALK_OK);
	assert_int_equal(fake->count, 2);
	assert_true(snapshot_stood_still(snapshot, places, fake->count));
	free(snapshot);
	fake_free(fake);
}

static void test_garbage(void **unused)
{
	(void)unused;
	struct snapshot *snapshot = malloc(sizeof(*snapshot));
	py_addr places[WALK_MAX_FRAMES];
	uint64_t state = 1;

	assert_non_null(snapshot);
	for (int i = 0; i < 300; i++) {
		static const unsigned versions[] = { 0x0308, 0x030a, 0x030b, 0x030c, 0x030d };
		struct fake *fake = fake_new(versions[i % 5]);
		struct remote remote;

		for (uint32_t at = 0; at < FAKE_SIZE; at += 8) {
			state = state * 6364136223846793005ull + 1442695040888963407ull;
			fake_put(fake, FAKE_BASE + at,
				 state >> 62 == 0 ? state : FAKE_BASE + (state >> 20) % FAKE_SIZE / 8 * 8);
		}
		fake_remote(fake, &remote);
		snapshot_init(snapshot, &remote, FAKE_TSTATE);
		for (int n = 0; n < 3 && snapshot_take(snapshot); n++) {
			walk(fake, snapshot, places);
			assert_true(fake->count <= WALK_MAX_FRAMES);
			snapshot_stood_still(snapshot, places, fake->count);
			snapshot_mark(snapshot, FAKE_BASE + (state >> 30) % FAKE_SIZE);
			snapshot_steady_end(snapshot);
		}
		fake_free(fake);
	}
	free(snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_still),
		cmocka_unit_test(test_changed_in_between),
		cmocka_unit_test(test_marked),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
