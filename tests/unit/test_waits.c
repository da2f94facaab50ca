/* test_waits.c - what a blocked thread waits for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/waits.h"

static enum wait_kind kind_of(long number, uint64_t first, uint64_t second)
{
	struct blocked_call call = {number, {first, second}};
	return waits_kind(&call, getpid());
}

static void test_parse(void **state)
{
	struct blocked_call call;
	char text[100];
	assert_false(blocked_call_parse("running\n", &call));
	assert_false(blocked_call_parse("", &call));
	assert_true(blocked_call_parse("-1 0x7ffd00 0x7f00", &call));
	assert_int_equal(call.number, -1);
	snprintf(text, sizeof(text), "%d 0x7f12 0x80 0x0 0x0 0x0 0x0 0x7ffd 0x7f11\n", SYS_futex);
	assert_true(blocked_call_parse(text, &call));
	assert_int_equal(call.number, SYS_futex);
	assert_true(blocked_call_is_futex(&call, 0x7f00, 0x7f13));
	assert_false(blocked_call_is_futex(&call, 0x7f13, 0x8000));
	call.number = SYS_nanosleep;
	assert_false(blocked_call_is_futex(&call, 0x7f00, 0x7f13));
}

static void test_calls(void **state)
{
	assert_int_equal(kind_of(SYS_futex, 0x1000, 0), WAIT_LOCK);
	assert_int_equal(kind_of(SYS_clock_nanosleep, 1, 0), WAIT_SLEEP);
	assert_int_equal(kind_of(SYS_pselect6, 0, 0), WAIT_SLEEP); /* time.sleep before 3.11 */
	assert_int_equal(kind_of(SYS_pselect6, 5, 0x1000), WAIT_SOCKET);
	assert_int_equal(kind_of(SYS_wait4, 5, 0), WAIT_CHILD);
	assert_int_equal(kind_of(-1, 0, 0), WAIT_OTHER);
	assert_int_equal(kind_of(SYS_getpid, 0, 0), WAIT_OTHER);
}

static void test_descriptors(void **state)
{
	int ends[2], sockets[2];
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	FILE *file = tmpfile();
	assert_non_null(file);
	assert_int_equal(kind_of(SYS_read, (uint64_t)ends[0], 0), WAIT_PIPE);
	assert_int_equal(kind_of(SYS_write, (uint64_t)sockets[1], 0), WAIT_SOCKET);
	assert_int_equal(kind_of(SYS_read, (uint64_t)fileno(file), 0), WAIT_FILE);
	fclose(file);
	close(ends[0]);
	close(ends[1]);
	close(sockets[0]);
	close(sockets[1]);
}

static void test_functions(void **state)
{
	assert_int_equal(waits_refine(WAIT_LOCK, "/usr/lib/python3.11/queue.py"), WAIT_QUEUE);
	assert_int_equal(waits_refine(WAIT_SLEEP, "/usr/lib/python3.11/queue.py"), WAIT_SLEEP);
	assert_int_equal(waits_refine(WAIT_PIPE, "/usr/lib/python3.11/subprocess.py"), WAIT_CHILD);
	assert_int_equal(waits_refine(WAIT_LOCK, "/home/me/program.py"), WAIT_LOCK);
}

static void test_most(void **state)
{
	struct metrics metrics = {.gil_s = 1};
	assert_string_equal(metrics_waits_for(&metrics), "GIL");
	metrics.waits_s[WAIT_CHILD] = 2;
	assert_string_equal(metrics_waits_for(&metrics), "child");
	assert_null(metrics_waits_for(&(struct metrics){.wait_s = 0}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),       cmocka_unit_test(test_calls),
		cmocka_unit_test(test_descriptors), cmocka_unit_test(test_functions),
		cmocka_unit_test(test_most),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
