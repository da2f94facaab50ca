/* sigv4.h - requests signed as Amazon Web Services want it (Signature Version 4).
 *
 * Signed are the method, the path, the query, the body and the headers host,
 * x-amz-date, content-type (where there is a body) and x-amz-security-token (where
 * there is one).  As for every service but S3, the path is encoded once more than it
 * is sent: "%3A" is signed as "%253A". */
#ifndef HEATLINE_SUGGEST_SIGV4_H
#define HEATLINE_SUGGEST_SIGV4_H

#include <stddef.h>
#include <time.h>

#include "base/buf.h"

#define SIGV4_TYPE "application/json"

struct sigv4_keys {
	const char *access, *secret;
	const char *session; /* NULL: none */
};

struct sigv4_request {
	const char *method;
	const char *host;  /* as the Host header has it, with a port that is not the usual */
	const char *path;  /* as it is sent */
	const char *query; /* as it is sent, its names in order; "" for none */
	const char *body;  /* NULL: none, and no content-type */
	size_t body_size;
	const char *region, *service;
	time_t when;
};

/* "20260131T235959Z". */
#define SIGV4_DATE_BYTES 17
void sigv4_date(time_t when, char date[SIGV4_DATE_BYTES]);

/* Appends the value of the Authorization header. */
void sigv4_sign(const struct sigv4_request *request, const struct sigv4_keys *keys,
		struct buf *authorization);

#endif
