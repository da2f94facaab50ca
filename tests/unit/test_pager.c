/* test_pager.c - when a report is paged, and what becomes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/pager.h"

static void test_choice(void **unused)
{
	struct style style = {.is_terminal = true, .rows = 4, .columns = 80};
	struct style pipe = {.columns = 80};

	(void)unused;
	unsetenv("PAGER");
	assert_string_equal(pager_choose(&style, "1\n2\n3\n4\n", 8), "less");
	assert_null(pager_choose(&style, "1\n2\n3\n", 6)); /* the prompt takes the fourth */
	assert_null(pager_choose(&pipe, "1\n2\n3\n4\n", 8));
	setenv("PAGER", "most -s", 1);
	assert_string_equal(pager_choose(&style, "1\n2\n3\n4\n5", 9), "most -s");
	setenv("PAGER", "", 1);
	assert_null(pager_choose(&style, "1\n2\n3\n4\n", 8));
	setenv("PAGER", "cat", 1);
	assert_null(pager_choose(&style, "1\n2\n3\n4\n", 8));
}

/* What pager_show leaves on standard output, up to `size` bytes. */
static int show(const char *command, const char *text, char *shown, size_t size)
{
	struct err err = {0};
	FILE *file = tmpfile();
	int saved = dup(STDOUT_FILENO);
	int status;
	size_t got;

	assert_non_null(file);
	fflush(stdout);
	dup2(fileno(file), STDOUT_FILENO);
	status = pager_show(command, text, strlen(text), &err);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	rewind(file);
	got = fread(shown, 1, size - 1, file);
	shown[got] = '\0';
	fclose(file);
	return status;
}

static void test_show(void **unused)
{
	char shown[200];

	(void)unused;
	unsetenv("LESS");
	assert_int_equal(show(NULL, "one\ntwo\n", shown, sizeof shown), 0);
	assert_string_equal(shown, "one\ntwo\n");
	assert_int_equal(show("sed s/o/0/; echo $LESS", "one\n", shown, sizeof shown), 0);
	assert_string_equal(shown, "0ne\nFRX\n");
	/* A pager that is not there is no reason to show nothing. */
	assert_int_equal(show("no-such-pager 2>&-", "one\n", shown, sizeof shown), 0);
	assert_string_equal(shown, "one\n");
}

/* The user quits the pager before it has read everything. */
static void test_reader_leaves(void **unused)
{
	size_t size = 1 << 20;
	char *text = malloc(size + 1);
	char shown[20];
	struct sigaction action;

	(void)unused;
	memset(text, 'x', size);
	text[size] = '\0';
	assert_int_equal(show("head -c 3", text, shown, sizeof shown), 0);
	assert_string_equal(shown, "xxx");
	sigaction(SIGPIPE, NULL, &action);
	assert_true(action.sa_handler == SIG_DFL);
	sigaction(SIGINT, NULL, &action);
	assert_true(action.sa_handler == SIG_DFL);
	free(text);
}

static void show_on(int fd, int expected, const char *reason)
{
	struct err err = {0};
	int saved = dup(STDOUT_FILENO);
	int status;

	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	status = pager_show(NULL, "text\n", 5, &err);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	assert_int_equal(status < 0, expected);
	assert_non_null(strstr(err.message, reason));
}

static void test_broken_outputs(void **unused)
{
	int ends[2];
	int full = open("/dev/full", O_WRONLY);

	(void)unused;
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	show_on(ends[1], 0, ""); /* nobody reads: quiet */
	close(ends[1]);
	if (full < 0)
		skip();
	show_on(full, 1, "could not be written");
	close(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_show),
		cmocka_unit_test(test_reader_leaves),
		cmocka_unit_test(test_broken_outputs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
