/* editor.h - the command that opens a line in the user's editor.
 *
 * HEATLINE_EDITOR wins; what it names is used whatever it is.  VISUAL and EDITOR
 * are used when they name an editor with a window of its own: one for the
 * terminal would have to share it with heatline.  A command is words with
 * spaces between them; no shell reads it.  How a line is asked for is known of
 * the usual editors; of others HEATLINE_EDITOR says it with {file} and {line}:
 *
 *	HEATLINE_EDITOR='xterm -e vi +{line} {file}' */
#ifndef HEATLINE_SERVE_EDITOR_H
#define HEATLINE_SERVE_EDITOR_H

#include <stdbool.h>
#include <stdint.h>

/* The command as the environment gives it, or NULL when there is none to use.
 * Any of them may be NULL. */
const char *editor_choose(const char *heatline_editor, const char *visual, const char *editor);

/* Whether the command opens a window, as far as is known: one that does not may
 * want the terminal. */
bool editor_has_window(const char *command);

/* The words of the command that opens this line of an absolute path; ends with
 * NULL; editor_free_words it.  NULL when the command has no words. */
char **editor_words(const char *command, const char *path, uint32_t line1);

void editor_free_words(char **words); /* accepts NULL */

#endif
