/* command_text.h - the source of a program that stands on Python's command line, after -c.
 *
 * Its code says "<string>", and so does that of any text which the program runs by
 * exec; and a child may have another text after its -c.  So the source is given
 * to a profile only if one text was run, and what was measured in it agrees with the
 * source: the lines are there, and functions begin where they say. */
#ifndef HEATLINE_COLLECT_COMMAND_TEXT_H
#define HEATLINE_COLLECT_COMMAND_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct profile;

/* Begins all zero. */
struct command_text {
	const char *command; /* interned; whose text it is */
	char *text;          /* owned; NULL: none */
	size_t size;
	bool is_mixed;       /* there are several */
};

void command_text_fini(struct command_text *text);

/* A process with this command line, which is interned; helpers (helpers.h) are passed over. */
void command_text_meet(struct command_text *text, pid_t pid, const char *command);

/* Gives "<string>" of the profile its source, if it is this. */
void command_text_give(const struct command_text *text, struct profile *profile);

/* The word after -c in a command line of Python, each word ended by a zero byte; NULL:
 * none.  Pure. */
const char *command_text_find(const char *words, size_t size);

#endif
