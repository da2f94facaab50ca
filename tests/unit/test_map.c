/* test_map.c - hash maps and interned strings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/intern.h"
#include "base/map.h"

static void test_numbers_are_found_again(void **state)
{
	struct map map;
	map_init(&map);
	assert_null(map_get(&map, 5));
	assert_null(map_get(&map, 0));
	for (uint64_t i = 0; i < 5000; i++) {
		bool is_new;
		*map_put(&map, i << 32, &is_new) = i + 1;
		assert_true(is_new);
	}
	for (uint64_t i = 0; i < 5000; i++) {
		bool is_new;
		assert_int_equal(*map_get(&map, i << 32), i + 1);
		assert_int_equal(*map_put(&map, i << 32, &is_new), i + 1);
		assert_false(is_new);
		assert_null(map_get(&map, (i << 32) + 1));
	}
	map_fini(&map);
}

static void test_new_values_are_zero(void **state)
{
	struct map map = {0};
	assert_int_equal(*map_put(&map, UINT64_MAX, NULL), 0);
	assert_int_equal(*map_put(&map, 0, NULL), 0);
	map_fini(&map);
	struct map_bytes bytes = {0};
	assert_int_equal(*map_bytes_put(&bytes, "key", 3, NULL), 0);
	map_bytes_fini(&bytes);
}

static void test_bytes_are_found_again(void **state)
{
	struct map_bytes map;
	map_bytes_init(&map);
	assert_null(map_bytes_get(&map, "", 0));
	char key[32];
	for (uint32_t i = 0; i < 3000; i++) {
		int size = snprintf(key, sizeof(key), "key %u", i);
		bool is_new;
		*map_bytes_put(&map, key, (size_t)size, &is_new) = i;
		assert_true(is_new);
	}
	*map_bytes_put(&map, "", 0, NULL) = 77;
	*map_bytes_put(&map, "a\0b", 3, NULL) = 78;
	for (uint32_t i = 0; i < 3000; i++) {
		int size = snprintf(key, sizeof(key), "key %u", i);
		assert_int_equal(*map_bytes_get(&map, key, (size_t)size), i);
	}
	assert_int_equal(*map_bytes_get(&map, "", 0), 77);
	assert_int_equal(*map_bytes_get(&map, "a\0b", 3), 78);
	assert_null(map_bytes_get(&map, "a\0c", 3));
	assert_null(map_bytes_get(&map, "a", 1));
	map_bytes_fini(&map);
}

static void test_hash_is_never_zero_and_uses_all_bytes(void **state)
{
	assert_int_not_equal(map_hash_bytes("", 0), 0);
	assert_int_not_equal(map_hash_bytes("a", 1), map_hash_bytes("b", 1));
	assert_int_not_equal(map_hash_bytes("a\0", 2), map_hash_bytes("a", 1));
	assert_int_not_equal(map_hash_bytes("12345678a", 9), map_hash_bytes("12345678b", 9));
	assert_int_not_equal(map_hash_number(0), 0);
}

static void test_equal_texts_are_one_pointer(void **state)
{
	struct intern *intern = intern_new();
	assert_null(intern_text(intern, NULL));
	char copy[] = "name";
	const char *name = intern_text(intern, "name");
	assert_ptr_not_equal(name, copy);
	assert_ptr_equal(intern_text(intern, copy), name);
	assert_ptr_equal(intern_bytes(intern, "named", 4), name);
	assert_ptr_not_equal(intern_text(intern, "Name"), name);
	assert_string_equal(intern_text(intern, ""), "");
	intern_free(intern);
	intern_free(NULL);
}

static void test_interned_texts_never_move(void **state)
{
	struct intern *intern = intern_new();
	const char *kept[2000];
	char text[64];
	for (int i = 0; i < 2000; i++) {
		snprintf(text, sizeof(text), "a text with the number %d", i);
		kept[i] = intern_text(intern, text);
	}
	static char large[100000];
	memset(large, 'x', sizeof(large) - 1);
	assert_string_equal(intern_text(intern, large), large);
	for (int i = 0; i < 2000; i++) {
		snprintf(text, sizeof(text), "a text with the number %d", i);
		assert_string_equal(kept[i], text);
		assert_ptr_equal(intern_text(intern, text), kept[i]);
	}
	intern_free(intern);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_are_found_again),
		cmocka_unit_test(test_new_values_are_zero),
		cmocka_unit_test(test_bytes_are_found_again),
		cmocka_unit_test(test_hash_is_never_zero_and_uses_all_bytes),
		cmocka_unit_test(test_equal_texts_are_one_pointer),
		cmocka_unit_test(test_interned_texts_never_move),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
