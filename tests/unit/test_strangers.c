/* test_strangers.c - processes of a run that are no Python. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/strangers.h"

#define FOLDER "/dev/shm/heatline-abc"
#define HAS(words) strangers_has_word(words, sizeof(words), FOLDER)

static void test_finds_the_word(void **state)
{
	(void)state;
	assert_true(HAS("HEATLINE_RUN=" FOLDER));
	assert_true(HAS("HOME=/\0HEATLINE_RUN=" FOLDER "\0LANG=C"));
	assert_true(HAS("HOME=/\0HEATLINE_RUN=+" FOLDER));
	assert_false(HAS("HOME=/\0LANG=C"));
	assert_false(HAS("HEATLINE_RUN=/dev/shm/heatline-abd"));
	assert_false(HAS("HEATLINE_RUN=" FOLDER "d"));
	assert_false(HAS("HEATLINE_RUN="));
	assert_false(HAS("X=HEATLINE_RUN=" FOLDER));
	assert_false(strangers_has_word("HEATLINE_RUN=" FOLDER "cut", strlen("HEATLINE_RUN=" FOLDER),
					FOLDER));
	assert_false(strangers_has_word("", 0, FOLDER));
}

static pid_t start(const char *word)
{
	char *words[] = {"sleep", "60", NULL}, *environment[] = {(char *)word, NULL};
	pid_t pid;
	assert_int_equal(posix_spawn(&pid, "/bin/sleep", NULL, NULL, words, environment), 0);
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_are_there_until_the_last_has_gone(void **state)
{
	(void)state;
	static char word[64], folder[48];
	snprintf(folder, sizeof(folder), "/dev/shm/heatline-test-%d", (int)getpid());
	snprintf(word, sizeof(word), "HEATLINE_RUN=%s", folder);
	struct strangers strangers = {0};
	struct strangers_run run = {.folder = folder, .program = getpid(), .age_ns = UINT64_MAX};
	assert_false(strangers_are_there(&strangers, &run));
	pid_t other = start("HEATLINE_RUN=/elsewhere"), one = start(word);
	assert_true(strangers_are_there(&strangers, &run));
	assert_int_equal(strangers.count, 1);
	assert_int_equal(strangers.items[0].pid, one);
	/* Another that comes is found when the first has gone. */
	pid_t two = start(word);
	assert_true(strangers_are_there(&strangers, &run));
	stop(one);
	assert_true(strangers_are_there(&strangers, &run));
	assert_int_equal(strangers.items[0].pid, two);
	stop(two);
	assert_false(strangers_are_there(&strangers, &run));
	stop(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_the_word),
		cmocka_unit_test(test_are_there_until_the_last_has_gone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
