/* test_waits.c - what a blocked thread waits for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/waits.h"

static enum wait_kind kind_of_call(struct blocked_call call)
{
	struct mem_reader reader;
	mem_reader_init_process(&reader, getpid());
	return waits_kind(&call, &reader);
}

static enum wait_kind kind_of(long number, uint64_t first, uint64_t second)
{
	return kind_of_call((struct blocked_call){number, {first, second}});
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
	assert_int_equal(call.arguments[1], 0x80);
	assert_int_equal(call.arguments[3], 0);
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
	assert_int_equal(kind_of(SYS_pselect6, 5, 0x1000), WAIT_EVENTS); /* no memory of ours */
	assert_int_equal(kind_of(SYS_pselect6, UINT64_MAX, 0x1000), WAIT_EVENTS);
	assert_int_equal(kind_of(SYS_ppoll, 0x1000, UINT64_MAX), WAIT_EVENTS);
	assert_int_equal(kind_of(SYS_epoll_pwait, 5, 0x1000), WAIT_EVENTS);
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

/* A poll of several is one of the kind that they all are. */
static void test_polls(void **state)
{
	int ends[2], sockets[2];
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	struct pollfd list[] = {{.fd = sockets[0]}, {.fd = -1}, {.fd = sockets[1]}, {.fd = ends[0]}};
	assert_int_equal(kind_of(SYS_ppoll, (uintptr_t)list, 1), WAIT_SOCKET);
	assert_int_equal(kind_of(SYS_ppoll, (uintptr_t)list, 3), WAIT_SOCKET);
	assert_int_equal(kind_of(SYS_ppoll, (uintptr_t)list, 4), WAIT_EVENTS);
	assert_int_equal(kind_of(SYS_ppoll, (uintptr_t)&list[3], 1), WAIT_PIPE);
	fd_set reads, writes;
	FD_ZERO(&reads);
	FD_ZERO(&writes);
	FD_SET(ends[0], &reads);
	struct blocked_call call = {SYS_pselect6, {64, (uintptr_t)&reads, (uintptr_t)&writes}};
	assert_int_equal(kind_of_call(call), WAIT_PIPE);
	FD_SET(sockets[0], &writes);
	assert_int_equal(kind_of_call(call), WAIT_EVENTS);
	close(ends[0]);
	close(ends[1]);
	close(sockets[0]);
	close(sockets[1]);
}

/* What a wait of this kind is in these functions, innermost first: "file function". */
static enum wait_kind in_functions(enum wait_kind kind, const char *const functions[][2])
{
	bool goes_on = true;
	for (uint32_t i = 0; goes_on && functions[i][0] != NULL; i++)
		goes_on = waits_refine(&kind, functions[i][0], functions[i][1]);
	return kind;
}

#define IN(kind, ...) in_functions(kind, (const char *const[][2]){__VA_ARGS__, {NULL}})

static void test_functions(void **state)
{
	assert_int_equal(IN(WAIT_LOCK, {"/lib/threading.py", "Condition.wait"}, {"/lib/queue.py", "Queue.get"}),
			 WAIT_QUEUE);
	assert_int_equal(IN(WAIT_SLEEP, {"/lib/queue.py", "Queue.get"}), WAIT_SLEEP);
	assert_int_equal(IN(WAIT_PIPE, {"/lib/selectors.py", "select"}, {"/lib/subprocess.py", "run"}), WAIT_CHILD);
	assert_int_equal(IN(WAIT_LOCK, {"/home/me/program.py", "main"}), WAIT_LOCK);
	assert_int_equal(IN(WAIT_EVENTS, {"/lib/selectors.py", "select"},
			    {"/lib/multiprocessing/connection.py", "wait"},
			    {"/lib/multiprocessing/popen_forkserver.py", "Popen.poll"}),
			 WAIT_CHILD);
	assert_int_equal(IN(WAIT_SOCKET, {"/lib/selectors.py", "select"},
			    {"/lib/asyncio/base_events.py", "BaseEventLoop._run_once"}),
			 WAIT_EVENTS);
}

/* What waits is the innermost function that is none of those: who has called it says nothing. */
static void test_callers(void **state)
{
	assert_int_equal(IN(WAIT_SLEEP, {"/home/me/program.py", "sleeper"},
			    {"/lib/multiprocessing/process.py", "BaseProcess.run"},
			    {"/lib/multiprocessing/popen_fork.py", "Popen._launch"}),
			 WAIT_SLEEP);
	assert_int_equal(IN(WAIT_SLEEP, {"/lib/multiprocessing/popen_fork.py", "Popen._launch"},
			    {"/lib/multiprocessing/popen_fork.py", "Popen.wait"}),
			 WAIT_SLEEP);
	assert_int_equal(IN(WAIT_LOCK, {"/home/me/program.py", "use"},
			    {"/lib/concurrent/futures/thread.py", "_WorkItem.run"},
			    {"/lib/concurrent/futures/thread.py", "_worker"}),
			 WAIT_LOCK);
	assert_int_equal(IN(WAIT_LOCK, {"/lib/threading.py", "Event.wait"},
			    {"/lib/concurrent/futures/thread.py", "_WorkItem.run"},
			    {"/lib/concurrent/futures/thread.py", "_worker"}),
			 WAIT_LOCK);
	assert_int_equal(IN(WAIT_LOCK, {"/lib/concurrent/futures/thread.py", "_worker"}), WAIT_QUEUE);
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
		cmocka_unit_test(test_descriptors), cmocka_unit_test(test_polls),
		cmocka_unit_test(test_functions),   cmocka_unit_test(test_callers),
		cmocka_unit_test(test_most),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
