/* http.h - requests to other machines, through libcurl opened at run time.
 *
 * Heatline does not need libcurl: without it everything but asking a model works,
 * and http_open says what to install.  The numbers of libcurl's options are part of
 * its binary interface, so its headers are not needed to build Heatline.
 *
 * Certificates are always checked.  Plain http goes to this machine only, so no key
 * and no source ever crosses a network in the clear.  Redirects are not followed. */
#ifndef HEATLINE_SUGGEST_HTTP_H
#define HEATLINE_SUGGEST_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct http_request {
	const char *url;
	char **headers;        /* "Name: value"; header_count of them */
	uint32_t header_count;
	const char *body;      /* NULL: GET, else POST */
	size_t body_size;
	long silence_s;        /* this long without a byte is a time-out */
	size_t max_bytes;      /* of the answer's body */
	/* Gets the body of an answer of status 200; false stops the transfer.  NULL:
	 * it is kept in the answer. */
	bool (*take)(void *closure, const char *bytes, size_t size);
	/* Asked about once a second and at each piece; true stops the transfer.  NULL: no. */
	bool (*is_cancelled)(void *closure);
	void *closure;
};

struct http_answer {
	long status;
	double retry_after_s; /* negative: not said */
	bool is_json;         /* Content-Type: application/json */
	bool is_cancelled;    /* is_cancelled said so */
	bool is_stopped;      /* take said so */
	bool is_too_long;     /* more than max_bytes came; the rest was not read */
	struct buf body;      /* what take did not get */
};

/* Opens the library; again does nothing.  Negative with the sentence in err. */
int http_open(struct err *err);

/* Sends it and waits for the end of the answer.  0 when there was an answer of any
 * status, or is_cancelled, is_stopped or is_too_long is set; else negative: it could not
 * be reached, was silent for too long, broke off.  http_answer_fini in any case. */
int http_send(const struct http_request *request, struct http_answer *answer, struct err *err);
void http_answer_fini(struct http_answer *answer);

#endif
