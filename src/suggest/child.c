/* child.c - posix_spawn, and looking at the child now and then. */
#include "suggest/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"

#define LOOK_NS 10000000

void child_add_word(child_words *words, const char *word)
{
	vec_push(words, mem_copy_text(word));
}

void child_end_words(child_words *words)
{
	vec_push(words, NULL);
}

void child_free_words(child_words *words)
{
	for (uint32_t i = 0; i < words->count; i++)
		free(words->items[i]);
	vec_free(words);
}

int child_split(const char *command, child_words *words, struct err *err)
{
	struct buf word;
	bool is_word = false;
	char quote = '\0';

	buf_init(&word, 65536);
	for (const char *at = command; *at; at++) {
		if (quote && *at == quote) {
			quote = '\0';
		} else if (!quote && (*at == '\'' || *at == '"')) {
			quote = *at;
			is_word = true;
		} else if (!quote && (*at == ' ' || *at == '\t' || *at == '\n')) {
			if (is_word)
				child_add_word(words, word.data);
			buf_clear(&word);
			is_word = false;
		} else {
			if (*at == '\\' && quote != '\'' && at[1])
				at++;
			buf_char(&word, *at);
			is_word = true;
		}
	}
	if (is_word)
		child_add_word(words, word.data);
	buf_fini(&word);
	return quote ? err_set(err, ERR_USAGE, "a quote in the command is not closed") : 0;
}

/* --- running --- */

static int set_files(posix_spawn_file_actions_t *actions, const struct child *child)
{
	bool is_joined = strcmp(child->output, child->errors) == 0;
	int flags = O_WRONLY | O_CREAT | O_TRUNC;
	int error = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);

	if (!error)
		error = posix_spawn_file_actions_addopen(actions, 1, child->output, flags, 0600);
	if (!error)
		error = is_joined ? posix_spawn_file_actions_adddup2(actions, 1, 2)
				  : posix_spawn_file_actions_addopen(actions, 2, child->errors, flags,
								     0600);
	return error ? error : posix_spawn_file_actions_addchdir_np(actions, child->folder);
}

static int start(const struct child *child, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
						      POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	int error = set_files(&actions, child);
	if (!error)
		error = posix_spawnp(pid, child->argv[0], &actions, &attributes, child->argv,
				     child->environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return error;
}

static void end(pid_t pid)
{
	int status;

	kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
}

int child_run(const struct child *child, struct child_result *result, struct err *err)
{
	const struct timespec step = {.tv_nsec = LOOK_NS};
	uint64_t begin_ns = clock_monotonic_ns();
	int status = 0;
	pid_t pid;
	int error = start(child, &pid);

	if (error)
		return err_set_errno(err, error, "'%s' cannot be started", child->argv[0]);
	*result = (struct child_result){0};
	while (waitpid(pid, &status, WNOHANG) == 0) {
		result->seconds = (double)(clock_monotonic_ns() - begin_ns) / 1e9;
		result->is_late = result->seconds > child->limit_s;
		bool is_cancelled = child->is_cancelled && child->is_cancelled(child->closure);
		if (result->is_late || is_cancelled)
			end(pid);
		if (is_cancelled)
			return err_set(err, ERR_IO, "cancelled");
		if (result->is_late)
			return 0;
		nanosleep(&step, NULL);
	}
	result->seconds = (double)(clock_monotonic_ns() - begin_ns) / 1e9;
	result->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return 0;
}
