/* target.c - decide what a program's name means. */
#include "cli/target.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/binary.h"
#include "cli/places.h"

/* ---- building ---- */

static size_t count_words(char *const *words)
{
	size_t count = 0;

	while (words[count])
		count++;
	return count;
}

/* argv is head (head_count words) and then tail; args begins after skip words. */
static void set_words(struct target *target, const char *const *head, size_t head_count,
		      char *const *tail, size_t skip)
{
	size_t tail_count = count_words(tail), count = 0;

	target->argv = mem_zalloc(head_count + tail_count + 1, sizeof(char *));
	for (size_t i = 0; i < head_count; i++)
		target->argv[count++] = mem_copy_text(head[i]);
	for (size_t i = 0; i < tail_count; i++)
		target->argv[count++] = mem_copy_text(tail[i]);
	target->args = target->argv + skip;
}

/* The folder that Python puts first on sys.path for a script: links resolved. */
static char *script_folder(const char *script)
{
	char resolved[PATH_MAX];

	if (!realpath(script, resolved))
		return places_absolute(".");
	return places_is_folder(resolved) ? mem_copy_text(resolved) : path_dirname(resolved);
}

static void name_script(struct target *target, const char *script)
{
	target->program = places_absolute(script);
	target->entrypoint_dir = script_folder(script);
}

static void name_command(struct target *target, const char *name)
{
	target->program = mem_copy_text(name);
	target->entrypoint_dir = places_absolute(".");
}

/* An installed script: its folder says nothing of the user's files. */
static void rename_command(struct target *target, const char *name)
{
	free(target->program);
	free(target->entrypoint_dir);
	name_command(target, name);
}

static char *const *skip_separator(char *const *words)
{
	return words[0] && strcmp(words[0], "---") == 0 ? words + 1 : words;
}

void target_fini(struct target *target)
{
	for (char **word = target->argv; word && *word; word++)
		free(*word);
	free(target->argv);
	free(target->path);
	free(target->program);
	free(target->entrypoint_dir);
	*target = (struct target){.argv = NULL};
}

/* ---- what the interpreter runs ---- */

/* Finds the interpreter, and checks that it can be profiled. */
static int take_python(const char *python, struct target *target, struct err *err)
{
	target->path = places_find_python(python, err);
	return target->path ? binary_check(target->path, err) : -(int)ERR_NOT_FOUND;
}

static int resolve_module(char *const *words, const char *python, struct target *target,
			  struct err *err)
{
	if (!words[1])
		return err_set(err, ERR_USAGE, "-m needs the name of a module after it");
	int status = take_python(python, target, err);
	if (status)
		return status;
	const char *head[] = {target->path, "-m", words[1]};
	set_words(target, head, 3, skip_separator(words + 2), 3);
	name_command(target, words[1]);
	return 0;
}

static int resolve_script(const char *script, char *const *rest, const char *python,
			  struct target *target, struct err *err)
{
	if (access(script, R_OK) != 0)
		return err_set_errno(err, errno, "cannot read '%s'", script);
	int status = take_python(python, target, err);
	if (status)
		return status;
	const char *head[] = {target->path, script};
	set_words(target, head, 2, skip_separator(rest), 2);
	name_script(target, script);
	return 0;
}

static int resolve_stdin(char *const *words, const char *python, struct target *target,
			 struct err *err)
{
	int status = take_python(python, target, err);

	if (status)
		return status;
	const char *head[] = {target->path, "-"};
	set_words(target, head, 2, skip_separator(words + 1), 2);
	name_command(target, "-");
	return 0;
}

/* ---- what is executed as it is ---- */

/* "python", "python3", "python3.12t" */
static bool is_python_name(const char *name)
{
	if (!text_starts_with(name, "python"))
		return false;
	name += strlen("python");
	name += strspn(name, "0123456789.");
	return strspn(name, "dmt") == strlen(name);
}

/* Whether a script's first line asks for Python; interpreter (room for
 * SHEBANG_BYTES) is the path, or the name for env to find. */
static bool has_python_shebang(const char *path, char *interpreter)
{
	char argument[SHEBANG_BYTES];

	if (!binary_shebang(path, interpreter, argument))
		return false;
	if (strcmp(path_basename(interpreter), "env") == 0)
		memcpy(interpreter, argument, sizeof(argument));
	return is_python_name(path_basename(interpreter));
}

/* Steps over the options of a python command line to what it runs: a script, or
 * the word with the letter 'c' or 'm' (*what), whose code or module is the rest
 * of the word (*attached, as in "-mjson.tool") or the next one. */
static char **skip_python_options(char **words, char *what, const char **attached)
{
	*what = 0;
	for (; *words; words++) {
		const char *word = *words;

		if (word[0] != '-' || !word[1])
			return words;
		if (strcmp(word, "--check-hash-based-pycs") == 0 && words[1])
			words++;
		for (const char *letter = word + 1; *letter && word[1] != '-'; letter++) {
			if (*letter == 'c' || *letter == 'm') {
				*what = *letter;
				*attached = letter[1] ? letter + 1 : NULL;
				return words;
			}
			if (*letter == 'W' || *letter == 'X') {
				if (!letter[1] && words[1])
					words++;
				break;
			}
		}
	}
	return words;
}

/* Whether a script was put where it is by an installer: beside an interpreter. */
static bool is_installed(const char *path)
{
	char *folder = path_dirname(path);
	char *python = path_join(folder, "python3");
	bool is_beside_python = access(python, X_OK) == 0;

	free(python);
	free(folder);
	return is_beside_python;
}

/* Names the target after what a "python ..." command line runs. */
static void name_python_command(struct target *target)
{
	const char *attached = NULL;
	char what;
	char **found = skip_python_options(target->argv + 1, &what, &attached);
	bool has_next = *found && !attached && found[1];

	if (!*found)
		name_command(target, target->argv[0]);
	else if (what == 'c')
		name_command(target, "-c");
	else if (what == 'm')
		name_command(target, attached ? attached : has_next ? found[1] : "-m");
	else if (strcmp(*found, "-") != 0 && access(*found, F_OK) == 0 && !is_installed(*found))
		name_script(target, *found);
	else
		name_command(target, path_basename(*found));
	target->args = found + (*found != NULL) + (what && has_next);
}

/* path: what to execute for the first word; taken over.  is_file: the word names
 * that file itself, and was not looked for on the PATH. */
static int resolve_command(char *path, bool is_file, char *const *words, const char *python,
			   struct target *target, struct err *err)
{
	char interpreter[SHEBANG_BYTES];
	bool is_script = has_python_shebang(path, interpreter);
	bool is_python = is_python_name(path_basename(words[0]));
	bool is_own_file = is_file && !is_installed(path);
	int status;

	if (python && is_script && !is_python) {
		status = resolve_script(path, words + 1, python, target, err);
		if (!status && !is_own_file)
			rename_command(target, path_basename(words[0]));
		free(path);
		return status;
	}
	target->path = path;
	if (python)
		return err_set(err, ERR_USAGE,
			       "--python is for scripts and modules, and '%s' brings its own "
			       "interpreter; leave it out",
			       words[0]);
	status = binary_check(path, err);
	if (!status && (is_python || is_script))
		status = places_check_python(is_python ? path : interpreter, err);
	if (status)
		return status;
	const char *head[] = {words[0]};
	set_words(target, head, 1, skip_separator(words + 1), 1);
	if (is_python)
		name_python_command(target);
	else if (is_script && is_own_file)
		name_script(target, words[0]);
	else
		name_command(target, path_basename(words[0]));
	return 0;
}

/* ---- which of them ---- */

/* Names that Python runs itself, whatever the file's first line says. */
static bool has_python_suffix(const char *word)
{
	static const char *const suffixes[] = {".py", ".pyw", ".pyc", ".pyz", ".zip", NULL};

	for (int i = 0; suffixes[i]; i++) {
		if (text_ends_with(word, suffixes[i]))
			return true;
	}
	return false;
}

static int resolve_file(char *const *words, const char *python, struct target *target,
			struct err *err)
{
	const char *word = words[0];
	char interpreter[SHEBANG_BYTES];
	struct stat info;
	enum binary_kind kind = BINARY_OTHER;

	/* What is no regular file (a pipe that the shell made) can be read only once. */
	if (!has_python_suffix(word) && stat(word, &info) == 0 && S_ISREG(info.st_mode))
		kind = binary_kind(word);
	if (kind == BINARY_OTHER)
		return resolve_script(word, words + 1, python, target, err);
	if (access(word, X_OK) == 0) {
		char *path = strchr(word, '/') ? mem_copy_text(word) : path_join("./", word);

		return resolve_command(path, true, words, python, target, err);
	}
	int error_number = errno;
	if (kind == BINARY_SCRIPT && has_python_shebang(word, interpreter))
		return resolve_script(word, words + 1, python, target, err);
	if (error_number != EACCES)
		return err_set_errno(err, error_number, "cannot run '%s'", word);
	return err_set(err, ERR_PERMISSION, "'%s' is not executable; permit it with 'chmod +x'",
		       word);
}

static int resolve_folder(char *const *words, const char *python, struct target *target,
			  struct err *err)
{
	char *entry = path_join(words[0], "__main__.py");
	bool is_program = access(entry, R_OK) == 0;

	free(entry);
	if (!is_program)
		return err_set(err, ERR_USAGE,
			       "'%s' is a folder without a __main__.py; name the file to run in it",
			       words[0]);
	return resolve_script(words[0], words + 1, python, target, err);
}

/* A command beside the interpreter: heatline may be called from an environment
 * that is not on the PATH. */
static char *find_beside_python(const char *name, const char *python)
{
	char *interpreter = places_find_python(python, NULL);

	if (!interpreter)
		return NULL;
	char *folder = path_dirname(interpreter);
	char *path = path_join(folder, name);
	char *found = places_find_command(path);
	free(path);
	free(folder);
	free(interpreter);
	return found;
}

static int resolve_name(char *const *words, const char *python, struct target *target,
			struct err *err)
{
	const char *word = words[0];
	bool is_path = strchr(word, '/') || has_python_suffix(word);

	if (strcmp(word, "-m") == 0)
		return resolve_module(words, python, target, err);
	if (strcmp(word, "-") == 0)
		return resolve_stdin(words, python, target, err);
	if (places_is_file(word))
		return resolve_file(words, python, target, err);
	char *command = is_path ? NULL : places_find_command(word);
	if (!command && !is_path)
		command = find_beside_python(word, python);
	if (command)
		return resolve_command(command, false, words, python, target, err);
	if (places_is_folder(word))
		return resolve_folder(words, python, target, err);
	if (is_path && errno != ENOENT)
		return err_set_errno(err, errno, "cannot run '%s'", word);
	if (is_path)
		return err_set(err, ERR_NOT_FOUND,
			       "there is no file '%s'; check its name and the current folder",
			       word);
	return err_set(err, ERR_NOT_FOUND,
		       "there is no file and no command '%s'; give the path of a Python program, "
		       "or a command on the PATH",
		       word);
}

int target_resolve(char *const *words, const char *python, struct target *target, struct err *err)
{
	struct target found = {.argv = NULL};

	if (!words[0])
		return err_set(err, ERR_USAGE, "name the program to profile: heatline run prog.py");
	int status = resolve_name(words, python, &found, err);
	if (status)
		target_fini(&found);
	else
		*target = found;
	return status;
}
