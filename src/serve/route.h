/* route.h - what the path of a request asks for.
 *
 * All paths begin with the token:
 *
 *	/TOKEN/                     the page; /TOKEN alone is sent there
 *	/TOKEN/app.js, app.css      its parts
 *	/TOKEN/api/info             what this server can do
 *	/TOKEN/api/profile/P        profile P: 0, or 1 to compare with
 *	/TOKEN/api/source/P/F       the text of file F, by its place in profile P
 *	/TOKEN/api/export/P/FORMAT  profile P for another tool
 *	/TOKEN/api/live             the profile of a running program, each second
 *	/TOKEN/api/open             POST: open a line in the editor
 *	/TOKEN/api/suggest/…        providers, models/ID; POST: prompt, send, verify, apply
 *	                            (suggest_api.h)
 *
 * A path is compared as it was sent: nothing is decoded, no part of it ever
 * becomes the name of a file. */
#ifndef HEATLINE_SERVE_ROUTE_H
#define HEATLINE_SERVE_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "serve/token.h"

enum route_kind {
	ROUTE_NONE, /* no such thing, or the wrong token: the two look the same */
	ROUTE_TO_PAGE,
	ROUTE_ASSET,
	ROUTE_INFO,
	ROUTE_PROFILE,
	ROUTE_SOURCE,
	ROUTE_EXPORT,
	ROUTE_LIVE,
	ROUTE_OPEN,
	ROUTE_PROVIDERS,
	ROUTE_MODELS,
	ROUTE_PROMPT,
	ROUTE_SEND,
	ROUTE_VERIFY,
	ROUTE_APPLY,
};

#define ROUTE_FORMAT_LETTERS 15u

struct route {
	enum route_kind kind;
	const char *asset;  /* ROUTE_ASSET: "index.html", "app.js", "app.css"; static */
	uint32_t profile;   /* where the path has a P */
	uint32_t file;      /* ROUTE_SOURCE */
	char format[ROUTE_FORMAT_LETTERS + 1]; /* ROUTE_EXPORT, ROUTE_MODELS: small
							* letters and digits */
};

/* Whether it takes a POST, which only the page itself may send. */
bool route_is_action(const struct route *route);

/* Whether the answer goes on for as long as it takes. */
bool route_is_stream(const struct route *route);

/* What the path (without its query) asks for. */
struct route route_parse(const char *path, const struct token *token);

#endif
