/* settings.h - keys and addresses of providers, by the names that users know them by.
 *
 * A value comes from the environment (OPENAI_API_KEY …) or from a file with lines
 * "NAME=value", $XDG_CONFIG_HOME/heatline/providers, by default
 * ~/.config/heatline/providers.  The environment wins.  The file is refused unless
 * it belongs to the user and nobody else can read it.
 *
 * Values never leave the process but in the requests to their own provider:
 * settings_scrub takes them out of what a provider says. */
#ifndef HEATLINE_SUGGEST_SETTINGS_H
#define HEATLINE_SUGGEST_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct settings {
	char *text; /* owned; the file, its line ends and '=' turned to zeros; NULL: none */
	size_t size;
};

/* Reads the file if there is one.  Negative with the sentence in err when it may not
 * be used; settings then has the environment alone. */
int settings_load(struct settings *settings, struct err *err);
void settings_fini(struct settings *settings);

/* The value, or NULL when there is none or it is empty. */
const char *settings_get(const struct settings *settings, const char *name);

/* Whether an entry of the environment ("NAME=value") holds a secret: programs that are
 * run to try a proposal go without. */
bool settings_is_secret(const char *entry);

/* Appends text without any of the secrets that settings know. */
void settings_scrub(const struct settings *settings, struct buf *out, const char *text,
		    size_t size);

#endif
