/* started.c - see started.h. */
#include "cli/started.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define START_TRIES 200 /* of 25 ms, until a program that was started is a Python */

static void silence(void)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	setsid(); /* Ctrl-C ends the table first */
}

pid_t started_begin(const struct target *target, bool is_silent, struct err *err)
{
	pid_t pid = fork();

	if (pid < 0) {
		err_set_errno(err, errno, "the program cannot be started");
		return -1;
	}
	if (pid > 0)
		return pid;
	if (is_silent)
		silence();
	execv(target->path, target->argv);
	_exit(127);
}

void started_end(pid_t pid)
{
	struct timespec pause = {0, 20000000};

	kill(pid, SIGTERM);
	for (int i = 0; i < 100; i++) {
		if (waitpid(pid, NULL, WNOHANG) != 0)
			return;
		nanosleep(&pause, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

struct attach *started_attach(const struct attach_options *options, struct err *err)
{
	struct timespec pause = {0, 25000000};

	for (int i = 0; i < START_TRIES; i++) {
		struct attach *attach = attach_new(options, err);

		if (attach)
			return attach;
		if (waitpid(options->pid, NULL, WNOHANG) != 0) {
			err_set(err, ERR_TARGET, "the program ended before it could be looked at");
			return NULL;
		}
		nanosleep(&pause, NULL);
	}
	return NULL;
}
