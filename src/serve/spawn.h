/* spawn.h - start a program of the user's and let it go: a browser, an editor. */
#ifndef HEATLINE_SERVE_SPAWN_H
#define HEATLINE_SERVE_SPAWN_H

#include <stdbool.h>

#include "base/err.h"

/* Starts argv[0], looked for on the PATH, as nobody's child: it outlives us and
 * needs no waiting for.  Signals are as a new program expects them.
 * is_quiet: it reads nothing, its output goes nowhere, and Ctrl-C in our
 * terminal does not reach it.  Fails when it cannot be executed. */
int spawn_detached(char *const argv[], bool is_quiet, struct err *err);

#endif
