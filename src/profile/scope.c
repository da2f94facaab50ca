/* scope.c - the rules about which files and functions are the user's. */
#include "profile/scope.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static char *resolve(const char *path)
{
	return path ? realpath(path, NULL) : NULL;
}

void scope_init(struct scope_rules *rules)
{
	rules->folder_real = resolve(rules->folder);
	rules->program_real = resolve(rules->program);
}

void scope_fini(struct scope_rules *rules)
{
	free(rules->folder_real);
	free(rules->program_real);
	rules->folder_real = rules->program_real = NULL;
}

/* Length of "lib/python3.11/" or "lib64/python3/" at text, else 0. */
static size_t standard_library_part(const char *text)
{
	size_t at = text_starts_with(text, "lib64/") ? 6 : text_starts_with(text, "lib/") ? 4 : 0;
	if (at == 0 || !text_starts_with(text + at, "python"))
		return 0;
	at += strlen("python");
	if (!isdigit((unsigned char)text[at]))
		return 0;
	while (isalnum((unsigned char)text[at]) || text[at] == '.')
		at++;
	return text[at] == '/' ? at + 1 : 0;
}

static bool is_package_part(const char *text)
{
	return text_starts_with(text, "site-packages/") || text_starts_with(text, "dist-packages/");
}

bool scope_is_library(const char *path)
{
	for (const char *part = path; part; part = strchr(part, '/')) {
		part += *part == '/';
		if (standard_library_part(part) || is_package_part(part))
			return true;
	}
	return false;
}

/* Some go on behind the bracket: "<class '...'> compilation 22", "<eval_with_key>.0". */
static bool is_pseudo(const char *path)
{
	return path[0] == '<';
}

/* Code without a file is the user's (exec, eval, -c, a prompt, a doctest)
 * unless a library is known to name its generated code so.  Generators like
 * to explain themselves in words ("<attrs generated init ...>"), and nobody
 * else puts a space there. */
static bool is_users_pseudo(const char *path)
{
	static const char *const generated[] = {
		"<frozen", "<decorator-gen", "<makefun-gen", "<template", "<numba", "<more files",
		"<lambdifygenerated", "<eval_with_key",
	};
	if (text_starts_with(path, "<doctest "))
		return true;
	if (strchr(path, ' '))
		return false;
	for (size_t i = 0; i < sizeof(generated) / sizeof(generated[0]); i++) {
		if (text_starts_with(path, generated[i]))
			return false;
	}
	return true;
}

/* The cells of a notebook are named as files in a temporary folder that is not
 * there: "/tmp/ipykernel_4711/123456.py". */
static bool is_cell(const char *path)
{
	const char *folder = strstr(path, "/ipykernel_");
	if (!folder)
		return false;
	const char *name = folder + strlen("/ipykernel_");
	size_t pid = strspn(name, "0123456789");
	if (pid == 0 || name[pid] != '/')
		return false;
	name += pid + 1;
	return strcmp(name + strspn(name, "0123456789"), ".py") == 0;
}

static bool contains_any(const char *path, const char *const *patterns, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (patterns[i][0] && strstr(path, patterns[i]))
			return true;
	}
	return false;
}

/* Whether any pattern was given: a list of empty strings restricts nothing. */
static bool has_patterns(const char *const *patterns, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (patterns[i][0])
			return true;
	}
	return false;
}

/* In the folder, and not in a library further down: a virtual environment may
 * lie in the project, and the folder itself may lie among the packages. */
static bool is_own_file(const char *path, const char *folder)
{
	return folder && path_is_inside(path, folder) && !scope_is_library(path + strlen(folder));
}

static bool is_program(const struct scope_rules *rules, const char *path)
{
	return (rules->program && strcmp(path, rules->program) == 0) ||
	       (rules->program_real && strcmp(path, rules->program_real) == 0);
}

bool scope_file(const struct scope_rules *rules, const char *path)
{
	if (contains_any(path, rules->exclude, rules->exclude_count))
		return false;
	if (has_patterns(rules->only, rules->only_count) &&
	    !contains_any(path, rules->only, rules->only_count))
		return false;
	if (rules->profile_all)
		return !text_starts_with(path, "<more files");
	if (is_pseudo(path))
		return is_users_pseudo(path);
	if (is_program(rules, path) || is_cell(path))
		return true;
	if (rules->profile_system_libraries && scope_is_library(path))
		return true;
	if (!rules->folder || path[0] != '/')
		return !scope_is_library(path);
	return is_own_file(path, rules->folder) || is_own_file(path, rules->folder_real);
}

static bool is_dunder(const char *name)
{
	return text_starts_with(name, "__") && text_ends_with(name, "__") && strlen(name) > 4;
}

bool scope_function(const char *path, const char *qualname)
{
	if (strcmp(path, "<string>") != 0 || !qualname)
		return true;
	/* From 3.11 on the qualified name tells a class written in "-c" code
	 * from what dataclasses make; before, there is only the last part. */
	if (text_starts_with(qualname, "__create_fn__."))
		return false;
	return strcmp(qualname, "<lambda>") != 0 && (strchr(qualname, '.') || !is_dunder(qualname));
}
