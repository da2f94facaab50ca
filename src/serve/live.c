/* live.c - see live.h.
 *
 * Invariant: a watcher with is_suspended is in the list, and its connection is
 * suspended; both change only under the lock.  So nobody resumes a connection
 * that is gone, which libmicrohttpd would not survive. */
#include "serve/live.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "serve/answer.h"
#include "serve/blob.h"
#include "serve/mhd.h"

#define BLOCK_BYTES ((size_t)32 << 10)

struct watcher {
	struct live *live;
	struct MHD_Connection *connection;
	struct watcher *next;
	struct blob *event; /* held; being sent; NULL: nothing */
	size_t sent;        /* bytes of event */
	unsigned seen;      /* live->published when the last profile was taken */
	unsigned pinged;    /* the same for live->pings */
	bool has_ended;     /* "end" was taken */
	bool is_suspended;
};

struct live {
	pthread_mutex_t lock; /* guards all below, and the watchers */
	struct watcher *watchers;
	unsigned watcher_count;
	struct blob *profile, *ping, *end; /* held; whole events; profile NULL: none yet */
	unsigned published, pings; /* how many so far */
	bool is_ended;
};

static struct blob *text_blob(const char *text)
{
	return blob_new(mem_copy_text(text), strlen(text));
}

struct live *live_new(void)
{
	struct live *live = mem_zalloc(1, sizeof(*live));

	pthread_mutex_init(&live->lock, NULL);
	live->ping = text_blob(": still here\n\n");
	live->end = text_blob("event: end\ndata: {}\n\n");
	return live;
}

void live_free(struct live *live)
{
	if (!live)
		return;
	blob_drop(live->profile);
	blob_drop(live->ping);
	blob_drop(live->end);
	pthread_mutex_destroy(&live->lock);
	free(live);
}

/* Under the lock. */
static void wake(struct live *live)
{
	for (struct watcher *watcher = live->watchers; watcher; watcher = watcher->next) {
		if (!watcher->is_suspended)
			continue;
		watcher->is_suspended = false;
		mhd.resume_connection(watcher->connection);
	}
}

/* One event; each line of the text is a data line of it. */
static struct blob *make_event(const char *text, size_t size)
{
	struct buf buf;

	buf_init(&buf, SIZE_MAX);
	buf_text(&buf, "event: profile\n");
	while (size) {
		const char *end = memchr(text, '\n', size);
		size_t line = end ? (size_t)(end - text) : size;

		buf_text(&buf, "data: ");
		buf_append(&buf, text, line);
		buf_char(&buf, '\n');
		line += end != NULL;
		text += line;
		size -= line;
	}
	buf_char(&buf, '\n');
	size_t event_size = buf.size;
	struct blob *event = blob_new(buf_take(&buf), event_size);
	buf_fini(&buf);
	return event;
}

void live_publish(struct live *live, const char *text, size_t size)
{
	struct blob *event = make_event(text, size);

	pthread_mutex_lock(&live->lock);
	blob_drop(live->profile);
	live->profile = event;
	live->published++;
	wake(live);
	pthread_mutex_unlock(&live->lock);
}

void live_ping(struct live *live)
{
	pthread_mutex_lock(&live->lock);
	live->pings++;
	wake(live);
	pthread_mutex_unlock(&live->lock);
}

void live_end(struct live *live)
{
	pthread_mutex_lock(&live->lock);
	live->is_ended = true;
	wake(live);
	pthread_mutex_unlock(&live->lock);
}

bool live_is_ended(struct live *live)
{
	pthread_mutex_lock(&live->lock);
	bool is_ended = live->is_ended;
	pthread_mutex_unlock(&live->lock);
	return is_ended;
}

unsigned live_watchers(struct live *live)
{
	pthread_mutex_lock(&live->lock);
	unsigned count = live->watcher_count;
	pthread_mutex_unlock(&live->lock);
	return count;
}

/* What the watcher gets next, or NULL.  Under the lock. */
static struct blob *next_event(const struct live *live, struct watcher *watcher)
{
	if (watcher->seen != live->published) {
		watcher->seen = live->published;
		return live->profile;
	}
	if (live->is_ended && !watcher->has_ended) {
		watcher->has_ended = true;
		return live->end;
	}
	if (watcher->pinged != live->pings) {
		watcher->pinged = live->pings;
		return live->ping;
	}
	return NULL;
}

/* Under the lock.  0: there is nothing now, and the connection is suspended. */
static ssize_t read_locked(struct live *live, struct watcher *watcher, char *buffer, size_t room)
{
	if (!watcher->event) {
		struct blob *event = watcher->has_ended ? NULL : next_event(live, watcher);

		if (event) {
			watcher->event = blob_hold(event);
			watcher->sent = 0;
		} else if (watcher->has_ended) {
			return MHD_CONTENT_READER_END_OF_STREAM;
		} else {
			watcher->is_suspended = true;
			mhd.suspend_connection(watcher->connection);
			return 0;
		}
	}
	size_t left = watcher->event->size - watcher->sent;
	size_t size = left < room ? left : room;
	memcpy(buffer, watcher->event->data + watcher->sent, size);
	watcher->sent += size;
	if (size == left) {
		blob_drop(watcher->event);
		watcher->event = NULL;
	}
	return (ssize_t)size;
}

static ssize_t read_events(void *closure, uint64_t position, char *buffer, size_t room)
{
	struct watcher *watcher = closure;
	struct live *live = watcher->live;

	pthread_mutex_lock(&live->lock);
	ssize_t size = read_locked(live, watcher, buffer, room);
	pthread_mutex_unlock(&live->lock);
	return size;
}

static void leave(void *closure)
{
	struct watcher *watcher = closure;
	struct live *live = watcher->live;

	pthread_mutex_lock(&live->lock);
	struct watcher **place = &live->watchers;
	while (*place != watcher)
		place = &(*place)->next;
	*place = watcher->next;
	live->watcher_count--;
	pthread_mutex_unlock(&live->lock);
	blob_drop(watcher->event);
	free(watcher);
}

static struct watcher *enter(struct live *live, struct MHD_Connection *connection)
{
	struct watcher *watcher = NULL;

	pthread_mutex_lock(&live->lock);
	if (live->watcher_count < LIVE_MAX_WATCHERS) {
		watcher = mem_zalloc(1, sizeof(*watcher));
		*watcher = (struct watcher){.live = live, .connection = connection,
					    .next = live->watchers, .pinged = live->pings};
		live->watchers = watcher;
		live->watcher_count++;
	}
	pthread_mutex_unlock(&live->lock);
	return watcher;
}

enum MHD_Result live_answer(struct live *live, struct MHD_Connection *connection)
{
	struct watcher *watcher;

	if (live_is_ended(live))
		return answer_sentence(connection, MHD_HTTP_NO_CONTENT, "");
	watcher = enter(live, connection);
	if (!watcher)
		return answer_sentence(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
				       "too many are watching; close one of the other windows");
	struct MHD_Response *response = mhd.create_response_from_callback(
		MHD_SIZE_UNKNOWN, BLOCK_BYTES, read_events, watcher, leave);
	if (!response) {
		leave(watcher);
		return MHD_NO;
	}
	return answer_queue(connection, MHD_HTTP_OK, response, "text/event-stream");
}
