/* What a program's name means, in a folder with one of each kind.
 *
 * bin/ is the whole PATH.  Its python3 is this test's own executable, which
 * passes for an interpreter as long as nobody starts it. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/binary.h"
#include "cli/places.h"
#include "cli/target.h"

static char folder[4096];

static void write_file(const char *path, const char *text, mode_t mode)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(path, mode), 0);
}

static int enter_folder(void **state)
{
	char place[] = "/tmp/heatline-test-XXXXXX";

	if (!mkdtemp(place) || chdir(place) || !getcwd(folder, sizeof(folder)))
		return -1;
	mkdir("bin", 0755);
	mkdir("package", 0755);
	mkdir("empty", 0755);
	write_file("prog.py", "print(1)\n", 0644);
	write_file("package/__main__.py", "print(1)\n", 0644);
	write_file("plain", "print(1)\n", 0644);
	write_file("script", "#!/usr/bin/env python3\n", 0755);
	write_file("script-old", "#!/usr/bin/env python2.7\n", 0755);
	write_file("shell", "#!/bin/sh\n", 0755);
	write_file("shell-unpermitted", "#!/bin/sh\n", 0644);
	write_file("astray", "#!/nosuch/python3\n", 0755);
	write_file("bin/tool", "#!/usr/bin/env python3\n", 0755);
	write_file("bin/python2.7", "#!/bin/sh\n", 0755);
	write_file("bin/pypy3", "#!/bin/sh\n", 0755);
	char path[8192], executable[4096] = "";
	if (readlink("/proc/self/exe", executable, sizeof(executable) - 1) < 0 ||
	    symlink(executable, "bin/python3"))
		return -1;
	snprintf(path, sizeof(path), "%s/bin", folder);
	unsetenv("VIRTUAL_ENV");
	return setenv("PATH", path, 1);
}

static int leave_folder(void **state)
{
	const char *const files[] = {"prog.py", "package/__main__.py", "plain", "script",
				     "script-old", "shell", "shell-unpermitted", "astray",
				     "bin/tool", "bin/python2.7", "bin/pypy3", "bin/python3"};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlink(files[i]);
	rmdir("bin");
	rmdir("package");
	rmdir("empty");
	return chdir("/") || rmdir(folder);
}

/* The path below the test's folder. */
static const char *below(const char *name)
{
	static char path[8192];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

/* Resolves words (blanks between them) and checks argv, written the same way,
 * with "PY" for the interpreter. */
static void expect(struct target *target, const char *words, const char *python, const char *argv)
{
	char copy[256], *list[16] = {NULL}, found[512] = "";
	int count = 0;
	struct err err;

	snprintf(copy, sizeof(copy), "%s", words);
	for (char *rest = copy, *word; (word = strsep(&rest, " "));)
		list[count++] = word;
	err_clear(&err);
	if (target_resolve(list, python, target, &err))
		fail_msg("%s: %s", words, err.message);
	for (char **word = target->argv; *word; word++) {
		size_t used = strlen(found);
		bool is_python = strcmp(*word, below("bin/python3")) == 0;

		snprintf(found + used, sizeof(found) - used, "%s%s", used ? " " : "",
			 is_python ? "PY" : *word);
	}
	assert_string_equal(found, argv);
}

static void expect_error(const char *first, const char *second, const char *python,
			 const char *sentence)
{
	char *words[] = {(char *)first, (char *)second, NULL};
	struct target target = {.argv = NULL};
	struct err err;

	assert_true(target_resolve(words, python, &target, &err) < 0);
	assert_non_null(strstr(err.message, sentence));
	assert_null(target.argv);
}

static void scripts(void **state)
{
	struct target target;

	expect(&target, "prog.py a --b", NULL, "PY prog.py a --b");
	assert_string_equal(target.path, below("bin/python3"));
	assert_string_equal(target.program, below("prog.py"));
	assert_string_equal(target.entrypoint_dir, folder);
	assert_string_equal(target.args[0], "a");
	target_fini(&target);
	expect(&target, "prog.py --- --- x", NULL, "PY prog.py --- x");
	target_fini(&target);
	expect(&target, "plain", NULL, "PY plain");
	assert_null(target.args[0]);
	target_fini(&target);
	expect(&target, "package x", NULL, "PY package x");
	assert_string_equal(target.entrypoint_dir, below("package"));
	target_fini(&target);
	expect(&target, "- x", NULL, "PY - x");
	target_fini(&target);
}

static void modules(void **state)
{
	struct target target;

	expect(&target, "-m json.tool --- -h", NULL, "PY -m json.tool -h");
	assert_string_equal(target.program, "json.tool");
	assert_string_equal(target.entrypoint_dir, folder);
	assert_string_equal(target.args[0], "-h");
	target_fini(&target);
	expect_error("-m", NULL, NULL, "-m needs the name of a module");
}

static void commands(void **state)
{
	struct target target;

	expect(&target, "tool -x", NULL, "tool -x");
	assert_string_equal(target.path, below("bin/tool"));
	assert_string_equal(target.program, "tool");
	assert_string_equal(target.entrypoint_dir, folder);
	target_fini(&target);
	expect(&target, "bin/tool", NULL, "bin/tool");
	assert_string_equal(target.program, "tool");
	assert_string_equal(target.entrypoint_dir, folder);
	target_fini(&target);
	expect(&target, "script 1", NULL, "script 1");
	assert_string_equal(target.path, "./script");
	assert_string_equal(target.program, below("script"));
	target_fini(&target);
	expect(&target, "./shell", NULL, "./shell");
	target_fini(&target);
}

static void python_commands(void **state)
{
	struct target target;

	expect(&target, "python3 -X dev -uWignore prog.py 1", NULL,
	       "python3 -X dev -uWignore prog.py 1");
	assert_string_equal(target.path, below("bin/python3"));
	assert_string_equal(target.program, below("prog.py"));
	assert_string_equal(target.args[0], "1");
	target_fini(&target);
	expect(&target, "python3 bin/tool", NULL, "python3 bin/tool");
	assert_string_equal(target.program, "tool");
	assert_string_equal(target.entrypoint_dir, folder);
	target_fini(&target);
	expect(&target, "python3 -c pass a", NULL, "python3 -c pass a");
	assert_string_equal(target.program, "-c");
	assert_string_equal(target.args[0], "a");
	target_fini(&target);
	expect(&target, "python3 -Imjson.tool a", NULL, "python3 -Imjson.tool a");
	assert_string_equal(target.program, "json.tool");
	assert_string_equal(target.args[0], "a");
	target_fini(&target);
	expect(&target, "python3 -m", NULL, "python3 -m");
	assert_null(target.args[0]);
	target_fini(&target);
	expect(&target, "python3", NULL, "python3");
	assert_string_equal(target.program, "python3");
	assert_null(target.args[0]);
	target_fini(&target);
}

static void a_chosen_interpreter(void **state)
{
	struct target target;

	expect(&target, "prog.py", "python3", "PY prog.py");
	target_fini(&target);
	expect(&target, "prog.py", "3", "PY prog.py");
	target_fini(&target);
	expect(&target, "prog.py", ".", "./bin/python3 prog.py");
	target_fini(&target);
	expect(&target, "script", "python3", "PY ./script");
	target_fini(&target);
	char words[8300];
	snprintf(words, sizeof(words), "PY %s x", below("bin/tool"));
	expect(&target, "tool x", "python3", words);
	assert_string_equal(target.entrypoint_dir, folder);
	target_fini(&target);
	expect_error("./shell", NULL, "python3", "brings its own interpreter");
	expect_error("prog.py", NULL, "nosuch", "there is no interpreter 'nosuch'");
	expect_error("prog.py", NULL, "2.7", "is too old");
	expect_error("prog.py", NULL, "pypy3", "is not CPython");
}

static void the_active_environment(void **state)
{
	struct target target;

	setenv("VIRTUAL_ENV", folder, 1);
	setenv("PATH", "/nosuch", 1);
	expect(&target, "prog.py", NULL, "PY prog.py");
	target_fini(&target);
	/* A command that is not on the PATH, but beside the interpreter. */
	expect(&target, "tool", NULL, "tool");
	assert_string_equal(target.path, below("bin/tool"));
	target_fini(&target);
	unsetenv("VIRTUAL_ENV");
	expect_error("prog.py", NULL, NULL, "no python3 on the PATH");
	setenv("PATH", below("bin"), 1);
}

static void wrong_programs(void **state)
{
	expect_error(NULL, NULL, NULL, "name the program to profile");
	expect_error("", NULL, NULL, "there is no file and no command ''");
	expect_error("nosuch.py", NULL, NULL, "there is no file 'nosuch.py'");
	expect_error("./nosuch", NULL, NULL, "there is no file './nosuch'");
	expect_error("prog.py/x", NULL, NULL, "cannot run 'prog.py/x'");
	expect_error("nosuch", NULL, NULL, "there is no file and no command 'nosuch'");
	expect_error("empty", NULL, NULL, "'empty' is a folder without a __main__.py");
	expect_error("shell-unpermitted", NULL, NULL, "is not executable");
	expect_error("./astray", NULL, NULL, "whose first line names '/nosuch/python3'");
	expect_error("python2.7", "prog.py", NULL, "is too old");
	expect_error("./script-old", NULL, NULL, "is too old");
}

/* An ELF header and nothing else: no dynamic linker. */
static void static_executables(void **state)
{
	char head[4096] = "";
	struct err err;
	int own = open("/proc/self/exe", O_RDONLY);

	assert_int_equal(read(own, head, 64), 64);
	close(own);
	memset(head + 56, 0, 2); /* e_phnum */
	int copy = open("static", O_WRONLY | O_CREAT, 0755);
	assert_int_equal(write(copy, head, sizeof(head)), sizeof(head));
	close(copy);
	assert_int_equal(binary_kind("static"), BINARY_ELF);
	expect_error("./static", NULL, NULL, "is statically linked");
	copy = open("static", O_WRONLY);
	head[18] = 2; /* e_machine: SPARC */
	assert_int_equal(write(copy, head, sizeof(head)), sizeof(head));
	close(copy);
	expect_error("./static", NULL, NULL, "another kind of machine");
	unlink("static");
	assert_int_equal(binary_check("/proc/self/exe", &err), 0);
}

static void first_lines(void **state)
{
	char interpreter[SHEBANG_BYTES], argument[SHEBANG_BYTES], line[600];

	write_file("line", "#! /usr/bin/env \t -S python3 -u\r\nrest", 0644);
	assert_true(binary_shebang("line", interpreter, argument));
	assert_string_equal(interpreter, "/usr/bin/env");
	assert_string_equal(argument, "-S");
	write_file("line", "#!/bin/sh", 0644);
	assert_true(binary_shebang("line", interpreter, argument));
	assert_string_equal(interpreter, "/bin/sh");
	assert_string_equal(argument, "");
	write_file("line", "#!\n/bin/sh", 0644);
	assert_false(binary_shebang("line", interpreter, argument));
	memset(line, 'a', sizeof(line));
	memcpy(line, "#!", 2);
	line[sizeof(line) - 1] = '\0';
	write_file("line", line, 0644);
	assert_true(binary_shebang("line", interpreter, argument));
	unlink("line");
}

static void the_agent(void **state)
{
	struct err err;

	setenv("HEATLINE_LIBDIR", folder, 1);
	assert_null(places_find_agent(false, &err));
	assert_non_null(strstr(err.message, "HEATLINE_LIBDIR"));
	write_file("libheatline-agent.so", "", 0644);
	char *agent = places_find_agent(false, &err);
	assert_string_equal(agent, below("libheatline-agent.so"));
	free(agent);
	unlink("libheatline-agent.so");
	unsetenv("HEATLINE_LIBDIR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scripts),
		cmocka_unit_test(modules),
		cmocka_unit_test(commands),
		cmocka_unit_test(python_commands),
		cmocka_unit_test(a_chosen_interpreter),
		cmocka_unit_test(the_active_environment),
		cmocka_unit_test(wrong_programs),
		cmocka_unit_test(static_executables),
		cmocka_unit_test(first_lines),
		cmocka_unit_test(the_agent),
	};
	return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
