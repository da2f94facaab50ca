/* server.h - the page's server, inside the heatline process.
 *
 * It listens on 127.0.0.1 only, and answers only who knows the token (token.h)
 * and asks from the page itself or from no page (request.h).  Everything is
 * limited: connections, the sizes of head and body, the time that a request or
 * its answer may take.
 *
 * Life cycle: fill a store, server_start, server_tick about once a second from
 * one thread, server_stop.  The server has a thread of its own, which takes no
 * signals if the caller has blocked them before the start. */
#ifndef HEATLINE_SERVE_SERVER_H
#define HEATLINE_SERVE_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "serve/store.h"

#define SERVER_PORT 11235u

struct server;

struct server_options {
	uint16_t port;      /* 0: SERVER_PORT, or the next free one */
	bool is_any_port;   /* instead: whichever the system gives */
	bool is_live;       /* profiles will be published */
	const char *editor; /* borrowed; the command for lines, or NULL (editor.h) */
};

/* The running server, or NULL and the reason in err.  The store is borrowed. */
struct server *server_start(struct store *store, const struct server_options *options,
			    struct err *err);

/* http://127.0.0.1:PORT/TOKEN/ */
const char *server_address(const struct server *server);

/* An address that leads to that one, once.  It is for the command that opens the
 * browser, whose words every user of the machine can read. */
const char *server_ticket_address(const struct server *server);
uint16_t server_port(const struct server *server);

/* Ends connections that have taken too long; shows watchers that we live. */
void server_tick(struct server *server);

/* Whether anybody has looked lately: else nothing need be published. */
bool server_is_watched(struct server *server);

/* Live: the newest profile (number 0 of the store), allocated text that is taken over. */
void server_publish(struct server *server, char *text, size_t size);

/* Tells watchers that the run has ended, and waits a moment until they know. */
void server_end_live(struct server *server);

void server_stop(struct server *server); /* accepts NULL */

#endif
