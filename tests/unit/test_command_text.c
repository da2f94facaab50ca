/* test_command_text.c - the source of a program that stands on the command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/command_text.h"

#define FIND(words) command_text_find(words, sizeof(words))

static void test_finds_the_text(void **state)
{
	(void)state;
	assert_string_equal(FIND("python3\0-c\0print(1)"), "print(1)");
	assert_string_equal(FIND("python3\0-cprint(1)"), "print(1)");
	assert_string_equal(FIND("python3\0-IEc\0print(1)\0-c\0other"), "print(1)");
	assert_string_equal(FIND("python3\0-X\0dev\0-Wc\0-c\0print(1)"), "print(1)");
	assert_string_equal(FIND("python3\0--check-hash-based-pycs\0never\0-c\0a\nb"), "a\nb");
}

static void test_finds_none(void **state)
{
	(void)state;
	assert_null(FIND("python3"));
	assert_null(FIND("python3\0-c"));
	assert_null(FIND("python3\0prog.py\0-c\0print(1)"));
	assert_null(FIND("python3\0-m\0module\0-c\0print(1)"));
	assert_null(FIND("python3\0-\0-c\0print(1)"));
	assert_null(FIND("python3\0-W\0-c\0prog.py"));
	assert_null(FIND("python3\0-X"));
	assert_null(command_text_find("python3\0-c\0cut off here", 20));
	assert_null(command_text_find("", 0));
}

/* Meets a process with this text after its -c, which prints a line and reads one; its command
 * line is said to be `command`. */
static void meet(struct command_text *text, char *words, const char *command)
{
	char *argv[] = {"sh", "-c", words, NULL}, line;
	posix_spawn_file_actions_t actions;
	int in[2], out[2], status;
	pid_t pid;

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
	assert_int_equal(posix_spawn(&pid, "/bin/sh", &actions, NULL, argv, environ), 0);
	posix_spawn_file_actions_destroy(&actions);
	assert_int_equal(read(out[0], &line, 1), 1);
	command_text_meet(text, pid, command);
	for (int i = 0; i < 2; i++) {
		close(in[i]);
		close(out[i]);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void test_meets_the_program(void **state)
{
	(void)state;
	static const char program[] = "python3 -c …", child[] = "python3 -X dev -c …";
	struct command_text text = {0};

	meet(&text, "echo; read a", NULL);
	meet(&text, "echo; read a", "python3 prog.py");
	meet(&text, "echo; read a", "python3 -c from multiprocessing.spawn import spawn_main; spawn_main()");
	assert_null(text.text);
	meet(&text, "echo; read b", program);
	assert_ptr_equal(text.command, program);
	assert_int_equal(text.size, strlen("echo; read b"));
	assert_memory_equal(text.text, "echo; read b", text.size);
	meet(&text, "echo; read c", NULL);
	meet(&text, "echo; read c", program); /* the same command line: a fork, which is not asked */
	meet(&text, "echo; read b", child);
	assert_false(text.is_mixed);
	meet(&text, "echo; read c", child);
	assert_true(text.is_mixed);
	assert_memory_equal(text.text, "echo; read b", text.size);
	command_text_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_the_text),
		cmocka_unit_test(test_finds_none),
		cmocka_unit_test(test_meets_the_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
