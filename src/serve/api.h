/* api.h - what the page asks the server for (the paths: route.h).
 *
 *	info     {"version", "profiles", "is_live", "can_open_editor"}
 *	profile  the profile's JSON (docs/profile-format.md)
 *	source   the text of a file as it is on disk now, UTF-8; ?path= says which file
 *	         is meant while the order of a running program's files changes
 *	export   a download; ?metric= says what stacks are weighed by (report/export)
 *	live     server-sent events (live.h)
 *	open     takes {"profile", "file", "line"}, and "path" with the same purpose;
 *	         answers {} */
#ifndef HEATLINE_SERVE_API_H
#define HEATLINE_SERVE_API_H

#include <microhttpd.h>

#include "serve/live.h"
#include "serve/request.h"
#include "serve/route.h"
#include "serve/store.h"

#define API_MAX_BODY_BYTES 16384u

struct api {
	struct store *store; /* borrowed */
	struct live *live;   /* borrowed; NULL: nothing is running */
	const char *editor;  /* borrowed; editor_choose's; NULL: none */
};

/* Answers a request that may be made, GET or HEAD. */
enum MHD_Result api_answer(const struct api *api, struct MHD_Connection *connection,
			   const struct route *route, const struct request_headers *headers);

/* Answers ROUTE_OPEN. */
enum MHD_Result api_answer_open(const struct api *api, struct MHD_Connection *connection,
				const char *body, size_t size);

#endif
