/* route.c - paths to what they ask for. */
#include "serve/route.h"

#include <string.h>

#include "base/text.h"

#define MAX_DIGITS 9 /* of a number in a path */

/* Takes the word from *rest, which must be followed by what ends it there. */
static bool take_word(const char **rest, const char *word)
{
	if (!text_starts_with(*rest, word))
		return false;
	*rest += strlen(word);
	return true;
}

/* Takes a decimal number without leading zeros. */
static bool take_number(const char **rest, uint32_t *number)
{
	size_t digits = strspn(*rest, "0123456789");
	uint32_t value = 0;

	if (digits == 0 || digits > MAX_DIGITS || (digits > 1 && **rest == '0'))
		return false;
	for (size_t i = 0; i < digits; i++)
		value = value * 10 + (uint32_t)((*rest)[i] - '0');
	*rest += digits;
	*number = value;
	return true;
}

static bool take_format(const char **rest, struct route *route)
{
	size_t letters = strspn(*rest, "abcdefghijklmnopqrstuvwxyz0123456789");

	if (letters == 0 || letters > ROUTE_FORMAT_LETTERS)
		return false;
	memcpy(route->format, *rest, letters);
	route->format[letters] = '\0';
	*rest += letters;
	return true;
}

static enum route_kind parse_suggest(const char **rest, struct route *route)
{
	if (take_word(rest, "providers"))
		return ROUTE_PROVIDERS;
	if (take_word(rest, "models/") && take_format(rest, route))
		return ROUTE_MODELS;
	if (take_word(rest, "prompt"))
		return ROUTE_PROMPT;
	if (take_word(rest, "send"))
		return ROUTE_SEND;
	if (take_word(rest, "verify"))
		return ROUTE_VERIFY;
	return take_word(rest, "apply") ? ROUTE_APPLY : ROUTE_NONE;
}

static enum route_kind parse_api(const char *rest, struct route *route)
{
	enum route_kind kind = ROUTE_NONE;

	if (take_word(&rest, "info"))
		kind = ROUTE_INFO;
	else if (take_word(&rest, "live"))
		kind = ROUTE_LIVE;
	else if (take_word(&rest, "open"))
		kind = ROUTE_OPEN;
	else if (take_word(&rest, "profile/") && take_number(&rest, &route->profile))
		kind = ROUTE_PROFILE;
	else if (take_word(&rest, "source/") && take_number(&rest, &route->profile) &&
		 take_word(&rest, "/") && take_number(&rest, &route->file))
		kind = ROUTE_SOURCE;
	else if (take_word(&rest, "export/") && take_number(&rest, &route->profile) &&
		 take_word(&rest, "/") && take_format(&rest, route))
		kind = ROUTE_EXPORT;
	else if (take_word(&rest, "suggest/"))
		kind = parse_suggest(&rest, route);
	return *rest ? ROUTE_NONE : kind;
}

static const char *find_asset(const char *rest)
{
	static const char *const names[] = {"index.html", "app.js", "app.css"};

	if (!*rest)
		return names[0];
	for (size_t i = 1; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(rest, names[i]) == 0)
			return names[i];
	}
	return NULL;
}

bool route_is_action(const struct route *route)
{
	return route->kind == ROUTE_OPEN || route->kind >= ROUTE_PROMPT;
}

bool route_is_stream(const struct route *route)
{
	return route->kind == ROUTE_LIVE || route->kind == ROUTE_MODELS ||
	       route->kind == ROUTE_SEND || route->kind == ROUTE_VERIFY;
}

struct route route_parse(const char *path, const struct token *token)
{
	struct route route = {.kind = ROUTE_NONE};
	const char *rest = path + (*path == '/');
	size_t size = strcspn(rest, "/");

	if (*path != '/' || !token_equal(token, rest, size))
		return route;
	rest += size;
	if (!*rest) {
		route.kind = ROUTE_TO_PAGE;
		return route;
	}
	rest++;
	route.asset = find_asset(rest);
	if (route.asset)
		route.kind = ROUTE_ASSET;
	else if (take_word(&rest, "api/"))
		route.kind = parse_api(rest, &route);
	return route;
}
