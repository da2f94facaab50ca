/* workspace.c - copy a folder, and remove the copy. */
#include "suggest/workspace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"

#define MAX_DEPTH 40u
#define BLOCK_BYTES ((size_t)256 << 10)

static bool has_entry(const char *folder, const char *name)
{
	char *path = path_join(folder, name);
	bool is_there = access(path, F_OK) == 0;

	free(path);
	return is_there;
}

static bool is_project(const char *folder)
{
	static const char *const marks[] = {"pyproject.toml", "setup.py", "setup.cfg", ".git", ".hg"};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (has_entry(folder, marks[i]))
			return true;
	}
	return false;
}

char *workspace_find_root(const char *file, const char *otherwise)
{
	const char *home = getenv("HOME");
	char *own = path_dirname(file);
	char *folder = mem_copy_text(own);

	while (strcmp(folder, "/") != 0 && strcmp(folder, ".") != 0 && !text_equal(folder, home)) {
		if (is_project(folder)) {
			free(own);
			return folder;
		}
		char *above = path_dirname(folder);
		free(folder);
		folder = above;
	}
	free(folder);
	if (otherwise && path_is_inside(file, otherwise) && strcmp(otherwise, "/") != 0) {
		free(own);
		return mem_copy_text(otherwise);
	}
	return own;
}

/* --- copying --- */

struct copier {
	bool (*is_cancelled)(void *closure);
	void *closure;
	uint64_t bytes;
	uint32_t files;
	char *block; /* BLOCK_BYTES */
};

static bool is_left_out(const char *name)
{
	static const char *const names[] = {".git", ".hg", ".svn", "__pycache__", ".tox", ".nox",
					    ".mypy_cache", ".pytest_cache", ".ruff_cache"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool is_linked(const char *folder, const char *name)
{
	return strcmp(name, "node_modules") == 0 || has_entry(folder, "pyvenv.cfg");
}

static int copy_bytes(struct copier *copier, int from, int to)
{
	ssize_t size;

	while ((size = read(from, copier->block, BLOCK_BYTES)) != 0) {
		if (size < 0 && errno != EINTR)
			return -1;
		for (ssize_t done = 0; done < size;) {
			ssize_t part = write(to, copier->block + done, (size_t)(size - done));

			if (part < 0 && errno != EINTR)
				return -1;
			done += part > 0 ? part : 0;
		}
	}
	return 0;
}

static int copy_file(struct copier *copier, const char *from, const char *to,
		     const struct stat *status, struct err *err)
{
	copier->bytes += (uint64_t)status->st_size;
	if (++copier->files > WORKSPACE_MAX_FILES || copier->bytes > WORKSPACE_MAX_BYTES)
		return err_set(err, ERR_TOO_LARGE, "the project is too large to be copied (more than "
						   "%u files or %llu MB)",
			       WORKSPACE_MAX_FILES,
			       (unsigned long long)(WORKSPACE_MAX_BYTES >> 20));
	int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (in < 0)
		return errno == EACCES ? 0 : err_set_errno(err, errno, "'%s' cannot be read", from);
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (status->st_mode & 0777) | 0600);
	int result = out < 0 || copy_bytes(copier, in, out) != 0
			     ? err_set_errno(err, errno, "'%s' cannot be copied", from)
			     : 0;
	close(in);
	if (out >= 0 && close(out) != 0 && !result)
		result = err_set_errno(err, errno, "'%s' cannot be copied", from);
	return result;
}

static int copy_link(const char *from, const char *to, struct err *err)
{
	char target[PATH_MAX];
	ssize_t size = readlink(from, target, sizeof(target) - 1);

	if (size < 0)
		return err_set_errno(err, errno, "'%s' cannot be read", from);
	target[size] = '\0';
	if (symlink(target, to) != 0)
		return err_set_errno(err, errno, "'%s' cannot be copied", from);
	return 0;
}

static int copy_folder(struct copier *copier, const char *from, const char *to, unsigned depth,
		       struct err *err);

static int copy_entry(struct copier *copier, const char *from, const char *to, const char *name,
		      unsigned depth, struct err *err)
{
	struct stat status;

	if (copier->is_cancelled && copier->is_cancelled(copier->closure))
		return err_set(err, ERR_IO, "cancelled");
	if (lstat(from, &status) != 0)
		return 0; /* it has gone meanwhile */
	if (S_ISLNK(status.st_mode))
		return copy_link(from, to, err);
	if (S_ISREG(status.st_mode))
		return copy_file(copier, from, to, &status, err);
	if (!S_ISDIR(status.st_mode))
		return 0;
	if (is_linked(from, name))
		return symlink(from, to) == 0 ? 0
					      : err_set_errno(err, errno, "'%s' cannot be copied", from);
	return copy_folder(copier, from, to, depth + 1, err);
}

static int copy_folder(struct copier *copier, const char *from, const char *to, unsigned depth,
		       struct err *err)
{
	DIR *folder = depth < MAX_DEPTH ? opendir(from) : NULL;
	const struct dirent *entry;
	int result = 0;

	if (mkdir(to, 0700) != 0)
		result = err_set_errno(err, errno, "'%s' cannot be made", to);
	while (!result && folder && (entry = readdir(folder)) != NULL) {
		if (is_left_out(entry->d_name))
			continue;
		char *source = path_join(from, entry->d_name), *copy = path_join(to, entry->d_name);

		result = copy_entry(copier, source, copy, entry->d_name, depth, err);
		free(source);
		free(copy);
	}
	if (folder)
		closedir(folder);
	return result;
}

static int make_side(struct workspace *workspace, int side, struct copier *copier, struct err *err)
{
	static const char *const names[] = {"before", "after"};
	char *above = path_join(workspace->folder, names[side]);
	const char *name = path_basename(workspace->root);
	int status = 0;

	if (mkdir(above, 0700) != 0)
		status = err_set_errno(err, errno, "'%s' cannot be made", above);
	/* The same last name: some programs look at it. */
	workspace->sides[side] = path_join(above, *name ? name : "project");
	free(above);
	copier->bytes = copier->files = 0;
	return status ? status
		      : copy_folder(copier, workspace->root, workspace->sides[side], 0, err);
}

int workspace_make(struct workspace *workspace, const char *root,
		   bool (*is_cancelled)(void *closure), void *closure, struct err *err)
{
	const char *place = getenv("TMPDIR");
	struct copier copier = {.is_cancelled = is_cancelled, .closure = closure};
	char *folder = path_join(place && *place == '/' ? place : "/tmp", "heatline-verify-XXXXXX");
	int status = 0;

	*workspace = (struct workspace){.root = mem_copy_text(root)};
	if (!mkdtemp(folder)) {
		status = err_set_errno(err, errno, "a temporary folder cannot be made");
		free(folder);
		return status;
	}
	workspace->folder = realpath(folder, NULL); /* as the profiles will name it */
	free(folder);
	if (!workspace->folder)
		return err_set_errno(err, errno, "a temporary folder cannot be made");
	copier.block = mem_alloc(BLOCK_BYTES);
	for (int side = 0; side < WORKSPACE_SIDES && !status; side++)
		status = make_side(workspace, side, &copier, err);
	free(copier.block);
	return status;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	remove(path); /* what cannot be removed stays in the temporary folder */
	return 0;
}

void workspace_fini(struct workspace *workspace)
{
	if (workspace->folder)
		nftw(workspace->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	for (int side = 0; side < WORKSPACE_SIDES; side++)
		free(workspace->sides[side]);
	free(workspace->folder);
	free(workspace->root);
	*workspace = (struct workspace){0};
}

char *workspace_map(const struct workspace *workspace, int side, const char *path)
{
	size_t size = strlen(workspace->root);

	if (!path_is_inside(path, workspace->root))
		return mem_copy_text(path);
	return path[size] ? path_join(workspace->sides[side], path + size + 1)
			  : mem_copy_text(workspace->sides[side]);
}
