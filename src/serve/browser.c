/* browser.c - $BROWSER, else xdg-open. */
#include "serve/browser.h"

#include <stdio.h>
#include <string.h>

static bool is_given(const char *value)
{
	return value && *value;
}

bool browser_words(const struct browser_place *place, const char *address, char *command,
		   unsigned command_bytes, char *words[BROWSER_MAX_WORDS + 1])
{
	bool has_display = is_given(place->display) || is_given(place->wayland);
	const char *browser = is_given(place->browser) ? place->browser : "xdg-open";
	int count = 0;

	/* $BROWSER alone does: an editor's remote terminal sets it to a command
	 * that opens the page on the user's own machine. */
	if (!place->is_terminal || (!has_display && !is_given(place->browser)))
		return false;
	int size = snprintf(command, command_bytes, "%.*s", (int)strcspn(browser, ":"), browser);
	if (size <= 0 || (unsigned)size >= command_bytes)
		return false;
	char *rest = NULL;
	bool has_address = false;
	for (char *word = strtok_r(command, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
		if (count == BROWSER_MAX_WORDS - 1)
			return false;
		bool is_place = strcmp(word, "%s") == 0;
		words[count++] = is_place ? (char *)address : word;
		has_address |= is_place;
	}
	if (count == 0)
		return false;
	if (!has_address)
		words[count++] = (char *)address;
	words[count] = NULL;
	return true;
}
