/* attach_target.c - what an attached process is: its program, its children. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/procfs.h"
#include "base/text.h"
#include "collect/attach_parts.h"

#define COMMAND_BYTES 8192u
#define ARGS_MAX 200u
#define CHILDREN_NS 500000000u
#define PROCESSES_MAX 256u

/* ---- its program ---- */

/* Which word of a Python's command line is its script, or 0: none (-c, -m, - or the
 * prompt).  Letters may stand together, and the last of them may have a word of its own: -uc CODE,
 * -OX dev. */
static uint32_t find_script(char **words, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		const char *word = words[i];
		if (word[0] != '-')
			return i;
		if (strcmp(word, "--check-hash-based-pycs") == 0)
			i++;
		if (word[1] == '-')
			continue;
		const char *letter = word + 1 + strcspn(word + 1, "cmXW");
		if (word[1] == '\0' || *letter == 'c' || *letter == 'm')
			return 0;
		if (*letter != '\0' && letter[1] == '\0')
			i++;
	}
	return 0;
}

/* The folder whose files are the program's own.  A command that was installed
 * (gunicorn, pytest) works on what is in its current folder. */
static char *own_folder(const char *script, const char *cwd)
{
	char *folder = script == NULL ? NULL : path_dirname(script);
	if (folder == NULL || strcmp(path_basename(folder), "bin") == 0 || scope_is_library(script)) {
		free(folder);
		folder = mem_copy_text(cwd);
	}
	return folder;
}

void attach_describe(struct attach *attach, const struct remote *remote)
{
	char text[COMMAND_BYTES], cwd[4096];
	char *words[ARGS_MAX];
	uint32_t count = 0;
	ssize_t size = procfs_read(remote->pid, "cmdline", text, sizeof(text));
	for (ssize_t at = 0; at < size && count < ARGS_MAX; at += (ssize_t)strlen(text + at) + 1)
		words[count++] = text + at;
	if (!procfs_link(remote->pid, "cwd", cwd, sizeof(cwd)))
		snprintf(cwd, sizeof(cwd), "/");
	uint32_t script = find_script(words, count);
	if (script > 0) {
		char *joined = path_join(cwd, words[script]);
		attach->program = path_normalise(joined);
		free(joined);
	} else {
		attach->program = mem_copy_text(count > 0 ? words[0] : "python");
	}
	attach->folder = own_folder(script > 0 ? attach->program : NULL, cwd);
	uint32_t first = count == 0 ? 0 : script + 1;
	attach->args = mem_zalloc(count - first + 1, sizeof(*attach->args));
	for (uint32_t i = first; i < count; i++)
		attach->args[i - first] = mem_copy_text(words[i]);
}

/* ---- its children ---- */

bool attach_is_known(const struct attach *attach, pid_t pid)
{
	for (uint32_t i = 0; i < attach->processes.count; i++) {
		const struct attach_process *process = attach->processes.items[i];
		if (process->remote.pid == pid && !process->is_ended)
			return true;
	}
	return false;
}

/* Whether one of the processes is an ancestor. */
static bool is_descendant(const struct attach *attach, pid_t pid)
{
	struct procfs_stat stat;
	for (int depth = 0; depth < 32 && pid > 1; depth++) {
		if (!procfs_stat(pid, &stat))
			return false;
		pid = stat.parent_pid;
		if (attach_is_known(attach, pid))
			return true;
	}
	return false;
}

void attach_find_children(struct attach *attach, uint64_t now_ns)
{
	if (now_ns < attach->children_ns)
		return;
	attach->children_ns = now_ns + CHILDREN_NS;
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (pid > 0 && attach->processes.count < PROCESSES_MAX && !attach_is_known(attach, pid) &&
		    is_descendant(attach, pid))
			attach_add_process(attach, pid, NULL);
	}
	if (dir != NULL)
		closedir(dir);
}

/* ---- what it takes ---- */

bool attach_read_usage(pid_t pid, uint64_t *ticks, uint64_t *resident_bytes)
{
	char text[1024];
	unsigned long long user = 0, system = 0, pages = 0;
	if (procfs_read(pid, "stat", text, sizeof(text)) <= 0)
		return false;
	/* Fields 14 and 15 are the times, 24 the pages; 2 ends with a bracket. */
	const char *at = strrchr(text, ')');
	for (int field = 2; at != NULL && field < 24; field++) {
		at = strchr(at + 1, ' ');
		if (at != NULL && field == 13)
			sscanf(at, " %llu %llu", &user, &system);
	}
	if (at == NULL || sscanf(at, " %llu", &pages) != 1)
		return false;
	*ticks = user + system;
	*resident_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	return true;
}
