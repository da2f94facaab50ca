/* test_style.c - colours, width and alphabet from the environment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/style.h"

static int terminal = -1;

static int open_terminal(void **unused)
{
	struct winsize size = {.ws_row = 33, .ws_col = 77};
	int master = posix_openpt(O_RDWR | O_NOCTTY);

	(void)unused;
	if (master < 0 || grantpt(master) || unlockpt(master))
		return -1;
	terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
	return terminal < 0 || ioctl(terminal, TIOCSWINSZ, &size);
}

static int clean_environment(void **unused)
{
	static const char *const names[] = {"NO_COLOR", "COLUMNS", "LINES", "LC_ALL",
					    "LC_CTYPE", "LANG"};

	(void)unused;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unsetenv(names[i]);
	setenv("TERM", "xterm", 1);
	return 0;
}

static struct style style_for(int fd, enum style_color color)
{
	struct style style;

	style_init(&style, fd, color);
	return style;
}

static void test_terminal(void **unused)
{
	struct style style = style_for(terminal, STYLE_COLOR_AUTO);

	(void)unused;
	assert_true(style.is_terminal && style.is_cut && style.has_color);
	assert_int_equal(style.columns, 77);
	assert_int_equal(style.rows, 33);
	setenv("COLUMNS", "40", 1);
	assert_int_equal(style_for(terminal, STYLE_COLOR_AUTO).columns, 40);
	setenv("COLUMNS", "3", 1);
	assert_int_equal(style_for(terminal, STYLE_COLOR_AUTO).columns, STYLE_MIN_COLUMNS);
	setenv("COLUMNS", "many", 1);
	assert_int_equal(style_for(terminal, STYLE_COLOR_AUTO).columns, 77);
}

static void test_pipe(void **unused)
{
	struct style style = style_for(-1, STYLE_COLOR_AUTO);

	(void)unused;
	assert_false(style.is_terminal || style.is_cut || style.has_color);
	assert_int_equal(style.columns, STYLE_PIPE_COLUMNS);
	assert_int_equal(style.rows, 0);
	setenv("COLUMNS", "60", 1);
	style = style_for(-1, STYLE_COLOR_AUTO);
	assert_true(style.is_cut);
	assert_int_equal(style.columns, 60);
}

static void test_color(void **unused)
{
	(void)unused;
	assert_true(style_for(-1, STYLE_COLOR_ALWAYS).has_color);
	assert_false(style_for(terminal, STYLE_COLOR_NEVER).has_color);
	setenv("NO_COLOR", "", 1); /* empty counts as unset */
	assert_true(style_for(terminal, STYLE_COLOR_AUTO).has_color);
	setenv("NO_COLOR", "1", 1);
	assert_false(style_for(terminal, STYLE_COLOR_AUTO).has_color);
	assert_true(style_for(terminal, STYLE_COLOR_ALWAYS).has_color);
	unsetenv("NO_COLOR");
	setenv("TERM", "dumb", 1);
	assert_false(style_for(terminal, STYLE_COLOR_AUTO).has_color);
}

static void test_parse_color(void **unused)
{
	enum style_color color = STYLE_COLOR_NEVER;

	(void)unused;
	assert_int_equal(style_parse_color("always", &color), 0);
	assert_int_equal(color, STYLE_COLOR_ALWAYS);
	assert_int_equal(style_parse_color("sometimes", &color), -1);
	assert_int_equal(color, STYLE_COLOR_ALWAYS);
}

static void test_alphabet(void **unused)
{
	(void)unused;
	assert_true(style_for(-1, STYLE_COLOR_AUTO).has_utf8); /* no locale named */
	setenv("LC_ALL", "C", 1);
	assert_false(style_for(-1, STYLE_COLOR_AUTO).has_utf8);
	setenv("LC_ALL", "C.UTF-8", 1);
	assert_true(style_for(-1, STYLE_COLOR_AUTO).has_utf8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_terminal, clean_environment),
		cmocka_unit_test_setup(test_pipe, clean_environment),
		cmocka_unit_test_setup(test_color, clean_environment),
		cmocka_unit_test_setup(test_parse_color, clean_environment),
		cmocka_unit_test_setup(test_alphabet, clean_environment),
	};

	return cmocka_run_group_tests(tests, open_terminal, NULL);
}
