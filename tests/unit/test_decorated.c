/* Functions that carry a bare @profile, told from the source. */
#include "profile/decorated.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void check(const char *text, uint32_t count, uint32_t first, uint32_t last, bool needs_name)
{
	struct decorated decorated;
	decorated_find(&decorated, text, strlen(text));
	assert_int_equal(decorated.count, count);
	assert_int_equal(decorated.needs_name, needs_name);
	if (count > 0) {
		assert_int_equal(decorated.functions[0].first, first);
		assert_int_equal(decorated.functions[0].last, last);
	}
	decorated_fini(&decorated);
}

static void test_a_function_ends_where_its_block_does(void **state)
{
	check("import a\n@profile\ndef f():\n    x = 1\n\n    return x\ny = 2\n", 1, 2, 6, true);
	check("@profile\nasync def f():\n    pass\n", 1, 1, UINT32_MAX, true);
	check("class A:\n    @staticmethod\n    @profile\n    def f():\n        pass\n    z = 1\n", 1, 2,
	      5, true);
	check("@profile\ndef f():\n    def g():\n        pass\n@profile\ndef h(): pass\n", 2, 1, 4,
	      true);
}

static void test_whose_profile_it_is(void **state)
{
	check("from heatline import profile\n@profile\ndef f(): pass\n", 1, 2, UINT32_MAX, false);
	check("import heatline\n@heatline.profile\ndef f(): pass\n", 1, 2, UINT32_MAX, true);
	check("from mine import profile\n@profile\ndef f(): pass\n", 0, 0, 0, false);
	check("from mine import (a,\n  b as profile)\n@profile\ndef f(): pass\n", 0, 0, 0, false);
	check("from mine import profile as p\n@profile\ndef f(): pass\n", 1, 2, UINT32_MAX, true);
	check("def profile(f): return f\n@profile\ndef f(): pass\n", 0, 0, 0, false);
	check("profile = print\n@profile\ndef f(): pass\n", 0, 0, 0, false);
	check("try:\n    profile\nexcept NameError:\n    def profile(f): return f\n@profile\ndef f(): pass\n",
	      1, 5, UINT32_MAX, true);
}

static void test_what_is_none(void **state)
{
	check("", 0, 0, 0, false);
	check("@profile(1)\ndef f(): pass\n", 0, 0, 0, false);
	check("@a.profile\ndef f(): pass\n", 0, 0, 0, false);
	check("s = '''\n@profile\ndef f(): pass\n'''\n", 0, 0, 0, false);
	check("# @profile\ndef f(): pass\n", 0, 0, 0, false);
	check("@profile\nclass A: pass\ndef f(): pass\n", 0, 0, 0, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_function_ends_where_its_block_does),
		cmocka_unit_test(test_whose_profile_it_is),
		cmocka_unit_test(test_what_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
