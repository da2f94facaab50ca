/* Calls of this program, redirected and back. */
#include "agent/tables.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

static pid_t other_getppid(void)
{
	return -7;
}

static struct table_hook hook_of(void *only_in)
{
	struct table_hook hook = {.name = "getppid", .only_in = only_in};
	hook.real = dlsym(RTLD_DEFAULT, "getppid");
	*(pid_t (**)(void))&hook.ours = other_getppid;
	return hook;
}

static void test_a_call_is_redirected_and_back(void **state)
{
	pid_t parent = getppid();
	struct table_hook hook = hook_of(NULL);
	for (int i = 0; i < 2; i++) {
		assert_int_not_equal(tables_redirect(&hook, 1), 0);
		assert_int_equal(getppid(), -7);
		assert_int_equal(tables_redirect(&hook, 1), 0); /* it is already */
		tables_restore(&hook, 1);
		assert_int_equal(getppid(), parent);
	}
}

static void test_only_the_library_that_is_meant(void **state)
{
	pid_t parent = getppid();
	struct table_hook hook = hook_of(dlsym(RTLD_DEFAULT, "getppid"));
	tables_redirect(&hook, 1);
	assert_int_equal(getppid(), parent); /* this program is not the C library */
	tables_restore(&hook, 1);
}

static void test_what_leads_elsewhere_stays(void **state)
{
	pid_t parent = getppid();
	struct table_hook hook = hook_of(NULL);
	hook.real = dlsym(RTLD_DEFAULT, "getpid");
	tables_redirect(&hook, 1);
	assert_int_equal(getppid(), parent);
	tables_restore(&hook, 1);
}

/* What was bound before stays as it is. */
static void test_a_name_leads_elsewhere(void **state)
{
	pid_t (*ours)(void) = other_getppid, (*found)(void);
	pid_t parent = getppid();
	void *library = dlopen("libc.so.6", RTLD_LAZY), *real = dlsym(library, "getppid");
	void *other = dlsym(library, "getpid");
	(void)state;
	tables_replace("getppid", other, *(void **)&ours); /* it is not what lies there */
	assert_ptr_equal(dlsym(library, "getppid"), real);
	tables_replace("getppid", real, *(void **)&ours);
	*(void **)&found = dlsym(library, "getppid");
	assert_int_equal(found(), -7);
	assert_ptr_equal(dlsym(library, "getpid"), other);
	assert_int_equal(getppid(), parent);
	dlclose(library);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_call_is_redirected_and_back),
		cmocka_unit_test(test_only_the_library_that_is_meant),
		cmocka_unit_test(test_what_leads_elsewhere_stays),
		cmocka_unit_test(test_a_name_leads_elsewhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
