/* child.h - run a command and wait for it, for as long as it may take.
 *
 * The command has a session of its own, no input, and its output goes to files.  When
 * its time is over, or the caller cancels, its whole process group is killed. */
#ifndef HEATLINE_SUGGEST_CHILD_H
#define HEATLINE_SUGGEST_CHILD_H

#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"

/* Words of a command, or "NAME=value"s; owned, ended by NULL once child_end_words was called. */
typedef VEC(char *) child_words;

void child_add_word(child_words *words, const char *word);
void child_end_words(child_words *words);
void child_free_words(child_words *words);

/* Splits a command at spaces; '…' and "…" hold words together, \ takes the next letter as
 * it is.  No shell: nothing else has a meaning.  Negative when a quote is not closed. */
int child_split(const char *command, child_words *words, struct err *err);

struct child {
	char **argv;         /* borrowed; argv[0] is looked up on the PATH */
	char **environment;  /* borrowed */
	const char *folder;  /* where it runs */
	const char *output;  /* file for standard output */
	const char *errors;  /* file for standard error; may be the same */
	double limit_s;
	bool (*is_cancelled)(void *closure); /* NULL: never */
	void *closure;
};

struct child_result {
	int status;     /* exit status, 128 + number for a signal */
	double seconds;
	bool is_late;   /* it was killed at its limit */
};

/* 0, or negative: it could not be started, or was cancelled. */
int child_run(const struct child *child, struct child_result *result, struct err *err);

#endif
