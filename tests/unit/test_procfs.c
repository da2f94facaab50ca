/* What /proc says of a process: of ourselves, of a child, of one that has ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/procfs.h"

static void test_ourselves(void **state)
{
	(void)state;
	struct procfs_stat stat;
	prctl(PR_SET_NAME, "a) Z (b 1"); /* a name that looks like the rest of the line */
	assert_true(procfs_stat(getpid(), &stat));
	assert_int_equal(stat.state, 'R');
	assert_int_equal(stat.parent_pid, getppid());
	assert_true(stat.start > 0);
	assert_true(procfs_is_alive(getpid(), stat.start));
	assert_true(procfs_is_alive(getpid(), 0));
	assert_false(procfs_is_alive(getpid(), stat.start + 1));
}

static void test_a_child_that_ended(void **state)
{
	(void)state;
	siginfo_t info;
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	uint64_t start = procfs_start(child);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_false(procfs_is_alive(child, start)); /* nobody has waited for it */
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_false(procfs_is_alive(child, 0));
	assert_int_equal(procfs_start(child), 0);
}

static void test_no_process(void **state)
{
	(void)state;
	assert_false(procfs_is_alive(0, 0));
	assert_false(procfs_is_alive(-1, 0));
}

static bool read_schedule(const char *text, struct procfs_schedule *schedule)
{
	FILE *file = tmpfile();
	assert_non_null(file);
	fputs(text, file);
	fflush(file);
	bool is_read = procfs_read_schedule(fileno(file), schedule);
	fclose(file);
	return is_read;
}

static void test_schedule(void **state)
{
	(void)state;
	struct procfs_schedule told = {1, 2, 3};
	assert_false(procfs_read_schedule(-1, &told));
	assert_false(read_schedule("", &told));
	assert_false(read_schedule("12 13\n", &told));
	assert_false(read_schedule("12 - 14\n", &told));
	assert_int_equal(told.ran_ns, 1);
	assert_true(read_schedule("862606302 69757694 4815\n", &told));
	assert_int_equal(told.ran_ns, 862606302);
	assert_int_equal(told.ready_ns, 69757694);
	assert_int_equal(told.turns, 4815);
	assert_true(read_schedule("18446744073709551615 0 0\n", &told));
	assert_true(told.ran_ns == UINT64_MAX);
}

static void test_lines_of_maps(void **state)
{
	(void)state;
	struct procfs_mapping told;
	char code[] = "7f1c-7f2d r-xp 0001a000 fe:01 262 /usr/lib/a name.so\n";
	assert_true(procfs_parse_mapping(code, &told));
	assert_true(told.start == 0x7f1c && told.end == 0x7f2d && told.offset == 0x1a000);
	assert_true(told.is_executable);
	assert_string_equal(told.name, "/usr/lib/a name.so");
	char heap[] = "1000-ffffffffffffffff rw-p 00000000 00:00 0                 [heap]\n";
	assert_true(procfs_parse_mapping(heap, &told));
	assert_true(told.end == UINT64_MAX && !told.is_executable);
	assert_string_equal(told.name, "[heap]");
	char nameless[] = "1000-2000 rwxp 00000000 00:00 0 \n";
	assert_true(procfs_parse_mapping(nameless, &told));
	assert_true(told.is_executable);
	assert_string_equal(told.name, "");
}

/* Wherever a line is cut, nothing beyond it is read. */
static void test_cut_lines_of_maps(void **state)
{
	(void)state;
	static const char line[] = "7f1c-7f2d r-xp 0001a000 fe:01 262 /lib/a.so";
	for (size_t size = 0; size < sizeof(line); size++) {
		struct procfs_mapping told;
		char *exact = malloc(size + 1);
		memcpy(exact, line, size);
		exact[size] = '\0';
		assert_int_equal(procfs_parse_mapping(exact, &told), size >= 15);
		if (size >= 15)
			assert_true(told.name >= exact && told.name <= exact + size);
		free(exact);
	}
	char other[] = "no mapping\n";
	struct procfs_mapping told;
	assert_false(procfs_parse_mapping(other, &told));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ourselves),
		cmocka_unit_test(test_a_child_that_ended),
		cmocka_unit_test(test_no_process),
		cmocka_unit_test(test_schedule),
		cmocka_unit_test(test_lines_of_maps),
		cmocka_unit_test(test_cut_lines_of_maps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
