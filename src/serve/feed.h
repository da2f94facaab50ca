/* feed.h - answers that a thread of their own makes while they are sent.
 *
 * For what takes seconds: asking a model, running a program.  The work function runs
 * in its own thread and writes; the server's thread sends.  When the client closes its
 * connection the work is told through feed_is_cancelled, which it asks often; that
 * call also sends a sign of life now and then, because only sending shows that a
 * client is gone.
 *
 * Life cycle: feeds_new; feed_answer for each; feeds_stop before the library is
 * stopped, feeds_free after it, which waits for the threads. */
#ifndef HEATLINE_SERVE_FEED_H
#define HEATLINE_SERVE_FEED_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

#define FEED_MAX 8u /* at a time */

struct feed;
struct feeds;

enum feed_kind {
	FEED_EVENTS, /* text/event-stream */
	FEED_JSON,   /* one JSON value */
};

struct feed_work {
	enum feed_kind kind;
	void (*run)(struct feed *feed, void *closure);
	void (*free)(void *closure); /* called in any case, after run */
	void *closure;
};

struct feeds *feeds_new(void);
void feeds_stop(struct feeds *feeds);
void feeds_free(struct feeds *feeds); /* accepts NULL */

/* Starts the work and answers with it; 503 when there are too many. */
enum MHD_Result feed_answer(struct feeds *feeds, struct MHD_Connection *connection,
			    const struct feed_work *work);

/* The rest is for the work function. */

void feed_write(struct feed *feed, const char *bytes, size_t size);

/* An event; data is JSON, which has no line end. */
void feed_event(struct feed *feed, const char *name, const char *data);

/* An event whose data is this text, as a JSON string. */
void feed_event_text(struct feed *feed, const char *name, const char *text, size_t size);

bool feed_is_cancelled(struct feed *feed);

#endif
