/* answer.h - answers, all with the same strict headers.
 *
 * Every function queues one answer on the connection and returns what the
 * handler of libmicrohttpd returns.  For HEAD the library leaves the body out. */
#ifndef HEATLINE_SERVE_ANSWER_H
#define HEATLINE_SERVE_ANSWER_H

#include <microhttpd.h>
#include <stdbool.h>

#include "serve/assets.h"
#include "serve/blob.h"

/* A status with one sentence as plain text; copied. */
enum MHD_Result answer_sentence(struct MHD_Connection *connection, unsigned status,
				const char *sentence);

/* 200 with bytes, which are held until they are sent.  encoding: "gzip" or NULL;
 * file_name: to be saved under this name, or NULL. */
enum MHD_Result answer_blob(struct MHD_Connection *connection, struct blob *blob,
			    const char *type, const char *encoding, const char *file_name);

/* 200 with a part of the page. */
enum MHD_Result answer_asset(struct MHD_Connection *connection, const struct asset *asset,
			     bool accepts_gzip);

/* 405, naming the methods that there are. */
enum MHD_Result answer_wrong_method(struct MHD_Connection *connection, const char *methods);

/* 303: the page is at this path. */
enum MHD_Result answer_elsewhere(struct MHD_Connection *connection, const char *path);

/* Adds the common headers and queues any response, which is given up. */
enum MHD_Result answer_queue(struct MHD_Connection *connection, unsigned status,
			     struct MHD_Response *response, const char *type);

#endif
