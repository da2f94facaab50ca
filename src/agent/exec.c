/* exec.c - what the program starts carries the agent, whatever environment it is given.
 *
 * The agent comes to a child by two words of its environment.  Programs that make
 * that environment themselves (subprocess with env=, tox, env -i) leave them out,
 * so they are put in again on the way to the kernel, marked; and the agent of the
 * child takes marked words out of its environment before the program looks at it:
 * it finds what it was given.  Where the agent's file is not in reach (another
 * root, another user) they are left out, also where they were inherited: the
 * dynamic loader would complain in the program's name.  So they are where a filter
 * would end the child for what its agent does (forbidden.h).
 *
 * What must hold: all of it may run in the child of a vfork, which has its parent's
 * memory.  Nothing is allocated and nothing written to but the stack, of which 12 KB, the
 * run's page, and a ring that is the process's own. */
#include "agent/exec.h"

#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/clock.h"
#include "agent/forbidden.h"
#include "agent/start.h"

#define PRELOAD "LD_PRELOAD="
#define RUN CONTROL_ENV "="
#define MARK "+" /* before the folder: the word was put in by us */

#define WORDS_MAX 1024u /* of an environment; one with more goes as it is, */
#define TEXT_BYTES 4096u /* and so does one with a longer LD_PRELOAD */

/* An environment that we have changed; on the stack of who needs it. */
struct room {
	char *words[WORDS_MAX + 3];
	char preload[TEXT_BYTES];
};

/* Set while the agent starts; empty: it was not preloaded, and nothing is changed. */
static char run_word[400];           /* "HEATLINE_RUN=+…" */
static char preload_word[TEXT_BYTES]; /* "LD_PRELOAD=" and the agent */
static char own_preload[TEXT_BYTES];  /* "LD_PRELOAD=" and what the program was given itself */

static int (*real_execve)(const char *, char *const *, char *const *);
static int (*real_execvpe)(const char *, char *const *, char *const *);
static int (*real_fexecve)(int, char *const *, char *const *);
typedef int spawn_function(pid_t *, const char *, const posix_spawn_file_actions_t *,
			   const posix_spawnattr_t *, char *const *, char *const *);
static spawn_function *real_posix_spawn, *real_posix_spawnp;

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static const char *agent_path(void)
{
	return preload_word + strlen(PRELOAD);
}

/* What follows the agent in a word LD_PRELOAD=…; NULL: it is not in front. */
static const char *behind_agent(const char *word)
{
	const char *value = word + strlen(PRELOAD);
	size_t size = strlen(agent_path());
	if (strncmp(value, agent_path(), size) != 0)
		return NULL;
	return value[size] == '\0' ? value + size : value[size] == ':' ? value + size + 1 : NULL;
}

static bool is_in_reach(void)
{
	int saved = errno;
	bool is_there = access(agent_path(), R_OK) == 0;
	errno = saved;
	return is_there;
}

/* What is to be done with an environment. */
struct change {
	uint32_t count;      /* of its words */
	const char *run;     /* its word HEATLINE_RUN=…, NULL: none */
	const char *preload; /* its word LD_PRELOAD=…, NULL: none */
	bool has_agent;      /* … which the agent stands in front of */
};

static struct change look_at(char *const *environment)
{
	struct change change = {0};
	for (; environment != NULL && environment[change.count] != NULL; change.count++) {
		const char *word = environment[change.count];
		if (begins_with(word, RUN))
			change.run = word;
		else if (begins_with(word, PRELOAD))
			change.preload = word;
	}
	change.has_agent = change.preload != NULL && behind_agent(change.preload) != NULL;
	return change;
}

/* Whether the environment is as it should be, or not ours to change: another run's. */
static bool is_settled(const struct change *change, bool wants_agent)
{
	size_t size = change->preload == NULL ? 0 : strlen(change->preload);
	if (run_word[0] == '\0' || change->count > WORDS_MAX ||
	    strlen(preload_word) + size + 2 > TEXT_BYTES)
		return true;
	if (!wants_agent)
		return change->run == NULL && !change->has_agent;
	const char *folder = run_word + strlen(RUN MARK);
	if (change->run != NULL && strcmp(change->run + strlen(RUN), folder) != 0)
		return true;
	return change->run != NULL && change->has_agent;
}

/* The program's own LD_PRELOAD, with or without the agent; NULL: there is none. */
static char *make_preload(const struct change *change, bool wants_agent, char text[TEXT_BYTES])
{
	const char *own = change->preload == NULL ? "" : change->preload + strlen(PRELOAD);
	if (change->has_agent)
		own = behind_agent(change->preload);
	bool has_own = own[0] != '\0' || (change->preload != NULL && !change->has_agent);
	if (wants_agent)
		snprintf(text, TEXT_BYTES, "%s%s%s", preload_word, has_own ? ":" : "", own);
	else
		snprintf(text, TEXT_BYTES, PRELOAD "%s", own);
	return wants_agent || has_own ? text : NULL;
}

/* Each word in its old place, new ones behind them; list has room for two more. */
static void fill(char *const *environment, bool wants_agent, char *preload, char **list)
{
	bool has_preload = false;
	uint32_t count = 0;
	for (; environment != NULL && *environment != NULL; environment++) {
		if (begins_with(*environment, RUN))
			continue;
		bool is_preload = begins_with(*environment, PRELOAD);
		if (is_preload && (preload == NULL || has_preload))
			continue;
		has_preload = has_preload || is_preload;
		list[count++] = is_preload ? preload : *environment;
	}
	if (preload != NULL && !has_preload)
		list[count++] = preload;
	if (wants_agent)
		list[count++] = run_word;
	list[count] = NULL;
}

/* A Python that may not make files in the run's folder cannot tell that it is there; we can. */
static void note_unreachable(const char *path)
{
	int saved = errno;
	if (forbidden_is_deadly())
		return;
	const char *slash = path != NULL ? strrchr(path, '/') : NULL;
	if (path != NULL && run_word[0] != '\0' && begins_with(slash != NULL ? slash + 1 : path, "python") &&
	    access(path, X_OK) == 0 && access(run_word + strlen(RUN MARK), W_OK) != 0)
		start_note_unreachable(errno);
	errno = saved;
}

/* The environment as it should be: itself, or what room is filled with. */
static char *const *settle(char *const *environment, struct room *room)
{
	struct change change = look_at(environment);
	bool wants_agent = run_word[0] != '\0' && !forbidden_is_deadly() && is_in_reach();
	if (is_settled(&change, wants_agent))
		return environment;
	fill(environment, wants_agent, make_preload(&change, wants_agent, room->preload), room->words);
	return room->words;
}

static void find_real(void)
{
	*(void **)&real_execve = dlsym(RTLD_NEXT, "execve");
	*(void **)&real_execvpe = dlsym(RTLD_NEXT, "execvpe");
	*(void **)&real_fexecve = dlsym(RTLD_NEXT, "fexecve");
	*(void **)&real_posix_spawn = dlsym(RTLD_NEXT, "posix_spawn");
	*(void **)&real_posix_spawnp = dlsym(RTLD_NEXT, "posix_spawnp");
}

/* Another library's constructor may call before ours. */
static void ensure_real(void)
{
	if (real_posix_spawnp == NULL)
		find_real();
}

/* Takes out of the environment what we have put in. */
static void hide(const char *preload)
{
	unsetenv(CONTROL_ENV);
	const char *own = preload + strlen(agent_path());
	if (own[0] == '\0') {
		unsetenv("LD_PRELOAD");
		return;
	}
	snprintf(own_preload, sizeof(own_preload), PRELOAD "%s", own + 1);
	putenv(own_preload);
}

const char *exec_start(void)
{
	const char *folder = getenv(CONTROL_ENV), *preload = getenv("LD_PRELOAD");
	if (folder == NULL || preload == NULL)
		return folder;
	bool is_marked = begins_with(folder, MARK);
	folder += is_marked ? strlen(MARK) : 0;
	size_t path = strcspn(preload, ":");
	if (strlen(preload) + sizeof(PRELOAD) > sizeof(preload_word) ||
	    strlen(folder) + sizeof(RUN MARK) > sizeof(run_word))
		return folder;
	ensure_real();
	snprintf(preload_word, sizeof(preload_word), PRELOAD "%.*s", (int)path, preload);
	snprintf(run_word, sizeof(run_word), RUN MARK "%s", folder);
	if (is_marked)
		hide(preload);
	return run_word + strlen(RUN MARK);
}

/* The process sets out to run another program, or (0) has failed to.  Its own ring only:
 * the child of a vfork has its parent's. */
static void note_exec(uint64_t time_ns)
{
	if (g_agent.ring != NULL && !forbidden_is_deadly() && g_agent.ring->pid == getpid())
		atomic_store(&g_agent.ring->exec_ns, time_ns);
}

/* --- what the program calls --- */

AGENT_EXPORT int execve(const char *path, char *const *arguments, char *const *environment)
{
	struct room room;
	ensure_real();
	note_unreachable(path);
	note_exec(now_wall_ns());
	int result = real_execve(path, arguments, settle(environment, &room));
	note_exec(0);
	return result;
}

AGENT_EXPORT int execvpe(const char *file, char *const *arguments, char *const *environment)
{
	struct room room;
	ensure_real();
	note_exec(now_wall_ns());
	int result = real_execvpe(file, arguments, settle(environment, &room));
	note_exec(0);
	return result;
}

AGENT_EXPORT int fexecve(int fd, char *const *arguments, char *const *environment)
{
	struct room room;
	ensure_real();
	note_exec(now_wall_ns());
	int result = real_fexecve(fd, arguments, settle(environment, &room));
	note_exec(0);
	return result;
}

AGENT_EXPORT int execv(const char *path, char *const *arguments)
{
	return execve(path, arguments, environ);
}

AGENT_EXPORT int execvp(const char *file, char *const *arguments)
{
	return execvpe(file, arguments, environ);
}

static int spawn(spawn_function *const *real, pid_t *pid, const char *file,
		 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
		 char *const *arguments, char *const *environment)
{
	struct room room;
	ensure_real();
	return (*real)(pid, file, actions, attributes, arguments, settle(environment, &room));
}

AGENT_EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
			     const posix_spawnattr_t *attributes, char *const *arguments,
			     char *const *environment)
{
	return spawn(&real_posix_spawn, pid, path, actions, attributes, arguments, environment);
}

AGENT_EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			      const posix_spawnattr_t *attributes, char *const *arguments,
			      char *const *environment)
{
	return spawn(&real_posix_spawnp, pid, file, actions, attributes, arguments, environment);
}
