/* suggest_api.h - suggestions for the page: what would be sent, sending it, checking it.
 *
 *	GET providers  {"available", "note", "providers": [{"id", "name", "ready", "needs"}]}:
 *	               available false: no request can be made, note says why
 *	GET models/ID  {"models": ["…"], "error"}: as the provider lists them; error says why
 *	               there are none
 *	POST prompt    takes a place {"profile", "file", "line", "scope"}, and "path" as the
 *	               other routes do; answers {"prompt", "system", "bytes", "masked"}
 *	POST send      takes a place with "provider" and "model"; answers events: "text" (a
 *	               JSON string, a piece of the answer), then "done" ({"diagnosis",
 *	               "diff", "gain", "risks", "test", "note"}) or "error" (a JSON string)
 *
 *	POST verify    takes a place with "diff", "test" (a command, or "") and, if wanted, "runs";
 *	               answers events: "progress" ({"text", "step", "steps"}), then "done"
 *	               ({"outcome", "sentence", "here", "whole", "runs", "details"}: verify.h) or
 *	               "error" (a JSON string)
 *	POST apply     takes a place with "diff"; makes the change in the file; answers {}, or
 *	               409 with the sentence when it does not fit any more
 *
 * Closing the connection cancels send and verify.  Nothing is sent to a provider but by
 * models and send.  The prompt is made here, of the profile: the page cannot send another
 * text.  Keys stay in this process. */
#ifndef HEATLINE_SERVE_SUGGEST_API_H
#define HEATLINE_SERVE_SUGGEST_API_H

#include <microhttpd.h>

#include "serve/feed.h"
#include "serve/route.h"
#include "serve/store.h"

#define SUGGEST_MAX_BODY_BYTES ((size_t)512 << 10)

/* Answers the routes of suggestions; body is that of a POST. */
enum MHD_Result suggest_answer(struct store *store, struct feeds *feeds,
			       struct MHD_Connection *connection, const struct route *route,
			       const char *body, size_t size);

#endif
