/* places.h - where things are: commands, the Python to use, heatline's own parts.
 *
 * All results are paths that the caller frees. */
#ifndef HEATLINE_CLI_PLACES_H
#define HEATLINE_CLI_PLACES_H

#include <stdbool.h>

#include "base/err.h"

/* The executable file that a shell would run for this name: itself when it has a
 * slash, else the first on the PATH.  NULL when there is none. */
char *places_find_command(const char *name);

/* The interpreter for scripts and modules.  asked (--python) is a path, a name on
 * the PATH, a version ("3.12"; of pyenv's, switched on or not) or the folder of an
 * environment; NULL: that of
 * the environment heatline lies in, else of the active virtual environment
 * ($VIRTUAL_ENV), else python3 on the PATH.  Returns NULL with the sentence in
 * err when there is none, or none that can be profiled. */
char *places_find_python(const char *asked, struct err *err);

/* As far as the name tells, is this a Python that can be profiled?  Returns 0, or
 * negative with the sentence: too old, or not CPython. */
int places_check_python(const char *path, struct err *err);

/* The agent library, the one that profiles memory or the one that does not: in $HEATLINE_LIBDIR, ../lib/heatline/ from the executable, or
 * beside it.  NULL with the sentence in err when it is in none of them. */
char *places_find_agent(bool has_memory, struct err *err);

/* An absolute, normalised path; links are not resolved. */
char *places_absolute(const char *path);

bool places_is_folder(const char *path);
bool places_is_file(const char *path);

#endif
