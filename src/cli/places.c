/* places.c - find commands, interpreters and the agent. */
#include "cli/places.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"

#define AGENT_NAME "libheatline-agent.so"
#define AGENT_MEMORY_NAME "libheatline-agent-memory.so"
#define OLDEST_MINOR 6 /* of Python 3; older ones have no row in the layout table */

bool places_is_folder(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool places_is_file(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

char *places_absolute(const char *path)
{
	char *here = getcwd(NULL, 0);
	char *joined = path_join(here ? here : "/", path);
	char *normal = path_normalise(joined);

	free(joined);
	free(here);
	return normal;
}

static bool is_command(const char *path)
{
	return places_is_file(path) && access(path, X_OK) == 0;
}

/* left/right when that is a command, else NULL. */
static char *command_in(const char *folder, const char *name)
{
	char *path = path_join(folder, name);

	if (is_command(path))
		return path;
	free(path);
	return NULL;
}

char *places_find_command(const char *name)
{
	const char *search = getenv("PATH");
	char *found = NULL;

	if (!*name)
		return NULL;
	if (strchr(name, '/'))
		return is_command(name) ? mem_copy_text(name) : NULL;
	if (!search)
		search = "/usr/local/bin:/usr/bin:/bin";
	while (!found) {
		size_t size = strcspn(search, ":");
		char *folder = mem_copy_bytes(search, size);

		/* An empty entry is the current folder, as for the shell. */
		found = command_in(size ? folder : "./", name);
		free(folder);
		if (!search[size])
			break;
		search += size + 1;
	}
	return found;
}

/* The folder of the environment that heatline was started from, when that is a
 * virtual or conda environment with its own python; else NULL.  The name it was
 * started by counts, not where links lead: installers of tools link to a private
 * environment that has none of the user's packages. */
static char *own_environment_python(void)
{
	const char *started_as = (const char *)getauxval(AT_EXECFN);

	if (!started_as || !strchr(started_as, '/'))
		return NULL;
	char *folder = path_dirname(started_as);
	char *virtual_mark = path_join(folder, "../pyvenv.cfg");
	char *conda_mark = path_join(folder, "../conda-meta");
	char *python = NULL;

	if (places_is_file(virtual_mark) || places_is_folder(conda_mark))
		python = command_in(folder, "python3");
	free(conda_mark);
	free(virtual_mark);
	free(folder);
	return python;
}

/* bin/python3 or bin/python of an environment. */
static char *environment_python(const char *folder)
{
	char *bin = path_join(folder, "bin");
	char *python = command_in(bin, "python3");

	if (!python)
		python = command_in(bin, "python");
	free(bin);
	return python;
}

/* The interpreter that `python -m heatline` was called with, which says so in a
 * variable that is none of the program's business. */
static char *calling_python(void)
{
	const char *named = getenv("HEATLINE_PYTHON");
	char *python = named ? places_find_command(named) : NULL;

	unsetenv("HEATLINE_PYTHON");
	return python;
}

static char *default_python(void)
{
	const char *environment = getenv("VIRTUAL_ENV");
	char *python = calling_python();

	if (!python)
		python = own_environment_python();

	if (!python && environment && *environment)
		python = environment_python(environment);
	if (!python)
		python = places_find_command("python3");
	return python ? python : places_find_command("python");
}

static bool is_of_version(const char *name, const char *version)
{
	size_t length = strlen(version);

	return strncmp(name, version, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

/* The newest of this version among the installed ones, each in a folder of its own; NULL:
 * there is none. */
static char *newest_below(const char *folder, const char *version)
{
	DIR *versions = opendir(folder);
	char newest[NAME_MAX + 1] = "";
	char *python = NULL;

	if (!versions)
		return NULL;
	for (const struct dirent *entry; (entry = readdir(versions)) != NULL;) {
		if (!is_of_version(entry->d_name, version) || strverscmp(entry->d_name, newest) <= 0)
			continue;
		char *root = path_join(folder, entry->d_name);
		char *found = environment_python(root);

		if (found) {
			snprintf(newest, sizeof(newest), "%s", entry->d_name);
			free(python);
			python = found;
		}
		free(root);
	}
	closedir(versions);
	return python;
}

/* pyenv's stand-in starts the versions that are switched on, and no other; asked for by its number,
 * an installed one is meant. */
static char *behind_stand_in(const char *command, const char *version)
{
	char *folder = path_dirname(command);
	char *python = NULL;

	if (strcmp(path_basename(folder), "shims") == 0) {
		char *joined = path_join(folder, "../versions");
		char *versions = path_normalise(joined);

		python = newest_below(versions, version);
		free(versions);
		free(joined);
	}
	free(folder);
	return python;
}

/* One that pyenv has installed, though nothing of it is on the PATH under this number. */
static char *pyenv_python(const char *version)
{
	const char *root = getenv("PYENV_ROOT"), *home = getenv("HOME");
	char *own = root || !home ? NULL : path_join(home, ".pyenv");
	char *versions = root || own ? path_join(root ? root : own, "versions") : NULL;
	char *python = versions ? newest_below(versions, version) : NULL;

	free(versions);
	free(own);
	return python;
}

static char *python_of_version(const char *version)
{
	char name[64];
	char *command, *other, *python;

	snprintf(name, sizeof(name), "python%s", version);
	command = places_find_command(name);
	if (!strchr(version, '.')) /* "3": the one that is switched on */
		return command;
	other = command ? NULL : places_find_command("python3");
	python = command || other ? behind_stand_in(command ? command : other, version) : NULL;
	free(other);
	if (!python && !command)
		python = pyenv_python(version);
	if (!python)
		return command;
	free(command);
	return python;
}

static char *asked_python(const char *asked)
{
	if (places_is_folder(asked))
		return environment_python(asked);
	if (asked[strspn(asked, "0123456789.")] == '\0')
		return python_of_version(asked);
	return places_find_command(asked);
}

int places_check_python(const char *path, struct err *err)
{
	char resolved[PATH_MAX];
	unsigned major = 3, minor = OLDEST_MINOR;
	const char *name = path_basename(realpath(path, resolved) ? resolved : path);

	if (text_starts_with(name, "pypy") || text_starts_with(name, "graalpy"))
		return err_set(err, ERR_UNSUPPORTED,
			       "'%s' is not CPython, the only Python that heatline can profile; "
			       "name another with --python",
			       path);
	if (sscanf(name, "python%u.%u", &major, &minor) < 1)
		return 0;
	if (major > 3 || (major == 3 && minor >= OLDEST_MINOR))
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
		       "'%s' is too old: heatline profiles Python 3.8 to 3.15, and knows 3.%d and 3.7; name "
		       "another with --python",
		       path, OLDEST_MINOR);
}

char *places_find_python(const char *asked, struct err *err)
{
	char *python = asked ? asked_python(asked) : default_python();

	if (!python) {
		if (asked)
			err_set(err, ERR_NOT_FOUND,
				"there is no interpreter '%s'; --python takes a path, a name on "
				"the PATH, a version or the folder of an environment",
				asked);
		else
			err_set(err, ERR_NOT_FOUND,
				"no python3 on the PATH; name an interpreter with --python");
		return NULL;
	}
	if (places_check_python(python, err)) {
		free(python);
		return NULL;
	}
	return python;
}

/* The agent in this folder, or NULL; frees the folder. */
static char *agent_in(char *folder, const char *name)
{
	char *path = path_join(folder, name);

	free(folder);
	if (access(path, R_OK) == 0)
		return path;
	free(path);
	return NULL;
}

char *places_find_agent(bool has_memory, struct err *err)
{
	const char *name = has_memory ? AGENT_MEMORY_NAME : AGENT_NAME;
	const char *named = getenv("HEATLINE_LIBDIR");
	char executable[PATH_MAX];
	ssize_t size = readlink("/proc/self/exe", executable, sizeof(executable) - 1);

	if (named && *named) {
		char *agent = agent_in(places_absolute(named), name);

		if (!agent)
			err_set(err, ERR_NOT_FOUND,
				"HEATLINE_LIBDIR is '%s', and there is no %s in it; unset it or "
				"correct it",
				named, name);
		return agent;
	}
	executable[size > 0 ? size : 0] = '\0';
	char *folder = path_dirname(executable);
	char *library = path_join(folder, "../lib/heatline");
	char *agent = agent_in(path_normalise(library), name);
	if (!agent)
		agent = agent_in(path_normalise(folder), name);
	if (!agent)
		err_set(err, ERR_NOT_FOUND,
			"%s is neither in %s nor in %s; install heatline again, or name its folder "
			"in HEATLINE_LIBDIR",
			name, library, folder);
	free(library);
	free(folder);
	return agent;
}
