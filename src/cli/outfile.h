/* outfile.h - what may stand where an output goes.
 *
 * A file of the same kind is replaced, as the next run replaces the last one's profile.  What
 * is read is never replaced, and a profile or a page never takes the place of a file that
 * is none: a mistyped -o must not cost the user a program.  Devices, FIFOs and empty files
 * are nothing that could be lost.  (For exports: export_check_path.) */
#ifndef HEATLINE_CLI_OUTFILE_H
#define HEATLINE_CLI_OUTFILE_H

#include "base/err.h"

enum outfile_kind {
	OUTFILE_PROFILE,
	OUTFILE_PAGE,
};

/* Whether path may be written to.  input: the file that is read, or NULL.  Returns 0, or
 * negative with the sentence. */
int outfile_check(const char *path, enum outfile_kind kind, const char *input, struct err *err);

/* The same for the profile of a program that is to be started.  A descriptor (/dev/stdout,
 * /dev/fd/63) is refused: it is the program's, and closed when the profile is written. */
int outfile_check_run(const char *path, const char *program, struct err *err);

#endif
