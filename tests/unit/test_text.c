/* test_text.c - strings, paths, nearest words, UTF-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

static void test_starts_and_ends(void **state)
{
	assert_true(text_starts_with("heatline", "heat"));
	assert_true(text_starts_with("heatline", ""));
	assert_false(text_starts_with("heat", "heatline"));
	assert_true(text_ends_with("prog.py", ".py"));
	assert_false(text_ends_with("py", ".py"));
	assert_true(text_equal(NULL, NULL));
	assert_false(text_equal(NULL, ""));
	assert_true(text_equal("a", "a"));
}

static void check(char *made, const char *expected)
{
	assert_string_equal(made, expected);
	free(made);
}

static void test_paths(void **state)
{
	check(path_join("/a", "b"), "/a/b");
	check(path_join("/a/", "b"), "/a/b");
	check(path_join("", "b"), "b");
	check(path_join("/a", "/b"), "/b");
	check(path_dirname("/a/b"), "/a");
	check(path_dirname("/a"), "/");
	check(path_dirname("a"), ".");
	check(path_dirname("/a/b//"), "/a");
	check(path_dirname("a/b"), "a");
	check(path_dirname("/"), "/");
	check(path_dirname(""), ".");
	assert_string_equal(path_basename("/a/b.py"), "b.py");
	assert_string_equal(path_basename("b.py"), "b.py");
}

static void test_normalise(void **state)
{
	check(path_normalise("/a/./b//c/"), "/a/b/c");
	check(path_normalise("/a/../b"), "/b");
	check(path_normalise("/../a"), "/a");
	check(path_normalise("a/../.."), "..");
	check(path_normalise("../../a/.."), "../..");
	check(path_normalise("."), ".");
	check(path_normalise(""), ".");
	check(path_normalise("/"), "/");
	check(path_normalise("a/b/../c"), "a/c");
}

/* As the kernel goes up from where a link leads. */
static void test_up_from_a_link(void **state)
{
	char folder[] = "/tmp/heatline-text-XXXXXX", path[128], expected[128];
	static const char *const parts[] = {"real", "real/deep", "real/deep/app", "app"};
	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, parts[i]);
		assert_int_equal(i < 3 ? mkdir(path, 0700) : symlink("real/deep/app", path), 0);
	}
	snprintf(path, sizeof(path), "%s/app/./../lib/mod.py", folder);
	snprintf(expected, sizeof(expected), "%s/real/deep/lib/mod.py", folder);
	check(path_normalise(path), expected);
	snprintf(path, sizeof(path), "%s/app/x/../../lib/mod.py", folder);
	check(path_normalise(path), expected);
	snprintf(path, sizeof(path), "%s/real/../app/mod.py", folder);
	snprintf(expected, sizeof(expected), "%s/app/mod.py", folder); /* the link stays */
	check(path_normalise(path), expected);
	for (size_t i = 4; i-- > 0;) {
		snprintf(path, sizeof(path), "%s/%s", folder, parts[i]);
		assert_int_equal(remove(path), 0);
	}
	rmdir(folder);
}

static void test_inside(void **state)
{
	assert_true(path_is_inside("/a/b/c.py", "/a/b"));
	assert_true(path_is_inside("/a/b", "/a/b"));
	assert_true(path_is_inside("/a/b/c", "/a/b/"));
	assert_false(path_is_inside("/a/bc", "/a/b"));
	assert_true(path_is_inside("/x", "/"));
	assert_false(path_is_inside("x", "/"));
}

static void test_distance(void **state)
{
	assert_int_equal(text_distance("", "abc"), 3);
	assert_int_equal(text_distance("kitten", "sitting"), 3);
	assert_int_equal(text_distance("profile", "porfile"), 1);
	assert_int_equal(text_distance("same", "same"), 0);
	char long_word[200];
	memset(long_word, 'a', sizeof(long_word) - 1);
	long_word[sizeof(long_word) - 1] = '\0';
	assert_int_equal(text_distance(long_word, long_word), 0);
	assert_int_equal(text_distance(long_word, "a"), UINT32_MAX);
}

static void test_nearest(void **state)
{
	const char *const choices[] = {"--outfile", "--cpu-only", "--profile-all", NULL};
	assert_string_equal(text_nearest("--outfiel", choices), "--outfile");
	assert_string_equal(text_nearest("--profileall", choices), "--profile-all");
	assert_null(text_nearest("--zzzzzzzzzz", choices));
	assert_null(text_nearest("x", choices));
	const char *const short_ones[] = {"off", "on", "run", NULL};
	assert_string_equal(text_nearest("rnu", short_ones), "run");
	assert_null(text_nearest("foo", short_ones)); /* most of its letters are others */
	const char *const none[] = {NULL};
	assert_null(text_nearest("--outfile", none));
}

static void test_utf8(void **state)
{
	assert_int_equal(text_utf8_length("a", 1), 1);
	assert_int_equal(text_utf8_length("\xc3\xa9", 2), 2);
	assert_int_equal(text_utf8_length("\xe2\x82\xac", 3), 3);
	assert_int_equal(text_utf8_length("\xf0\x9f\x94\xa5", 4), 4);
	assert_int_equal(text_utf8_length("", 0), 0);
	assert_int_equal(text_utf8_length("\xe2\x82", 2), 0);         /* cut */
	assert_int_equal(text_utf8_length("\xc0\xaf", 2), 0);         /* overlong */
	assert_int_equal(text_utf8_length("\xed\xa0\x80", 3), 0);     /* surrogate */
	assert_int_equal(text_utf8_length("\xf4\x90\x80\x80", 4), 0); /* beyond Unicode */
	assert_int_equal(text_utf8_length("\xff", 1), 0);
	assert_int_equal(text_utf8_length("\x80", 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_starts_and_ends), cmocka_unit_test(test_paths),
		cmocka_unit_test(test_normalise),
		cmocka_unit_test(test_up_from_a_link),       cmocka_unit_test(test_inside),
		cmocka_unit_test(test_distance),        cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_utf8),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
