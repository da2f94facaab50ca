/* binary.h - can the agent be preloaded into this executable?
 *
 * The dynamic linker loads the agent; it does not where there is none (a
 * static executable), where it must not (set-user-ID), or where it cannot (an
 * executable for another kind of machine or C library).  Such a program would
 * run and give an empty profile, so it is refused before it starts. */
#ifndef HEATLINE_CLI_BINARY_H
#define HEATLINE_CLI_BINARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define SHEBANG_BYTES 256 /* what Linux reads of a script's first line */

enum binary_kind {
	BINARY_ELF,
	BINARY_SCRIPT, /* begins with #! */
	BINARY_OTHER,  /* anything else: source without a first line, a zip file */
};

/* What the first bytes say; BINARY_OTHER when it cannot be read. */
enum binary_kind binary_kind(const char *path);

/* The program that a script's first line names, and its first argument ("" when
 * there is none).  Each has room for SHEBANG_BYTES.  False when there is no such
 * line. */
bool binary_shebang(const char *path, char *interpreter, char *argument);

/* Checks an executable; for a script, the program that its first line names.
 * Returns 0, or negative with the sentence in err. */
int binary_check(const char *path, struct err *err);

#endif
