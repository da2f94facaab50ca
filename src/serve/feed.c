/* feed.c - see feed.h.
 *
 * A feed belongs to its thread and to its response; the last of the two frees it.
 * Invariant, as in live.c: is_suspended says exactly whether the connection is
 * suspended, and both change only under the lock. */
#include "serve/feed.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "serve/answer.h"
#include "serve/mhd.h"

#define BLOCK_BYTES ((size_t)16 << 10)
#define MAX_WAITING_BYTES ((size_t)16 << 20) /* a client that does not read is left */
#define SIGN_OF_LIFE_NS 500000000u

struct feed {
	struct feeds *feeds;
	struct feed *next;
	struct feed_work work;
	struct MHD_Connection *connection;
	struct buf waiting;  /* written, not sent */
	uint64_t written_ns; /* when something was written last */
	unsigned holders;    /* the thread, the response */
	bool is_suspended;
	bool is_cancelled;
	bool is_done; /* the work has ended */
};

struct feeds {
	pthread_mutex_t lock; /* guards all below, and the feeds */
	pthread_cond_t changed;
	struct feed *first;
	unsigned count;
	bool is_stopping;
};

struct feeds *feeds_new(void)
{
	struct feeds *feeds = mem_zalloc(1, sizeof(*feeds));

	pthread_mutex_init(&feeds->lock, NULL);
	pthread_cond_init(&feeds->changed, NULL);
	return feeds;
}

/* Under the lock. */
static void wake(struct feed *feed)
{
	if (!feed->is_suspended)
		return;
	feed->is_suspended = false;
	mhd.resume_connection(feed->connection);
}

void feeds_stop(struct feeds *feeds)
{
	pthread_mutex_lock(&feeds->lock);
	feeds->is_stopping = true;
	for (struct feed *feed = feeds->first; feed; feed = feed->next) {
		feed->is_cancelled = true;
		wake(feed);
	}
	pthread_mutex_unlock(&feeds->lock);
}

void feeds_free(struct feeds *feeds)
{
	if (!feeds)
		return;
	pthread_mutex_lock(&feeds->lock);
	while (feeds->count)
		pthread_cond_wait(&feeds->changed, &feeds->lock);
	pthread_mutex_unlock(&feeds->lock);
	pthread_cond_destroy(&feeds->changed);
	pthread_mutex_destroy(&feeds->lock);
	free(feeds);
}

/* One holder less.  Under the lock. */
static void drop_locked(struct feed *feed)
{
	struct feeds *feeds = feed->feeds;
	struct feed **place = &feeds->first;

	if (--feed->holders)
		return;
	while (*place != feed)
		place = &(*place)->next;
	*place = feed->next;
	feeds->count--;
	pthread_cond_broadcast(&feeds->changed);
	buf_fini(&feed->waiting);
	free(feed);
}

/* --- the thread --- */

static void *run(void *closure)
{
	struct feed *feed = closure;
	struct feeds *feeds = feed->feeds;

	feed->work.run(feed, feed->work.closure);
	feed->work.free(feed->work.closure);
	pthread_mutex_lock(&feeds->lock);
	feed->is_done = true;
	wake(feed);
	drop_locked(feed);
	pthread_mutex_unlock(&feeds->lock);
	return NULL;
}

void feed_write(struct feed *feed, const char *bytes, size_t size)
{
	pthread_mutex_lock(&feed->feeds->lock);
	if (!buf_append(&feed->waiting, bytes, size))
		feed->is_cancelled = true;
	feed->written_ns = clock_monotonic_ns();
	wake(feed);
	pthread_mutex_unlock(&feed->feeds->lock);
}

void feed_event(struct feed *feed, const char *name, const char *data)
{
	struct buf event;

	buf_init(&event, SIZE_MAX);
	buf_printf(&event, "event: %s\ndata: %s\n\n", name, data);
	feed_write(feed, event.data, event.size);
	buf_fini(&event);
}

void feed_event_text(struct feed *feed, const char *name, const char *text, size_t size)
{
	char *json = NULL;
	size_t json_size;
	FILE *stream = open_memstream(&json, &json_size);
	struct json_out out;

	if (!stream)
		mem_exhausted(size);
	json_out_init(&out, stream);
	json_put_bytes(&out, NULL, text, size);
	if (fclose(stream) != 0)
		mem_exhausted(size);
	feed_event(feed, name, json);
	free(json);
}

bool feed_is_cancelled(struct feed *feed)
{
	uint64_t now_ns = clock_monotonic_ns();
	bool is_event = feed->work.kind == FEED_EVENTS;

	pthread_mutex_lock(&feed->feeds->lock);
	bool is_cancelled = feed->is_cancelled;
	bool is_due = !is_cancelled && now_ns > feed->written_ns + SIGN_OF_LIFE_NS;
	pthread_mutex_unlock(&feed->feeds->lock);
	if (is_due) /* a comment; before a JSON value, white space */
		feed_write(feed, is_event ? ": still here\n\n" : "\n", is_event ? 14 : 1);
	return is_cancelled;
}

/* --- the response, in the server's thread --- */

static ssize_t read_locked(struct feed *feed, char *buffer, size_t room)
{
	size_t size = feed->waiting.size < room ? feed->waiting.size : room;

	if (size) {
		memcpy(buffer, feed->waiting.data, size);
		feed->waiting.size -= size;
		memmove(feed->waiting.data, feed->waiting.data + size, feed->waiting.size);
		return (ssize_t)size;
	}
	if (feed->is_done || feed->is_cancelled)
		return MHD_CONTENT_READER_END_OF_STREAM;
	feed->is_suspended = true;
	mhd.suspend_connection(feed->connection);
	return 0;
}

static ssize_t read_feed(void *closure, uint64_t position, char *buffer, size_t room)
{
	struct feed *feed = closure;
	struct feeds *feeds = feed->feeds;

	pthread_mutex_lock(&feeds->lock);
	ssize_t size = read_locked(feed, buffer, room);
	pthread_mutex_unlock(&feeds->lock);
	return size;
}

static void leave(void *closure)
{
	struct feed *feed = closure;
	struct feeds *feeds = feed->feeds;

	pthread_mutex_lock(&feeds->lock);
	feed->is_cancelled = true;
	feed->is_suspended = false;
	drop_locked(feed);
	pthread_mutex_unlock(&feeds->lock);
}

static struct feed *enter(struct feeds *feeds, struct MHD_Connection *connection,
			  const struct feed_work *work)
{
	struct feed *feed = NULL;

	pthread_mutex_lock(&feeds->lock);
	if (feeds->count < FEED_MAX && !feeds->is_stopping) {
		feed = mem_zalloc(1, sizeof(*feed));
		*feed = (struct feed){.feeds = feeds, .next = feeds->first, .work = *work,
				      .connection = connection, .holders = 2,
				      .written_ns = clock_monotonic_ns()};
		buf_init(&feed->waiting, MAX_WAITING_BYTES);
		feeds->first = feed;
		feeds->count++;
	}
	pthread_mutex_unlock(&feeds->lock);
	return feed;
}

static bool start_thread(struct feed *feed)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, feed) != 0)
		return false;
	pthread_detach(thread);
	return true;
}

enum MHD_Result feed_answer(struct feeds *feeds, struct MHD_Connection *connection,
			    const struct feed_work *work)
{
	struct feed *feed = enter(feeds, connection, work);
	struct MHD_Response *response = NULL;

	if (feed && start_thread(feed)) {
		const char *type = work->kind == FEED_EVENTS ? "text/event-stream" : "application/json";

		response = mhd.create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, read_feed,
							     feed, leave);
		if (response)
			return answer_queue(connection, MHD_HTTP_OK, response, type);
		leave(feed);
		return MHD_NO;
	}
	if (feed) {
		leave(feed); /* once for the response, once for the thread that is none */
		leave(feed);
	}
	work->free(work->closure);
	return answer_sentence(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
			       "too much is being done already; wait for one of them to end");
}
