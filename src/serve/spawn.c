/* spawn.c - fork twice, so that init inherits the program, and hear through a
 * pipe that closes on exec whether it could be started. */
#include "serve/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void be_quiet(void)
{
	int nothing = open("/dev/null", O_RDWR);

	setsid();
	for (int fd = 0; nothing >= 0 && fd <= 2; fd++)
		dup2(nothing, fd);
}

/* In the grandchild.  Only what is safe after a fork with threads. */
static void become(char *const argv[], bool is_quiet, int report)
{
	sigset_t none;

	signal(SIGPIPE, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (is_quiet)
		be_quiet();
	execvp(argv[0], argv);
	int error = errno;
	if (write(report, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

int spawn_detached(char *const argv[], bool is_quiet, struct err *err)
{
	int ends[2], error = 0;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return err_set_errno(err, errno, "'%s' cannot be started", argv[0]);
	pid_t pid = fork();
	if (pid == 0) {
		pid_t own = fork();

		if (own == 0)
			become(argv, is_quiet, ends[1]);
		_exit(own < 0);
	}
	close(ends[1]);
	int status = 0;
	if (pid > 0)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			continue;
	ssize_t size = read(ends[0], &error, sizeof(error));
	close(ends[0]);
	if (size == (ssize_t)sizeof(error))
		return err_set_errno(err, error, "'%s' cannot be started", argv[0]);
	if (pid < 0 || status != 0)
		return err_set_errno(err, EAGAIN, "'%s' cannot be started", argv[0]);
	return 0;
}
