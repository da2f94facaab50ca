/* test_regions.c - loops, functions and imports found in Python sources. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/regions.h"

static struct regions regions;

static void find(const char *text)
{
	regions_fini(&regions);
	regions_find(&regions, text, strlen(text));
}

static int fini(void **state)
{
	regions_fini(&regions);
	return 0;
}

static void check(uint32_t line, struct line_region expected)
{
	struct line_region found = regions_line(&regions, line);
	assert_int_equal(found.region_start, expected.region_start);
	assert_int_equal(found.region_end, expected.region_end);
	assert_int_equal(found.loop_start, expected.loop_start);
	assert_int_equal(found.loop_end, expected.loop_end);
	assert_int_equal(found.function_start, expected.function_start);
	assert_int_equal(found.function_end, expected.function_end);
}

#define CHECK(line, ...) check(line, (struct line_region){__VA_ARGS__})

static void test_nested_blocks(void **state)
{
	find("class A:\n"               /* 1 */
	     "    @deco\n"              /* 2 */
	     "    def f(self):\n"       /* 3 */
	     "        x = 1\n"          /* 4 */
	     "        for i in x:\n"    /* 5 */
	     "            while i:\n"   /* 6 */
	     "                i -= 1\n" /* 7 */
	     "            y\n"          /* 8 */
	     "        # comment\n"      /* 9 */
	     "\n"                       /* 10 */
	     "    z = 2\n"              /* 11 */
	     "top()\n");                /* 12 */
	CHECK(1, 1, 11, 1, 11, 1, 11);
	CHECK(2, 1, 11, 2, 2, 1, 11);
	CHECK(3, 3, 8, 3, 8, 3, 8);
	CHECK(4, 3, 8, 4, 4, 3, 8);
	CHECK(5, 5, 8, 5, 8, 3, 8);
	CHECK(7, 6, 7, 5, 8, 3, 8);
	CHECK(8, 5, 8, 5, 8, 3, 8);
	CHECK(9, 1, 11, 9, 9, 1, 11);
	CHECK(11, 1, 11, 11, 11, 1, 11);
	CHECK(12, 12, 12, 12, 12, 0, 0);
	CHECK(99, 99, 99, 99, 99, 0, 0);
}

static void test_else_of_a_loop(void **state)
{
	find("for i in x:\n"     /* 1 */
	     "    if i:\n"       /* 2 */
	     "        a\n"       /* 3 */
	     "    else:\n"       /* 4 */
	     "        b\n"       /* 5 */
	     "else:\n"           /* 6 */
	     "    c\n"           /* 7 */
	     "if y:\n"           /* 8 */
	     "    while y: y()\n" /* 9 */
	     "else:\n"           /* 10 */
	     "    z\n");         /* 11 */
	CHECK(3, 1, 7, 1, 7, 0, 0);
	CHECK(7, 1, 7, 1, 7, 0, 0);
	CHECK(9, 9, 9, 9, 9, 0, 0);
	CHECK(11, 11, 11, 11, 11, 0, 0);
}

static void test_async_and_names_like_keywords(void **state)
{
	find("async def f():\n"         /* 1 */
	     "    async for x in y:\n"  /* 2 */
	     "        format = for_x\n" /* 3 */
	     "    async with z:\n"      /* 4 */
	     "        pass\n"           /* 5 */
	     "defer = classes = whiles = fortune = 1\n");
	CHECK(3, 2, 3, 2, 3, 1, 5);
	CHECK(5, 1, 5, 5, 5, 1, 5);
	CHECK(6, 6, 6, 6, 6, 0, 0);
}

static void test_strings_brackets_and_joined_lines(void **state)
{
	find("def f():\n"                          /* 1 */
	     "    x = '''\n"                       /* 2 */
	     "for not_a_loop in this:\n"           /* 3 */
	     "'''\n"                               /* 4 */
	     "    y = [\n"                         /* 5 */
	     "1,\n"                                /* 6 */
	     "]\n"                                 /* 7 */
	     "    z = 1 + \\\n"                    /* 8 */
	     "2\n"                                 /* 9 */
	     "    r'\\' + \"a # no comment (\"\n"  /* 10 */
	     "\treturn\n"                          /* 11 */
	     "end\n");                             /* 12 */
	CHECK(3, 1, 11, 3, 3, 1, 11);
	CHECK(11, 1, 11, 11, 11, 1, 11);
	CHECK(12, 12, 12, 12, 12, 0, 0);
}

static void test_formatted_strings(void **state)
{
	find("def f():\n"                                   /* 1 */
	     "    a = f\"{d[\"key\"]} {{ {x:'>10} {y!r}\"\n" /* 2 */
	     "    b = f'{x:{w}.{p}} {\"'\"}'\n"             /* 3 */
	     "    c = rf'''{\n"                             /* 4 */
	     "for_(\"}\")\n"                                /* 5 */
	     "}'''\n"                                       /* 6 */
	     "    d = f'{x:%H:%M}' f\"\\N{DASH}\"\n"        /* 7 */
	     "    return 1\n"                               /* 8 */
	     "e\n");                                        /* 9 */
	CHECK(8, 1, 8, 8, 8, 1, 8);
	CHECK(9, 9, 9, 9, 9, 0, 0);
}

static void test_imports(void **state)
{
	find("import os, sys as system\n"
	     "from a.b import (c,  # why\n"
	     "    d as e,\n"
	     ")\n"
	     "from . import f\n"
	     "from ..g import *\n"
	     "if x: import h; import i\n"
	     "try:\n"
	     "    import j.k\n"
	     "except ImportError: pass\n"
	     "x = 'import nothing'\n"
	     "yield from z\n"
	     "importlib.reload(x)\n");
	const char *const expected[] = {
		"import os, sys as system", "from a.b import c, d as e", "from . import f",
		"from ..g import *",        "import h",                  "import i",
		"import j.k",
	};
	assert_int_equal(regions.import_count, sizeof(expected) / sizeof(expected[0]));
	for (uint32_t i = 0; i < regions.import_count; i++)
		assert_string_equal(regions.imports[i], expected[i]);
}

static void test_broken_source_gives_some_answer(void **state)
{
	static const char *const broken[] = {
		"def f(:\n  for", "'''never closed\nfor x in y:\n", "f'{", "f'{x:", "((((", "))))",
		"\\", "\\\n\\\n", "for", "class", "'\\", "f'{{{", "\tif x:\n  y\n z\n", "async",
		"import", "from", "\n\n\n", "def f():\n    x = (1,\n",
	};
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		find(broken[i]);
		for (uint32_t line = 1; line <= regions.line_count; line++) {
			struct line_region found = regions_line(&regions, line);
			assert_true(found.region_start >= 1 && found.region_start <= line);
			assert_true(found.region_end >= line);
			assert_true(found.region_end <= regions.line_count);
		}
	}
	find("");
	assert_int_equal(regions.line_count, 0);
}

static void test_deep_nesting_is_bounded(void **state)
{
	enum { DEPTH = 400 };
	char *text = mem_alloc(DEPTH * (DEPTH + 20));
	size_t size = 0;
	for (int i = 0; i < DEPTH; i++) {
		memset(text + size, ' ', (size_t)i);
		size += (size_t)i;
		memcpy(text + size, "while x:\n", 9);
		size += 9;
	}
	regions_fini(&regions);
	regions_find(&regions, text, size);
	CHECK(DEPTH, REGIONS_MAX_DEPTH, DEPTH, 1, DEPTH, 0, 0);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_nested_blocks, fini),
		cmocka_unit_test_teardown(test_else_of_a_loop, fini),
		cmocka_unit_test_teardown(test_async_and_names_like_keywords, fini),
		cmocka_unit_test_teardown(test_strings_brackets_and_joined_lines, fini),
		cmocka_unit_test_teardown(test_formatted_strings, fini),
		cmocka_unit_test_teardown(test_imports, fini),
		cmocka_unit_test_teardown(test_broken_source_gives_some_answer, fini),
		cmocka_unit_test_teardown(test_deep_nesting_is_bounded, fini),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
