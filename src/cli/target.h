/* target.h - from the words after the options to the command that is executed.
 *
 *	prog.py args       the interpreter runs it; so does a file without a first
 *	                   line "#!", a folder with __main__.py, "-" for stdin
 *	-m module args     the interpreter runs it
 *	./script args      executed as it is, by its own first line
 *	pytest args        found on the PATH, then beside the interpreter
 *	python3 -c ...     the same; its arguments are looked at for the script's name
 *
 * "---" directly after the program is dropped: what follows is the program's own.
 * What can be known to fail is refused here, before anything starts. */
#ifndef HEATLINE_CLI_TARGET_H
#define HEATLINE_CLI_TARGET_H

#include "base/err.h"

struct target {
	char **argv;          /* owned, and its strings; ends with NULL */
	char *path;           /* owned; the file to execute */
	char *program;        /* owned; absolute path of the script, else as typed */
	char *entrypoint_dir; /* owned; absolute: where the program's own files are */
	char **args;          /* borrowed, the tail of argv: the program's own arguments */
};

/* words: what options_parse left over, ended by NULL.  python: the value of
 * --python, or NULL.  Returns 0, or negative with the sentence in err; then
 * *target is untouched. */
int target_resolve(char *const *words, const char *python, struct target *target, struct err *err);

/* Frees what it owns; accepts a zeroed target. */
void target_fini(struct target *target);

#endif
