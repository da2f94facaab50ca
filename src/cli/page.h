/* page.h - the page of a profile: served to the browser, or written to a file.
 *
 * The functions return an exit status and print: the address alone goes to
 * stdout, everything else to stderr. */
#ifndef HEATLINE_CLI_PAGE_H
#define HEATLINE_CLI_PAGE_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "serve/browser.h"
#include "serve/server.h"

#define PAGE_USUAL_PORT (-1)

/* What to show, and where.  Texts are borrowed. */
struct page_options {
	const char *profile;  /* path */
	const char *baseline; /* path of the one to compare with; NULL: none */
	long port;            /* 0: any; PAGE_USUAL_PORT: the usual one or the next */
	bool may_open;        /* a browser, if there is a terminal and a display */
	bool is_reduced;      /* page_write: without lines and sources that have no figures */
};

/* Serves the page until Ctrl-C. */
int page_serve(const struct page_options *options);

/* Writes the page to a file; outfile NULL: named after the profile. */
int page_write(const struct page_options *options, const char *outfile);

/* The words of the command that opens the address in a browser, as browser_words gives them;
 * false when none is to be opened from here.  is_terminal: somebody sits there. */
bool page_browser(bool is_terminal, const char *address, char *command, unsigned command_bytes,
		  char *words[BROWSER_MAX_WORDS + 1]);

/* For who serves a page of their own (live.h): the steps of page_serve. */

/* Blocks the signals that end it; before is what was blocked. */
void page_block_signals(sigset_t *signals, sigset_t *before);

/* Starts the server as the options say; NULL with the reason in err. */
struct server *page_start(const struct page_options *options, struct store *store, bool is_live,
			  struct err *err);

/* Prints the address on stream, opens a browser, or says how to come to the
 * page from elsewhere.  duration: "until Ctrl-C". */
void page_announce(const struct server *server, bool may_open, const char *duration, FILE *stream);

/* Serves until one of the signals comes. */
void page_wait(struct server *server, const sigset_t *signals);

/* Says that it is over. */
void page_say_end(void);

#endif
