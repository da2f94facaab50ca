/* test_inspect.c - objects, locals and threads read out of garbage: some answer
 * comes out, in time, and nothing is read that is not there. */
#include "fake_python.h"

#include "python/gil.h"
#include "python/inspect.h"
#include "remote/threads.h"
#include "remote/values.h"

static const unsigned versions[] = { 0x0308, 0x0309, 0x030a, 0x030b, 0x030c };

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void fake_remote(struct fake *fake, struct remote *remote)
{
	memset(remote, 0, sizeof(*remote));
	remote->reader = fake->reader;
	remote->layout = fake->layout;
	remote->walker = (struct walker){ .reader = &remote->reader, .layout = &remote->layout };
	remote->runtime = FAKE_BASE;
	remote->pid = 1;
}

/* Words that mostly lead to other words, as damaged objects' do. */
static void fill(struct fake *fake, uint64_t seed)
{
	uint64_t state = seed * 2654435761u + 88172645463325252ull;

	for (uint32_t at = 0; at < FAKE_SIZE; at += 8) {
		uint64_t word = next_random(&state);

		switch (word % 4) {
		case 0:
			word = FAKE_BASE + (word >> 8) % FAKE_SIZE / 8 * 8;
			break;
		case 1:
			word = (word >> 8) % 64;
			break;
		case 2:
			word |= 0x3f000000u; /* the flags of all built-in types */
			break;
		}
		fake_put(fake, FAKE_BASE + at, word);
	}
}

static void test_garbage(void **unused)
{
	(void)unused;
	struct remote_local *locals = calloc(REMOTE_LOCALS_MAX, sizeof(*locals));

	assert_non_null(locals);
	for (uint32_t i = 0; i < 200; i++) {
		struct fake *fake = fake_new(versions[i % 5]);
		struct remote remote;
		struct py_gil gil;
		struct buf text;

		fill(fake, i + 1);
		fake_remote(fake, &remote);
		for (uint32_t at = 0; at < 64; at++) {
			py_addr object = FAKE_BASE + at * 4096u;

			buf_init(&text, 200);
			remote_value_put(&remote, object, &text);
			assert_true(text.size <= 200);
			buf_fini(&text);
			inspect_dict_get(&remote.walker, object, "key");
			inspect_attribute(&remote.walker, object, "_name");
			inspect_module_variable(&remote.walker, object, "threading", "_active");
			assert_true(remote_locals_read(&remote, object, object + 2048, locals) <=
				    REMOTE_LOCALS_MAX);
			gil_find(&remote.walker, remote.runtime, object, &gil);
			gil_refresh(&remote.walker, &gil);
		}
		fake_free(fake);
	}
	free(locals);
}

/* A list of thread states that leads back into itself ends all the same. */
static void test_threads_in_a_circle(void **unused)
{
	(void)unused;
	struct fake *fake = fake_new(0x030b);
	struct remote_threads threads = { 0 };
	struct remote remote;
	const py_addr interpreter = FAKE_BASE + 0x2000;

	fake_remote(fake, &remote);
	fake_put(fake, FAKE_BASE + fake->layout.runtime_interpreters_head, interpreter);
	fake_put(fake, interpreter + fake->layout.interp_threads_head, FAKE_TSTATE);
	fake_put(fake, FAKE_TSTATE + fake->layout.thread_next, FAKE_HEAP);
	fake_put(fake, FAKE_HEAP + fake->layout.thread_next, FAKE_TSTATE);
	assert_int_equal(remote_threads_read(&remote, &threads), REMOTE_THREADS_MAX);
	fake_put(fake, FAKE_HEAP + fake->layout.thread_next, 12345);
	assert_int_equal(remote_threads_read(&remote, &threads), 2);
	remote_threads_fini(&threads);
	fake_free(fake);
}

static void test_numbers(void **unused)
{
	(void)unused;
	struct fake *fake = fake_new(0x030c);
	struct remote remote;
	int64_t value = 0;

	fake_remote(fake, &remote);
	fake_put(fake, FAKE_HEAP + 16, 2u << 3 | 2); /* two digits, negative */
	fake_put32(fake, FAKE_HEAP + 24, 5);
	fake_put32(fake, FAKE_HEAP + 28, 1);
	assert_true(inspect_int(&remote.walker, FAKE_HEAP, &value));
	assert_int_equal(value, -((1ll << 30) + 5));
	fake_put(fake, FAKE_HEAP + 16, 3u << 3); /* more than fits */
	fake_put32(fake, FAKE_HEAP + 32, 8);
	assert_false(inspect_int(&remote.walker, FAKE_HEAP, &value));
	fake_free(fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_threads_in_a_circle),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
