/* workspace.h - two copies of a project, to try a change in one of them.
 *
 * Everything is copied, so that nothing a test writes reaches the original.  Left out
 * are version control, caches and what can be made again; virtual environments and
 * node_modules are linked to, because programs find them by their place.  A project of
 * more than WORKSPACE_MAX_BYTES is refused. */
#ifndef HEATLINE_SUGGEST_WORKSPACE_H
#define HEATLINE_SUGGEST_WORKSPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define WORKSPACE_MAX_BYTES ((uint64_t)512 << 20)
#define WORKSPACE_MAX_FILES 20000u

enum { WORKSPACE_BEFORE, WORKSPACE_AFTER, WORKSPACE_SIDES };

struct workspace {
	char *folder;                  /* owned; temporary; for the user alone */
	char *root;                    /* owned; the original project */
	char *sides[WORKSPACE_SIDES];  /* owned; the copies */
};

/* The folder of the project that a file belongs to: the nearest above it that holds
 * pyproject.toml, setup.py, setup.cfg or version control, below the home folder; else
 * `otherwise` if the file is in it; else the file's own folder.  The caller frees. */
char *workspace_find_root(const char *file, const char *otherwise);

/* Makes the copies.  is_cancelled may be NULL.  workspace_fini in any case. */
int workspace_make(struct workspace *workspace, const char *root,
		   bool (*is_cancelled)(void *closure), void *closure, struct err *err);

/* Removes them. */
void workspace_fini(struct workspace *workspace);

/* A path of the project in one of the copies; a copy of the path itself when it is not
 * in the project.  The caller frees. */
char *workspace_map(const struct workspace *workspace, int side, const char *path);

#endif
