/* launch.c - see launch.h. */
#include "collect/launch.h"

#include <errno.h>
#include <stdio.h>
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

/* "name=value"; the caller frees it. */
static char *assignment(const char *name, const char *value)
{
	size_t size = strlen(name) + strlen(value) + 2;
	char *text = mem_alloc(size);
	snprintf(text, size, "%s=%s", name, value);
	return text;
}

/* Our environment with these words, each in its variable's old place; the list is owned, what
 * it leads to is not. */
static char **with_words(char **words, uint32_t count)
{
	uint32_t own = 0;
	while (environ != NULL && environ[own] != NULL)
		own++;
	char **list = mem_zalloc(own + count + 1, sizeof(*list));
	for (uint32_t i = 0; i < own; i++)
		list[i] = environ[i];
	for (uint32_t w = 0; w < count; w++) {
		size_t size = (size_t)(strchr(words[w], '=') - words[w]) + 1;
		uint32_t at = 0;
		while (at < own && strncmp(list[at], words[w], size) != 0)
			at++;
		if (at == own)
			own++;
		list[at] = words[w];
	}
	return list;
}

/* Starts the program in a child that has our memory until then; a fork, which copies it, takes
 * 0.2 ms.  (posix_spawn leaves two of the C library's signals ignored, which shows.)  Returns the
 * child; 0: it could not start the program, -1: there is none; *failure says why. */
static pid_t spawn(const struct run_options *options, char *const *environment,
		   const sigset_t *mask, volatile int *failure)
{
	pid_t pid = vfork();
	if (pid == 0) {
		sigprocmask(SIG_SETMASK, mask, NULL);
		execve(options->path, options->argv, environment);
		*failure = errno;
		_exit(127);
	}
	if (pid < 0)
		*failure = errno;
	if (pid < 0 || *failure == 0)
		return pid;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
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
	char *preload = preload_value(agent), *words[3];
	uint32_t count = 0;
	words[count++] = assignment(PRELOAD_ENV, preload);
	words[count++] = assignment(CONTROL_ENV, folder);
	/* A profiler that the user has put there stays. */
	if (options->has_gpu && getenv(CONTROL_GPU_ENV) == NULL)
		words[count++] = assignment(CONTROL_GPU_ENV, agent);
	char **environment = with_words(words, count);
	volatile int failure = 0;
	pid_t pid = spawn(options, environment, mask, &failure);
	free(environment);
	while (count > 0)
		free(words[--count]);
	free(preload);
	if (pid < 0)
		return err_set_errno(err, failure, "no process can be made");
	return pid > 0 ? pid : exec_error(options, failure, err);
}
