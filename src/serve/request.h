/* request.h - who may ask: what a request's headers must say.
 *
 * Two kinds of web pages must be kept out, although they run in the user's own
 * browser and can reach the loopback address: one whose host name has been
 * turned to 127.0.0.1 (DNS rebinding), which shows in the Host header; and one
 * that sends requests across origins, which shows in Origin and
 * Sec-Fetch-Site.  The port in Host may be any, because a forwarded port
 * (ssh -L) may have another number on the user's side.
 *
 * Pure: headers come in as text, NULL when they are not there. */
#ifndef HEATLINE_SERVE_REQUEST_H
#define HEATLINE_SERVE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

struct request_headers {
	const char *host;
	const char *origin;
	const char *fetch_site;      /* Sec-Fetch-Site */
	const char *fetch_mode;      /* Sec-Fetch-Mode */
	const char *content_type;
	const char *content_length;
	const char *accept_encoding;
};

/* Whether Host names the loopback address: 127.0.0.1, localhost or [::1], with
 * or without a port. */
bool request_is_for_loopback(const struct request_headers *headers);

/* Whether the request comes from the page itself or from no page.  is_page: it
 * is the page that is asked for, which a link elsewhere may lead to. */
bool request_is_same_origin(const struct request_headers *headers, bool is_page);

/* Whether a request that does something is one that only our page can have
 * sent: JSON, which no form sends, with the page's own Origin. */
bool request_may_act(const struct request_headers *headers);

/* How long the body is said to be; 0 when nothing is said. */
uint64_t request_body_bytes(const struct request_headers *headers);

/* A value of the query with its %XX decoded; the caller frees.  NULL when a % is
 * not followed by two digits, or stands for a zero. */
char *request_decode(const char *value);

/* Whether the answer may be gzipped. */
bool request_accepts_gzip(const struct request_headers *headers);

#endif
