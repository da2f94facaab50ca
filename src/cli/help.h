/* help.h - the help texts, made from the option tables.
 *
 * Coloured on a terminal unless NO_COLOR is set or TERM is "dumb"; wrapped to
 * the terminal's width, at most 100 columns. */
#ifndef HEATLINE_CLI_HELP_H
#define HEATLINE_CLI_HELP_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/options.h"

/* What heatline is, its commands, how to begin. */
void help_print_overview(FILE *stream);

/* One command: the options that people need, or the others. */
void help_print_command(FILE *stream, const struct command *command, bool is_advanced);

/* Writes words from column on within so many columns, and goes on at indent in each new line;
 * newlines in the text are kept, and one ends it. */
void help_print_wrapped(FILE *stream, int columns, const char *text, int column, int indent);

/* "-o, --outfile FILE": how help and man page write an option (not its alias).
 * text has room for OPTION_TITLE_BYTES. */
#define OPTION_TITLE_BYTES 128
void help_option_title(const struct option *option, char *text);

#endif
