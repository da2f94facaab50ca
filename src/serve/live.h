/* live.h - the profile of a running program, to everybody who watches.
 *
 * Server-sent events: "profile" with the profile as data, whenever one is
 * published; "end" with the data {} when the run is over, after which the
 * stream ends.  A watcher who is slow misses the ones between.  A comment is
 * sent now and then, because only sending shows that a watcher is gone.
 *
 * Watchers are served by the server's thread; while there is nothing to send
 * their connections are suspended.  All functions may be called from any
 * thread. */
#ifndef HEATLINE_SERVE_LIVE_H
#define HEATLINE_SERVE_LIVE_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

#define LIVE_MAX_WATCHERS 8u

struct live;

struct live *live_new(void);
void live_free(struct live *live); /* accepts NULL; nobody watches any more */

/* Sends this text to all watchers, and to those who come later. */
void live_publish(struct live *live, const char *text, size_t size);

/* Sends the comment. */
void live_ping(struct live *live);

/* Ends the streams, once what was published is sent. */
void live_end(struct live *live);

bool live_is_ended(struct live *live);

unsigned live_watchers(struct live *live);

/* Makes the connection's client a watcher; 503 when there are too many, 204 (which
 * tells a browser not to ask again) when the run has ended. */
enum MHD_Result live_answer(struct live *live, struct MHD_Connection *connection);

#endif
