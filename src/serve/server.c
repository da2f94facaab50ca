/* server.c - libmicrohttpd with limits.
 *
 * The library times out connections on which nothing moves.  A client that
 * sends one byte every few seconds would hold its connection for ever, so each
 * has a deadline as well: server_tick shuts its socket, and the library's
 * thread then finds it closed.  The list of connections is locked, and a
 * connection leaves it before its socket is closed, so that no other file can
 * have taken over its number. */
#include "serve/server.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/units.h"
#include "serve/answer.h"
#include "serve/api.h"
#include "serve/listen.h"
#include "serve/mhd.h"
#include "serve/suggest_api.h"

#define MAX_CONNECTIONS 64u
#define MAX_HEAD_BYTES 32768u /* of memory for one connection; a head may take about half */
#define IDLE_S 20u            /* nothing moves */
#define REQUEST_S 10u         /* from the first byte to the last, or between two requests … */
#define HURRIED_S 2u          /* … while most connections are taken */
#define ANSWER_S 120u
#define PING_S 15u
#define WATCHED_S 5u          /* who asked so lately still looks */
#define END_STEPS 40          /* of 50 ms, for the watchers to hear of the end */

/* One connection. */
struct link {
	struct link *previous, *next;
	int fd;
	uint64_t since_ns; /* when the request, or the answer, began */
	bool is_answering;
	bool is_stream; /* a watcher's: no deadline */
};

struct server {
	struct MHD_Daemon *daemon;
	struct token token;
	struct token ticket; /* leads to the page, once */
	atomic_bool is_ticket_used;
	struct api api;
	struct live *live; /* owned; NULL: nothing is running */
	struct feeds *feeds; /* owned */
	uint16_t port;
	char address[80], ticket_address[80];
	_Atomic uint64_t asked_ns; /* when the last good request came */
	uint64_t pinged_ns;
	pthread_mutex_t lock; /* guards the links */
	struct link *links;
	unsigned link_count;
};

/* One request, from its head to its answer. */
struct exchange {
	struct route route;
	struct buf body;
};

/* --- connections and their deadlines --- */

static void add_link(struct server *server, struct link *link)
{
	pthread_mutex_lock(&server->lock);
	link->next = server->links;
	if (link->next)
		link->next->previous = link;
	server->links = link;
	server->link_count++;
	pthread_mutex_unlock(&server->lock);
}

static void remove_link(struct server *server, struct link *link)
{
	pthread_mutex_lock(&server->lock);
	if (link->previous)
		link->previous->next = link->next;
	else
		server->links = link->next;
	if (link->next)
		link->next->previous = link->previous;
	server->link_count--;
	pthread_mutex_unlock(&server->lock);
}

static void notice_connection(void *closure, struct MHD_Connection *connection,
			      void **socket_context, enum MHD_ConnectionNotificationCode code)
{
	struct server *server = closure;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *info =
			mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		struct link *link = mem_zalloc(1, sizeof(*link));

		link->fd = info ? info->connect_fd : -1;
		link->since_ns = clock_monotonic_ns();
		*socket_context = link;
		add_link(server, link);
	} else if (*socket_context) {
		remove_link(server, *socket_context);
		free(*socket_context);
		*socket_context = NULL;
	}
}

static void mark_link(struct server *server, struct MHD_Connection *connection, bool is_answering,
		      bool is_stream)
{
	const union MHD_ConnectionInfo *info =
		mhd.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct link *link = info ? info->socket_context : NULL;

	if (!link)
		return;
	pthread_mutex_lock(&server->lock);
	link->since_ns = clock_monotonic_ns();
	link->is_answering = is_answering;
	link->is_stream = is_stream;
	pthread_mutex_unlock(&server->lock);
}

static void end_late_links(struct server *server, uint64_t now_ns)
{
	pthread_mutex_lock(&server->lock);
	uint64_t request_s = server->link_count > MAX_CONNECTIONS / 2 ? HURRIED_S : REQUEST_S;
	for (struct link *link = server->links; link; link = link->next) {
		uint64_t limit_s = link->is_answering ? ANSWER_S : request_s;

		if (!link->is_stream && link->fd >= 0 &&
		    now_ns > link->since_ns + limit_s * SECOND_NS)
			shutdown(link->fd, SHUT_RDWR);
	}
	pthread_mutex_unlock(&server->lock);
}

/* --- requests --- */

static struct request_headers read_headers(struct MHD_Connection *connection)
{
#define HEADER(name) mhd.lookup_connection_value(connection, MHD_HEADER_KIND, name)
	return (struct request_headers){
		.host = HEADER("Host"),
		.origin = HEADER("Origin"),
		.fetch_site = HEADER("Sec-Fetch-Site"),
		.fetch_mode = HEADER("Sec-Fetch-Mode"),
		.content_type = HEADER("Content-Type"),
		.content_length = HEADER("Content-Length"),
		.accept_encoding = HEADER("Accept-Encoding"),
	};
#undef HEADER
}

/* What the path asks for.  The ticket is spent by the first who shows it. */
static struct route find_route(struct server *server, const char *path, const char *method)
{
	struct route route = route_parse(path, &server->token);

	if (route.kind == ROUTE_NONE &&
	    route_parse(path, &server->ticket).kind == ROUTE_TO_PAGE &&
	    strcmp(method, "GET") == 0 && !atomic_exchange(&server->is_ticket_used, true))
		route.kind = ROUTE_TO_PAGE;
	return route;
}

static bool is_reading(const char *method)
{
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

static size_t max_body_bytes(const struct route *route)
{
	if (!route_is_action(route))
		return 0;
	return route->kind == ROUTE_OPEN ? API_MAX_BODY_BYTES : SUGGEST_MAX_BODY_BYTES;
}

/* Answers what must not go on; false when the request may.  Whoever does not
 * know the token learns nothing but that. */
static bool refuse(struct MHD_Connection *connection, const struct request_headers *headers,
		   const struct route *route, const char *method, enum MHD_Result *result)
{
	bool is_page = route->kind == ROUTE_ASSET || route->kind == ROUTE_TO_PAGE;
	bool is_action = route_is_action(route);

	if (!request_is_for_loopback(headers))
		*result = answer_sentence(connection, MHD_HTTP_MISDIRECTED_REQUEST,
					  "this server answers for 127.0.0.1 and localhost only");
	else if (route->kind == ROUTE_NONE)
		*result = answer_sentence(connection, MHD_HTTP_NOT_FOUND, "there is nothing here");
	else if (!request_is_same_origin(headers, is_page))
		*result = answer_sentence(connection, MHD_HTTP_FORBIDDEN,
					  "another page may not ask this");
	else if (is_action ? strcmp(method, "POST") != 0 : !is_reading(method))
		*result = answer_wrong_method(connection, is_action ? "POST" : "GET, HEAD");
	else if (is_action && !request_may_act(headers))
		*result = answer_sentence(connection, MHD_HTTP_FORBIDDEN,
					  "only the page itself may ask this, with JSON");
	else if (request_body_bytes(headers) > max_body_bytes(route))
		*result = answer_sentence(connection, MHD_HTTP_CONTENT_TOO_LARGE,
					  "the body is too large");
	else
		return false;
	return true;
}

static enum MHD_Result answer(struct server *server, struct MHD_Connection *connection,
			      const struct request_headers *headers, struct exchange *exchange)
{
	const struct route *route = &exchange->route;
	char page[TOKEN_LETTERS + 3];

	mark_link(server, connection, true, route_is_stream(route));
	if (route->kind == ROUTE_OPEN)
		return api_answer_open(&server->api, connection, exchange->body.data,
				       exchange->body.size);
	if (route->kind == ROUTE_TO_PAGE) {
		snprintf(page, sizeof(page), "/%s/", server->token.text);
		return answer_elsewhere(connection, page);
	}
	if (route->kind >= ROUTE_PROVIDERS)
		return suggest_answer(server->api.store, server->feeds, connection, route,
				      exchange->body.data, exchange->body.size);
	return api_answer(&server->api, connection, route, headers);
}

/* The head is there: refuse, or go on to the body. */
static enum MHD_Result begin(struct server *server, struct MHD_Connection *connection,
			     const char *path, const char *method, void **state)
{
	struct request_headers headers = read_headers(connection);
	struct route route = {.kind = ROUTE_NONE};
	enum MHD_Result result;

	if (request_is_for_loopback(&headers))
		route = find_route(server, path, method);
	if (refuse(connection, &headers, &route, method, &result)) {
		mark_link(server, connection, true, false);
		return result;
	}
	atomic_store(&server->asked_ns, clock_monotonic_ns());
	struct exchange *exchange = mem_zalloc(1, sizeof(*exchange));
	exchange->route = route;
	buf_init(&exchange->body, max_body_bytes(&route));
	*state = exchange;
	return MHD_YES;
}

static enum MHD_Result handle(void *closure, struct MHD_Connection *connection, const char *path,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **state)
{
	struct server *server = closure;
	struct exchange *exchange = *state;

	if (!exchange)
		return begin(server, connection, path, method, state);
	if (*upload_size) {
		/* No answer can be given before the body has ended: hang up. */
		if (!buf_append(&exchange->body, upload, *upload_size))
			return MHD_NO;
		*upload_size = 0;
		return MHD_YES;
	}
	struct request_headers headers = read_headers(connection);
	return answer(server, connection, &headers, exchange);
}

static void finish(void *closure, struct MHD_Connection *connection, void **state,
		   enum MHD_RequestTerminationCode code)
{
	struct exchange *exchange = *state;

	mark_link(closure, connection, false, false);
	if (exchange)
		buf_fini(&exchange->body);
	free(exchange);
	*state = NULL;
}

/* Paths are compared as they were sent. */
static size_t keep_escapes(void *closure, struct MHD_Connection *connection, char *text)
{
	return strlen(text);
}

/* What the library would print about a client's mistakes is for nobody. */
static void log_nothing(void *closure, const char *format, va_list arguments)
{
}

/* --- life --- */

static struct MHD_Daemon *start_daemon(struct server *server, int listener)
{
	return mhd.start_daemon(
		MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0,
		NULL, NULL, handle, server,
		MHD_OPTION_EXTERNAL_LOGGER, log_nothing, NULL,
		MHD_OPTION_LISTEN_SOCKET, listener,
		MHD_OPTION_CONNECTION_LIMIT, MAX_CONNECTIONS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MAX_HEAD_BYTES,
		MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S,
		MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
		MHD_OPTION_NOTIFY_CONNECTION, notice_connection, server,
		MHD_OPTION_NOTIFY_COMPLETED, finish, server,
		MHD_OPTION_END);
}

static void free_server(struct server *server)
{
	feeds_free(server->feeds);
	live_free(server->live);
	pthread_mutex_destroy(&server->lock);
	free(server);
}

struct server *server_start(struct store *store, const struct server_options *options,
			    struct err *err)
{
	struct server *server = mem_zalloc(1, sizeof(*server));
	int listener = -1;

	pthread_mutex_init(&server->lock, NULL);
	server->live = options->is_live ? live_new() : NULL;
	server->feeds = feeds_new();
	server->api = (struct api){.store = store, .live = server->live,
				   .editor = options->editor};
	if (mhd_open(err) == 0 && token_make(&server->token, err) == 0 &&
	    token_make(&server->ticket, err) == 0)
		listener = options->is_any_port ? listen_on(0, &server->port, err)
						: listen_near(options->port, SERVER_PORT,
							      &server->port, err);
	if (listener < 0)
		goto failed;
	snprintf(server->address, sizeof(server->address), "http://127.0.0.1:%u/%s/", server->port,
		 server->token.text);
	snprintf(server->ticket_address, sizeof(server->ticket_address), "http://127.0.0.1:%u/%s",
		 server->port, server->ticket.text);
	server->daemon = start_daemon(server, listener);
	if (server->daemon)
		return server;
	err_set(err, ERR_SYSTEM, "the page's server cannot be started");
	close(listener);
failed:
	free_server(server);
	return NULL;
}

const char *server_address(const struct server *server)
{
	return server->address;
}

const char *server_ticket_address(const struct server *server)
{
	return server->ticket_address;
}

uint16_t server_port(const struct server *server)
{
	return server->port;
}

void server_tick(struct server *server)
{
	uint64_t now_ns = clock_monotonic_ns();

	end_late_links(server, now_ns);
	if (server->live && now_ns > server->pinged_ns + PING_S * SECOND_NS) {
		server->pinged_ns = now_ns;
		live_ping(server->live);
	}
}

bool server_is_watched(struct server *server)
{
	uint64_t asked_ns = atomic_load(&server->asked_ns);

	return (server->live && live_watchers(server->live) > 0) ||
	       (asked_ns && clock_monotonic_ns() < asked_ns + WATCHED_S * SECOND_NS);
}

void server_publish(struct server *server, char *text, size_t size)
{
	if (server->live)
		live_publish(server->live, text, size);
	store_publish(server->api.store, 0, text, size);
}

void server_end_live(struct server *server)
{
	if (!server->live)
		return;
	live_end(server->live);
	for (int step = 0; step < END_STEPS && live_watchers(server->live) > 0; step++)
		usleep(50000);
}

void server_stop(struct server *server)
{
	if (!server)
		return;
	if (server->live)
		live_end(server->live); /* nobody may be suspended when the library stops */
	feeds_stop(server->feeds);
	mhd.stop_daemon(server->daemon);
	free_server(server);
}
