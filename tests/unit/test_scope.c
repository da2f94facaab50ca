/* test_scope.c - which files and functions are the user's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "profile/scope.h"

static bool ask(struct scope_rules rules, const char *path)
{
	scope_init(&rules);
	bool answer = scope_file(&rules, path);
	scope_fini(&rules);
	return answer;
}

static const struct scope_rules project = {.program = "/elsewhere/run.py", .folder = "/project"};

static void test_own_folder(void **state)
{
	assert_true(ask(project, "/project/a.py"));
	assert_true(ask(project, "/project/sub/b.py"));
	assert_true(ask(project, "/elsewhere/run.py"));
	assert_false(ask(project, "/elsewhere/other.py"));
	assert_false(ask(project, "/projects/a.py"));
	assert_true(ask(project, "relative.py"));
}

static void test_libraries_are_not(void **state)
{
	assert_false(ask(project, "/usr/lib/python3.11/json/__init__.py"));
	assert_false(ask(project, "/usr/lib/python3/dist-packages/numpy/core.py"));
	assert_false(ask(project, "/project/venv/lib/python3.13t/site-packages/x/y.py"));
	assert_false(ask(project, "/project/venv/lib64/python3.9/abc.py"));
	assert_true(ask(project, "/project/lib/pythonic/a.py"));
	assert_true(scope_is_library("/opt/py/lib/python3.8/os.py"));
	assert_false(scope_is_library("/home/user/python3.8/os.py"));
}

static void test_folder_among_the_packages(void **state)
{
	struct scope_rules rules = {.folder = "/venv/lib/python3.11/site-packages/mine"};
	assert_true(ask(rules, "/venv/lib/python3.11/site-packages/mine/a.py"));
	assert_false(ask(rules, "/venv/lib/python3.11/site-packages/other/a.py"));
}

static void test_cells_of_a_notebook(void **state)
{
	assert_true(ask(project, "/tmp/ipykernel_4711/123456.py"));
	assert_true(ask(project, "<ipython-input-3-0a1b2c3d4e5f>"));
	assert_false(ask(project, "/tmp/ipykernel_4711/other.py"));
	assert_false(ask(project, "/tmp/ipykernel_x/1.py"));
	assert_false(ask(project, "/tmp/ipykernel_4711/1.py/2.py"));
}

static void test_no_folder_means_no_library(void **state)
{
	struct scope_rules rules = {0};
	assert_true(ask(rules, "/anywhere/a.py"));
	assert_false(ask(rules, "/usr/lib/python3.11/os.py"));
}

static void test_options(void **state)
{
	const char *const names[] = {"", "model", "json"};
	struct scope_rules all = project, system = project, only = project, exclude = project;
	all.profile_all = true;
	assert_true(ask(all, "/usr/lib/python3.11/os.py"));
	assert_true(ask(all, "<frozen importlib._bootstrap>"));
	system.profile_system_libraries = true;
	assert_true(ask(system, "/usr/lib/python3.11/os.py"));
	assert_false(ask(system, "/elsewhere/other.py"));
	only.only = names;
	only.only_count = 3;
	assert_true(ask(only, "/project/model.py"));
	assert_false(ask(only, "/project/view.py"));
	assert_false(ask(only, "/usr/lib/python3.11/json/__init__.py"));
	only.only_count = 1; /* only the empty name: no restriction */
	assert_true(ask(only, "/project/view.py"));
	exclude.exclude = names;
	exclude.exclude_count = 3;
	assert_false(ask(exclude, "/project/model.py"));
	assert_true(ask(exclude, "/project/view.py"));
	exclude.profile_all = true;
	assert_false(ask(exclude, "/project/model.py"));
}

static void test_pseudo_files(void **state)
{
	static const char *const users[] = {"<string>", "<stdin>", "<exec@a.py:3>", "<unknown>",
					    "<ipython-input-1-abc>", "<python-input-0>", "<mycode>",
					    "<doctest mod.f[0]>"};
	static const char *const generated[] = {
		"<frozen importlib._bootstrap>", "<__array_function__ internals>",
		"<attrs generated init a.B>",    "<decorator-gen-12>",
		"<template>", "<class 'networkx.utils.decorators.argmap'> compilation 22",
		"<eval_with_key>.0", "<lambdifygenerated-1>",
	};
	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++)
		assert_true(ask(project, users[i]));
	for (size_t i = 0; i < sizeof(generated) / sizeof(generated[0]); i++)
		assert_false(ask(project, generated[i]));
}

static void test_links_are_followed(void **state)
{
	char real[] = "/tmp/heatline-scope-XXXXXX", link[64], file[128];
	assert_non_null(mkdtemp(real));
	snprintf(link, sizeof(link), "%s-link", real);
	assert_int_equal(symlink(real, link), 0);
	struct scope_rules rules = {.folder = link};
	snprintf(file, sizeof(file), "%s/a.py", real);
	assert_true(ask(rules, file));
	snprintf(file, sizeof(file), "%s/a.py", link);
	assert_true(ask(rules, file));
	unlink(link);
	rmdir(real);
}

static void test_functions(void **state)
{
	assert_true(scope_function("/p/a.py", "__init__"));
	assert_false(scope_function("<string>", "__init__"));
	assert_false(scope_function("<string>", "__create_fn__.<locals>.__eq__"));
	assert_false(scope_function("<string>", "<lambda>"));
	assert_true(scope_function("<string>", "<module>"));
	assert_true(scope_function("<string>", "work"));
	assert_true(scope_function("<string>", "Point.__init__"));
	assert_true(scope_function("<string>", "____"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_folder),
		cmocka_unit_test(test_libraries_are_not),
		cmocka_unit_test(test_folder_among_the_packages),
		cmocka_unit_test(test_cells_of_a_notebook),
		cmocka_unit_test(test_no_folder_means_no_library),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_pseudo_files),
		cmocka_unit_test(test_links_are_followed),
		cmocka_unit_test(test_functions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
