/* test_dicts.c - dictionaries as the versions keep them, and damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "python/dicts.h"

#define BASE 0x10000u
#define KEYS_AT 64u    /* words of memory */
#define VALUES_AT 512u
#define TEXTS_AT 1024u
#define TEXT_WORDS 16u

static uint64_t memory[4096];

struct made {
	struct mem_reader reader;
	struct walker walker;
};

/* A str object with this text; kind: as the state says of its characters. */
static py_addr put_text(const struct walker *walker, uint32_t number, const char *text, uint32_t kind)
{
	const struct py_layout *layout = walker->layout;
	unsigned char *at = (unsigned char *)&memory[TEXTS_AT + number * TEXT_WORDS];
	uint64_t length = strlen(text);
	uint32_t state = kind << layout->unicode_kind_shift;

	memcpy(at + layout->unicode_length, &length, sizeof(length));
	memcpy(at + layout->unicode_state, &state, sizeof(state));
	memcpy(at + layout->unicode_ascii_data, text, length);
	return BASE + (TEXTS_AT + number * TEXT_WORDS) * 8;
}

#define ASCII (1u | 8u | 16u) /* one byte a character, compact */
#define LATIN (1u | 8u)

static const char *const names[] = { "one", "two", "three", "four" };

/* A dict with these names, the second of which was deleted; values i * 8 + 8000. */
static void make(struct made *made, unsigned version)
{
	unsigned char *head = (unsigned char *)&memory[KEYS_AT];
	bool is_wide = version < 0x030b;
	uint64_t *entries = &memory[KEYS_AT + (is_wide ? 5 : 4) + 1]; /* behind 8 indexes of a byte */

	memset(memory, 0, sizeof(memory));
	mem_reader_init_bytes(&made->reader, (unsigned char *)memory, sizeof(memory), BASE);
	made->walker = (struct walker){ .reader = &made->reader, .layout = py_layout_known(version) };
	memory[4] = BASE + KEYS_AT * 8;
	if (is_wide)
		memory[KEYS_AT + 1] = 8;
	else
		head[8] = head[9] = 3;
	memory[KEYS_AT + (is_wide ? 4 : 3)] = 4;
	for (uint32_t i = 0; i < 4; i++, entries += 3) {
		entries[0] = 12345; /* the hash */
		entries[1] = i == 1 ? 0 : put_text(&made->walker, i, names[i], ASCII);
		entries[2] = i == 1 ? 0 : 8000 + 8 * i;
	}
}

static const unsigned versions[] = { 0x0306, 0x0308, 0x030a, 0x030b, 0x030c };

static void test_entries(void **state)
{
	(void)state;
	for (size_t v = 0; v < sizeof(versions) / sizeof(versions[0]); v++) {
		struct dict_entry entries[DICT_AT_ONCE], found;
		struct dict_view view;
		struct made made;
		uint32_t at = 0;

		make(&made, versions[v]);
		assert_true(dict_open(&made.walker, BASE, &view));
		assert_int_equal(view.count, 4);
		assert_int_equal(dict_read(&made.walker, &view, 0, entries), 4);
		assert_int_equal(entries[1].key, 0);
		assert_int_equal(entries[3].value, 8024);
		assert_int_equal(dict_read(&made.walker, &view, 3, entries), 1);
		assert_int_equal(dict_read(&made.walker, &view, 4, entries), 0);
		assert_true(dict_search(&made.walker, &view, "three", &at, &found));
		assert_int_equal(at, 2);
		assert_int_equal(found.value, 8016);
		assert_int_equal(found.key, memory[(dict_entry_place(&view, at) - BASE) / 8]);
		assert_int_equal(found.value, memory[(dict_entry_place(&view, at) - BASE) / 8 + 1]);
		at = 3;
		assert_false(dict_search(&made.walker, &view, "three", &at, &found));
		assert_int_equal(at, 4);
		at = 0;
		assert_false(dict_search(&made.walker, &view, "thre", &at, &found));
	}
}

/* Keys that are all texts have no hash; an instance's values stand elsewhere. */
static void test_instances(void **state)
{
	(void)state;
	struct dict_entry found;
	struct dict_view view;
	struct made made;
	uint32_t at = 0;

	make(&made, 0x030c);
	((unsigned char *)&memory[KEYS_AT])[10] = 2;
	for (uint32_t i = 0; i < 4; i++) {
		memory[KEYS_AT + 5 + 2 * i] = put_text(&made.walker, i, names[i], ASCII);
		memory[KEYS_AT + 5 + 2 * i + 1] = 0;
		memory[VALUES_AT + i] = 9000 + i;
	}
	memory[5] = BASE + VALUES_AT * 8;
	assert_true(dict_open(&made.walker, BASE, &view));
	assert_true(dict_search(&made.walker, &view, "two", &at, &found));
	assert_int_equal(found.value, 9001);
}

/* The same bytes, but not the same characters. */
static void test_other_texts(void **state)
{
	(void)state;
	struct dict_entry found;
	struct dict_view view;
	struct made made;
	uint32_t at = 0;

	make(&made, 0x030b);
	put_text(&made.walker, 3, "four", LATIN);
	assert_true(dict_open(&made.walker, BASE, &view));
	assert_false(dict_search(&made.walker, &view, "four", &at, &found));
}

/* A key that leads nowhere hides none of those behind it. */
static void test_unreadable_key(void **state)
{
	(void)state;
	struct dict_entry found;
	struct dict_view view;
	struct made made;
	uint32_t at = 0;

	make(&made, 0x030b);
	memory[KEYS_AT + 5 + 1] = 0x7fff0000;
	assert_true(dict_open(&made.walker, BASE, &view));
	assert_true(dict_search(&made.walker, &view, "four", &at, &found));
	assert_int_equal(found.value, 8024);
}

static void test_damaged(void **state)
{
	(void)state;
	struct dict_view view;
	struct made made;

	make(&made, 0x030a);
	memory[KEYS_AT + 1] = 7; /* no power of two */
	assert_false(dict_open(&made.walker, BASE, &view));
	memory[KEYS_AT + 1] = 1ull << 40;
	assert_false(dict_open(&made.walker, BASE, &view));
	memory[KEYS_AT + 1] = 2; /* fewer than there are entries */
	assert_false(dict_open(&made.walker, BASE, &view));
	make(&made, 0x030b);
	((unsigned char *)&memory[KEYS_AT])[9] = 60;
	assert_false(dict_open(&made.walker, BASE, &view));
	make(&made, 0x030b);
	memory[KEYS_AT + 3] = 9;
	assert_false(dict_open(&made.walker, BASE, &view));
	make(&made, 0x030b);
	memory[4] = BASE + KEYS_AT * 8 + 3; /* no pointer */
	assert_false(dict_open(&made.walker, BASE, &view));
	memory[4] = 0;
	assert_false(dict_open(&made.walker, BASE, &view));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_instances),
		cmocka_unit_test(test_other_texts),
		cmocka_unit_test(test_unreadable_key),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
