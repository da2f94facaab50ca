/* commands.h - every command of heatline, one file each.
 *
 * A command is one struct command: its name, its options (the table of
 * options.h) and the function that runs it, which gets the words after the
 * command's name and returns the exit status: 0, 1 for failure, 2 for wrong
 * usage or bad input.  Only this layer prints and exits.
 *
 *	static int view_run(int argc, char **argv)
 *	{
 *		struct view_settings settings = {.width = 80};
 *		struct options_result parsed;
 *		int status = command_read_options(&command_view, argc, argv, &settings, &parsed);
 *		if (status != COMMAND_GO_ON)
 *			return status;
 *		...parsed.operands[0]...
 *		options_result_fini(&parsed);
 *
 * To add a command: write cmd_<name>.c, declare its struct here, add it to the
 * list in commands.c. */
#ifndef HEATLINE_CLI_COMMANDS_H
#define HEATLINE_CLI_COMMANDS_H

#include <stdio.h>

#include "cli/options.h"

extern const struct command command_run;
extern const struct command command_view;
extern const struct command command_export;
extern const struct command command_suggest;
extern const struct command command_diff;
extern const struct command command_check;
extern const struct command command_merge;
extern const struct command command_query;
extern const struct command command_mcp;
extern const struct command command_on;
extern const struct command command_off;
extern const struct command command_status;
extern const struct command command_write;
extern const struct command command_attach;
extern const struct command command_dump;
extern const struct command command_top;
extern const struct command command_recover;
extern const struct command command_doctor;
extern const struct command command_completions;
extern const struct command command_help;
extern const struct command command_session; /* for the Python package; in no list */

/* All commands in the order of the help; ends with NULL. */
extern const struct command *const commands[];

/* The command of this name, or NULL. */
const struct command *command_find(const char *name);

/* command_read_options: the command is to go on with its work. */
#define COMMAND_GO_ON (-1)

/* Parses the words after the command's name into settings (which holds the
 * defaults), reads the config file if one is named (the command line wins),
 * prints help or the sentence about what is wrong.  Returns COMMAND_GO_ON, and
 * then result is the caller's to fini; or the exit status, 0 or 2. */
int command_read_options(const struct command *command, int argc, char **argv, void *settings,
			 struct options_result *result);

/* Prints "heatline: the sentence" on stderr; returns the exit status 2.  Names in it may be anybody's,
 * so nothing that a terminal obeys comes out (glyph.h). */
int command_error(const struct err *err);

/* Prints a text that somebody else has written; the same holds, but lines and tabs stay. */
void command_put(FILE *out, const char *text, size_t size);

/* The same for a word that is no command, with the nearest one. */
int command_unknown(const char *word);

#endif
