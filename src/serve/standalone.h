/* standalone.h - the page as one file, with its profiles inside.
 *
 * The file makes no request: script and style are in it, and its content
 * security policy permits nothing else.  A profile is a script element of type
 * application/json with the id heatline-profile-0 (or 1), in which every "<" is
 * written \u003c, so that no text of a profile can end it. */
#ifndef HEATLINE_SERVE_STANDALONE_H
#define HEATLINE_SERVE_STANDALONE_H

#include <stdio.h>

#include "base/err.h"
#include "serve/store.h"

/* Writes the page with all profiles of the store to a file, in one step: on failure an old
 * one is as it was.  The caller has asked assets_check. */
int standalone_write_file(const char *path, struct store *store, struct err *err);

#endif
