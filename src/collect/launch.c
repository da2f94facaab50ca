/* launch.c - see launch.h. */
#include "collect/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "wire/control.h"

#define PRELOAD_ENV "LD_PRELOAD"

/* The user's own preloads stay, behind the agent. */
static char *preload_value(const char *agent)
{
	const char *own = getenv(PRELOAD_ENV);
	if (own == NULL || own[0] == '\0')
		return mem_copy_text(agent);
	char *value = mem_alloc(strlen(agent) + strlen(own) + 2);
	memcpy(value, agent, strlen(agent));
	value[strlen(agent)] = ':';
	memcpy(value + strlen(agent) + 1, own, strlen(own) + 1);
	return value;
}

static _Noreturn void child(const struct run_options *options, const char *folder,
			    const char *agent, const char *preload, const sigset_t *mask,
			    int report_fd)
{
	setenv(PRELOAD_ENV, preload, 1);
	setenv(CONTROL_ENV, folder, 1);
	/* A profiler that the user has put there stays. */
	if (options->has_gpu)
		setenv(CONTROL_GPU_ENV, agent, 0);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execv(options->path, options->argv);
	int failure = errno;
	ssize_t ignored = write(report_fd, &failure, sizeof(failure));
	(void)ignored;
	_exit(127);
}

static int exec_error(const struct run_options *options, int failure, struct err *err)
{
	if (failure == ENOEXEC)
		return err_set(err, ERR_FORMAT,
			       "'%s' is no program that this system can run; is its first line "
			       "(#!) missing?",
			       options->path);
	return err_set_errno(err, failure, "'%s' cannot be started", options->path);
}

pid_t launch(const struct run_options *options, const char *folder, const char *agent,
	     const sigset_t *mask, struct err *err)
{
	int report[2];
	if (pipe2(report, O_CLOEXEC) != 0)
		return err_set_errno(err, errno, "no pipe can be made");
	char *preload = preload_value(agent);
	pid_t pid = fork();
	if (pid == 0) {
		close(report[0]);
		child(options, folder, agent, preload, mask, report[1]);
	}
	int fork_error = errno;
	free(preload);
	close(report[1]);
	if (pid < 0) {
		close(report[0]);
		return err_set_errno(err, fork_error, "no process can be made");
	}
	int failure = 0;
	ssize_t got = read(report[0], &failure, sizeof(failure));
	close(report[0]);
	if (got != (ssize_t)sizeof(failure))
		return pid;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return exec_error(options, failure, err);
}
