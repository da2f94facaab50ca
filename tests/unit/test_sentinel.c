/* Signals to the whole group and to one process, told apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <unistd.h>

#include "collect/sentinel.h"

static int setup(void **state)
{
	static struct sentinel sentinel;
	sigset_t all;
	setpgid(0, 0); /* the test runner is not to be signalled */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	sentinel_start(&sentinel);
	*state = &sentinel;
	return sentinel.pid > 0 ? 0 : -1;
}

static int teardown(void **state)
{
	sentinel_stop(*state);
	return 0;
}

static void test_alone(void **state)
{
	kill(getpid(), SIGUSR1);
	assert_false(sentinel_has_got(*state, SIGUSR1));
}

static void test_group(void **state)
{
	kill(0, SIGUSR1);
	assert_true(sentinel_has_got(*state, SIGUSR1));
	assert_false(sentinel_has_got(*state, SIGUSR1)); /* it is asked for once */
}

static void test_many_in_turn(void **state)
{
	for (int i = 0; i < 20; i++) {
		kill(0, SIGTERM);
		assert_true(sentinel_has_got(*state, SIGTERM));
		kill(getpid(), SIGTERM);
		assert_false(sentinel_has_got(*state, SIGTERM));
	}
}

static void test_without_one(void **state)
{
	struct sentinel none = {.fd = -1};
	(void)state;
	assert_false(sentinel_has_got(&none, SIGTERM));
	sentinel_stop(&none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_group),
		cmocka_unit_test(test_many_in_turn),
		cmocka_unit_test(test_without_one),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
