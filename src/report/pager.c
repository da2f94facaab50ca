/* pager.c - show a finished report.
 *
 * While a pager runs, Ctrl-C is the pager's: less stops searching, it does not
 * quit.  So this process ignores it until the pager has ended; the pager
 * itself gets back what it would have had. */
#include "report/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_PAGER "less"
#define COMMAND_NOT_FOUND 127 /* the shell's status */

extern char **environ;

static size_t count_lines(const char *text, size_t size)
{
	size_t lines = 0;

	for (const char *end = text + size; text < end; lines++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));

		text = newline ? newline + 1 : end;
	}
	return lines;
}

const char *pager_choose(const struct style *style, const char *text, size_t size)
{
	const char *pager = getenv("PAGER");

	if (!style->is_terminal || count_lines(text, size) < style->rows)
		return NULL;
	if (!pager)
		return DEFAULT_PAGER;
	return *pager && strcmp(pager, "cat") != 0 ? pager : NULL;
}

/* Writes all of it; false when the reader is gone or writing failed (errno). */
static bool write_all(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t written = write(fd, text, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return false;
		text += written;
		size -= (size_t)written;
	}
	return true;
}

/* Starts `sh -c command` with its input at *input.  Returns the pid or -1. */
static pid_t start(const char *command, int *input)
{
	char *const argv[] = {"sh", "-c", (char *)command, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t defaults;
	int ends[2];
	pid_t pid;
	int error;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGINT);
	sigaddset(&defaults, SIGQUIT);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
	error = posix_spawn(&pid, "/bin/sh", &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	close(ends[0]);
	if (error) {
		close(ends[1]);
		return -1;
	}
	*input = ends[1];
	return pid;
}

/* False when there is no such pager, so that nothing was shown. */
static bool show_through(const char *command, const char *text, size_t size)
{
	int input, status = 0;
	pid_t pid;

	/* Colours as they are, no pager for what fits, the screen left as it is. */
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	pid = start(command, &input);
	if (pid < 0)
		return false;
	write_all(input, text, size);
	close(input);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return !(WIFEXITED(status) && WEXITSTATUS(status) == COMMAND_NOT_FOUND);
}

int pager_show(const char *command, const char *text, size_t size, struct err *err)
{
	static const int signals[] = {SIGINT, SIGQUIT, SIGPIPE};
	struct sigaction ignore = {.sa_handler = SIG_IGN}, saved[3];
	bool is_shown = false;
	int status = 0;

	for (int i = 0; i < 3; i++) {
		if (command || signals[i] == SIGPIPE)
			sigaction(signals[i], &ignore, &saved[i]);
	}
	if (command)
		is_shown = show_through(command, text, size);
	if (!is_shown && !write_all(STDOUT_FILENO, text, size) && errno != EPIPE)
		status = err_set_errno(err, errno, "the report could not be written");
	for (int i = 0; i < 3; i++) {
		if (command || signals[i] == SIGPIPE)
			sigaction(signals[i], &saved[i], NULL);
	}
	return status;
}
