/* test_layout.c - known rows, and offsets published by nobody one could trust. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "python/code.h"
#include "python/layout.h"

#define BASE 0x10000u
#define WORDS 128u

/* What Python 3.13.0 publishes on x86_64. */
static const uint64_t published_3_13[] = {
	0,    0x030d00f0, 0,    283320, 608,  632, 194968, 7272, 7264, 7344, 7400, 7656, 7640, 7648, 16,
	7752, 0,	  7768, 7760,	304,  0,   8,	   16,	 72,   152,  160,  232,	 32,   80,   8,
	0,    56,	  72,	70,	208,  112, 120,	   128,	 136,  68,   52,   96,	 104,  200,  16,
	8,    416,	  24,	88,	168,  32,  24,	   16,	 40,   24,   16,   48,	 32,   40,   24,
	16,   32,	  16,	24,	40,   16,  32,	   64,	 32,   16,   40,   240,	 200,
};

/* And 3.14 built without the GIL. */
static const uint64_t published_3_14_free[] = {
	0,  0x030e00f0, 1, 362176, 784, 808, 246656, 7280, 7272, 7344, 7360, 7408, 7712, 7696, 7704,
	16, 7808, 0, 7832, 7824, 0, 0, 824, 0, 8, 16, 72, 152, 160, 232, 32, 88, 8, 0, 56, 80, 78, 64,
	72, 240, 128, 136, 144, 152, 84, 68, 112, 120, 232, 224, 32, 24, 432, 40, 104, 184, 56, 48, 32,
	56, 40, 32, 216, 40, 56, 48, 64, 48, 56, 40, 32, 48, 32, 40, 56, 32, 48, 80, 48, 32, 56, 288,
	192, 176, 40, 88, 83, 0, 8, 24,
};

static void make_table_of(uint64_t *words, const uint64_t *published, size_t size)
{
	memset(words, 0, WORDS * sizeof(*words));
	memcpy(words, published, size);
	memcpy(words, "xdebugpy", 8);
}

static void make_table(uint64_t *words)
{
	make_table_of(words, published_3_13, sizeof(published_3_13));
}

static void make_free_table(uint64_t *words)
{
	make_table_of(words, published_3_14_free, sizeof(published_3_14_free));
}

static int publish(const uint64_t *words, struct py_layout *layout)
{
	struct mem_reader reader;
	const char *why = NULL;
	int result;

	mem_reader_init_bytes(&reader, words, WORDS * sizeof(*words), BASE);
	result = py_layout_published(&reader, BASE, layout, &why);
	if (result != 0)
		assert_non_null(why);
	return result;
}

static void test_known(void **state)
{
	for (unsigned minor = 6; minor <= 12; minor++) {
		const struct py_layout *layout = py_layout_known(0x0300 + minor);

		assert_non_null(layout);
		assert_int_equal(layout->version, 0x0300 + minor);
		assert_true(layout->code_size <= CODE_HEAD_MAX);
		assert_true(layout->frame_size <= 256);
		assert_true(layout->lasti_scale > 0);
	}
	assert_null(py_layout_known(0x0305));
	assert_null(py_layout_known(0x030d));
	assert_null(py_layout_known(0x0400));
}

static void test_published(void **state)
{
	uint64_t words[WORDS];
	struct py_layout layout;

	make_table(words);
	assert_int_equal(publish(words, &layout), 0);
	assert_int_equal(layout.version, 0x030d);
	assert_int_equal(layout.frame_kind, PY_FRAME_INTERPRETER);
	assert_int_equal(layout.thread_frame, 72);
	assert_int_equal(layout.thread_datastack_top, 240);
	assert_int_equal(layout.code_flags, 48);
	assert_int_equal(layout.code_framesize, 76);
	assert_int_equal(layout.code_version, 92);
	assert_int_equal(layout.code_units, 16);
	assert_int_equal(layout.code_size, 200);
	assert_int_equal(layout.unicode_compact_data, 56);
	assert_false(layout.executable_tagged);
	assert_false(layout.has_copies);
	assert_int_equal(layout.unicode_kind_shift, 2);
	assert_int_equal(py_head_bytes(&layout), 16);
}

static void test_published_without_the_gil(void **state)
{
	enum { FRAME_COPY = 38, CODE_COPIES = 49 };
	uint64_t words[WORDS];
	struct py_layout layout;

	make_free_table(words);
	assert_int_equal(publish(words, &layout), 0);
	assert_int_equal(layout.version, 0x030e);
	assert_true(layout.free_threaded);
	assert_true(layout.has_copies);
	assert_int_equal(layout.interp_gil, PY_ABSENT);
	assert_int_equal(layout.frame_copy, 72);
	assert_int_equal(layout.frame_size, 80);
	assert_int_equal(layout.code_copies, 224);
	assert_int_equal(layout.code_size, 232);
	assert_int_equal(layout.unicode_kind_shift, 8);
	assert_int_equal(py_head_bytes(&layout), 32);
	/* Where the copies are must be told, within what is read of a frame and of a code object. */
	for (size_t i = 0; i < 2; i++) {
		size_t at = i == 0 ? FRAME_COPY : CODE_COPIES;
		static const uint64_t bad[] = { 0, 2, 84, 228, 232, 240, UINT64_MAX - 3 };

		for (size_t j = 0; j < sizeof(bad) / sizeof(bad[0]); j++) {
			if (at == CODE_COPIES && bad[j] == 84)
				continue;
			make_free_table(words);
			words[at] = bad[j];
			assert_int_equal(publish(words, &layout), -1);
		}
	}
	/* With the GIL there are none. */
	make_free_table(words);
	words[2] = words[FRAME_COPY] = words[CODE_COPIES] = 0;
	assert_int_equal(publish(words, &layout), 0);
	assert_false(layout.has_copies);
}

static void test_published_refused(void **state)
{
	uint64_t words[WORDS];
	struct py_layout layout;
	struct mem_reader reader;
	const char *why = NULL;

	make_table(words);
	words[0] = 0;
	assert_int_equal(publish(words, &layout), -1);
	make_table(words);
	words[1] = 0x030c00f0;
	assert_int_equal(publish(words, &layout), -1);
	words[1] = 0x040d00f0;
	assert_int_equal(publish(words, &layout), -1);
	words[1] = 0x030d00f0ull | 1ull << 40;
	assert_int_equal(publish(words, &layout), -1);
	mem_reader_init_bytes(&reader, words, 64, BASE);
	assert_int_equal(py_layout_published(&reader, BASE, &layout, &why), -1);
	assert_non_null(why);
}

/* Whatever single word is wrong: the table is refused, or every offset that
 * came of it lies where the walker and the code reader have room for it. */
static void test_published_hostile(void **state)
{
	static const uint64_t bad[] = { 0, 1, 3, 7, 255, 4096, UINT32_MAX, 1ull << 40, UINT64_MAX,
					UINT64_MAX - 7 };
	uint64_t words[WORDS];
	size_t count = sizeof(published_3_13) / 8, free_count = sizeof(published_3_14_free) / 8;

	for (size_t n = 3; n < count + free_count; n++) {
		for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
			struct py_layout layout = { 0 };
			bool is_free = n >= count;

			if (is_free)
				make_free_table(words);
			else
				make_table(words);
			if (n == count + 1) /* a version that is newer, or is none */
				continue;
			words[is_free ? n - count : n] = bad[i];
			if (publish(words, &layout) != 0) {
				assert_int_equal(layout.version, 0);
				continue;
			}
			assert_true(layout.code_size <= CODE_HEAD_MAX);
			assert_true(layout.frame_size <= 256);
			assert_true(layout.frame_previous + 8 <= layout.frame_size);
			assert_true(layout.frame_owner < layout.frame_size);
			assert_true(!layout.has_copies || layout.frame_copy + 4 <= layout.frame_size);
			assert_true(!layout.has_copies || layout.code_copies + 8 <= layout.code_size);
			assert_true(layout.code_lines + 8 <= layout.code_size);
			assert_true(layout.code_flags + 4 <= layout.code_size);
			assert_true(layout.code_version + 4 <= layout.code_size);
			assert_true(layout.object_type + 8 <= layout.code_size);
			assert_true(layout.unicode_state + 4 <= layout.unicode_ascii_data);
			assert_true(layout.unicode_length + 8 <= layout.unicode_ascii_data);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_published),
		cmocka_unit_test(test_published_without_the_gil),
		cmocka_unit_test(test_published_refused),
		cmocka_unit_test(test_published_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
