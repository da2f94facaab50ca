/* test_patch.c - diffs as models write them: applied where they belong, or refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "suggest/patch.h"

#define FILE_TEXT                  \
	"def f(x):\n"              \
	"    a = list(x)\n"        \
	"    for i in x:\n"        \
	"        if i in a:\n"     \
	"            pass\n"       \
	"    return a\n"

static void expect_in(const char *text, const char *diff, const char *expected)
{
	struct patch patch;
	struct err err;

	err_clear(&err);
	int status = patch_apply(&patch, "/p/src/x.py", text, strlen(text), diff, &err);
	assert_string_equal(err.message, "");
	assert_int_equal(status, 0);
	assert_string_equal(patch.text.data, expected);
	patch_fini(&patch);
}

static void refuse_in(const char *text, const char *diff, const char *sentence)
{
	struct patch patch;
	struct err err;

	assert_true(patch_apply(&patch, "/p/src/x.py", text, strlen(text), diff, &err) < 0);
	if (!strstr(err.message, sentence))
		assert_string_equal(err.message, sentence);
	patch_fini(&patch);
}

static const char changed[] = "def f(x):\n    a = set(x)\n    for i in x:\n        if i in a:\n"
			      "            pass\n    return a\n";

static void test_applied(void **state)
{
	expect_in(FILE_TEXT,
		  "--- a/src/x.py\n+++ b/src/x.py\n@@ -1,3 +1,3 @@\n def f(x):\n-    a = list(x)\n"
		  "+    a = set(x)\n     for i in x:\n",
		  changed);
	/* Wrong numbers, wrong counts, no file, no header, an empty line at its end. */
	expect_in(FILE_TEXT, "@@ -90,1 +90,7 @@ def f\n-    a = list(x)\n+    a = set(x)\n\n", changed);
	expect_in(FILE_TEXT, "-    a = list(x)\n+    a = set(x)\n", changed);
	expect_in(FILE_TEXT, "--- x.py\t2026\n+++ x.py\n@@ ... @@\n-    a = list(x)\n+    a = set(x)", changed);
}

static void test_white_space(void **state)
{
	expect_in(FILE_TEXT, "@@ -2 +2 @@\n-    a = list(x)  \n+    a = set(x)\n", changed);
	/* All of it indented less, or more. */
	expect_in(FILE_TEXT, "@@ -2 +2 @@\n-a = list(x)\n+a = set(x)\n for i in x:\n", changed);
	expect_in(FILE_TEXT, "@@ -2 +2 @@\n-      a = list(x)\n+      a = set(x)\n", changed);
	refuse_in(FILE_TEXT, "@@ -2 +2 @@\n-  a = list(x)\n+  a = set(x)\n for i in x:\n", "does not fit");
	/* A new line that cannot be moved as far as the others. */
	refuse_in(FILE_TEXT, "@@ -2 +2 @@\n-      a = list(x)\n+\t\ta = set(x)\n", "the indentation");
	refuse_in(FILE_TEXT, "@@ -2 +2 @@\n-      a = list(x)\n+a\n", "the indentation");
	/* The file's line ends, and none at its end, are kept. */
	expect_in("a\r\nb\r\nc", "@@ -2 +2 @@\n-b\n+d\n+e\n", "a\r\nd\r\ne\r\nc");
	expect_in("a\nb", "@@ -2 +2 @@\n-b\n+c\n\\ No newline at end of file\n", "a\nc");
}

static void test_several_places(void **state)
{
	static const char text[] = "a\nx\nb\nx\nc\nx\n";
	struct patch patch;
	struct err err;

	expect_in(text, "@@ -4 +4 @@\n-x\n+y\n", "a\nx\nb\ny\nc\nx\n");
	expect_in(text, "@@ -2 +2 @@\n-x\n+y\n@@ -6 +6 @@\n-x\n+z\n", "a\ny\nb\nx\nc\nz\n");
	refuse_in(text, "-x\n+y\n", "more than one place");
	refuse_in(text, "@@ -3 +3 @@\n-x\n+y\n", "more than one place");
	assert_int_equal(patch_apply(&patch, "x.py", text, sizeof(text) - 1,
				     "@@ -2,2 +2,3 @@\n-x\n+y\n+z\n b\n@@ -6 +7 @@\n-x\n", &err), 0);
	assert_int_equal(patch.ranges.count, 2);
	assert_int_equal(patch.ranges.items[0].before, 2);
	assert_int_equal(patch.ranges.items[0].before_count, 2);
	assert_int_equal(patch.ranges.items[0].after_count, 3);
	assert_int_equal(patch.ranges.items[1].before, 6);
	assert_int_equal(patch.ranges.items[1].after, 7);
	assert_int_equal(patch.ranges.items[1].after_count, 0);
	patch_fini(&patch);
}

static void test_refused(void **state)
{
	refuse_in(FILE_TEXT, "", "no change");
	refuse_in(FILE_TEXT, "just words\n", "no change");
	refuse_in(FILE_TEXT, "--- a/y.py\n+++ b/y.py\n@@ -1 +1 @@\n-def f(x):\n+def f(y):\n", "another file");
	refuse_in(FILE_TEXT, "--- a/x.py\n+++ b/../../etc/x.py\n@@ -1 +1 @@\n-def f(x):\n+\n", "another file");
	refuse_in(FILE_TEXT, "--- a/x.py\n+++ /dev/null\n@@ -1 +1 @@\n-def f(x):\n", "makes or removes");
	refuse_in(FILE_TEXT, "@@ -1 +1 @@\n-def g(x):\n+def h(x):\n", "does not fit");
	/* An empty line fits empty ones only. */
	refuse_in("a\nb\nc\n", "@@ -1,3 +1,3 @@\n a\n \n-c\n+d\n", "does not fit");
	refuse_in("a\n\nc\n", "@@ -1,3 +1,3 @@\n a\n b\n-c\n+d\n", "does not fit");
	refuse_in(FILE_TEXT, "@@ -1 +1 @@\n+import os\n", "where it belongs");
	refuse_in(FILE_TEXT, "@@ -1 +1 @@\n def f(x):\n", "changes nothing");
	refuse_in(FILE_TEXT, "@@ -4 +4 @@\n-        if i in a:\n+        if a:\n@@ -1 +1 @@\n-def f(x):\n+def g(x):\n",
		  "does not fit"); /* backwards */
}

static void test_masked_lines(void **state)
{
	static const char text[] = "key = f('sk-abcdefghijklmnopq12345')\nx = 1\n";

	expect_in(text, "@@ -1,2 +1,2 @@\n key = f('<masked>')\n-x = 1\n+x = 2\n",
		  "key = f('sk-abcdefghijklmnopq12345')\nx = 2\n");
	refuse_in(text, "@@ -1 +1 @@\n-key = f('<masked>')\n+key = g('<masked>')\n", "secret");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_applied),        cmocka_unit_test(test_white_space),
		cmocka_unit_test(test_several_places), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_masked_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
