/* browser.h - open the page where that makes sense. */
#ifndef HEATLINE_SERVE_BROWSER_H
#define HEATLINE_SERVE_BROWSER_H

#include <stdbool.h>

/* What speaks for or against a browser window of the user's. */
struct browser_place {
	bool is_terminal;       /* somebody sits there */
	const char *display;    /* $DISPLAY */
	const char *wayland;    /* $WAYLAND_DISPLAY */
	const char *browser;    /* $BROWSER: commands with ':' between them, the first counts */
};

/* The words of the command that opens the address, in words, which ends with
 * NULL; or false when no browser should be opened.  command is kept by the
 * caller as long as the words. */
#define BROWSER_MAX_WORDS 8
bool browser_words(const struct browser_place *place, const char *address, char *command,
		   unsigned command_bytes, char *words[BROWSER_MAX_WORDS + 1]);

#endif
