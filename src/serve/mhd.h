/* mhd.h - libmicrohttpd, opened when a page is served.
 *
 * It brings nine libraries with it (GnuTLS and what that needs), whose start
 * took 3 ms of every heatline command, `run` too, when it was linked.
 *
 *	if (mhd_open(err) == 0)
 *		mhd.queue_response(connection, status, response); */
#ifndef HEATLINE_SERVE_MHD_H
#define HEATLINE_SERVE_MHD_H

#include <microhttpd.h>

#include "base/err.h"

/* X(name): what is used of it, without MHD_. */
#define MHD_LIST(X)                     \
	X(start_daemon)                 \
	X(stop_daemon)                  \
	X(get_connection_info)          \
	X(lookup_connection_value)      \
	X(suspend_connection)           \
	X(resume_connection)            \
	X(create_response_from_buffer)  \
	X(create_response_from_callback) \
	X(add_response_header)          \
	X(queue_response)               \
	X(destroy_response)

struct mhd {
#define X(name) __typeof__(&MHD_##name) name;
	MHD_LIST(X)
#undef X
};

/* Filled by mhd_open. */
extern struct mhd mhd;

/* Opens the library; again does nothing.  Negative, with the sentence in err,
 * when it is not installed. */
int mhd_open(struct err *err);

#endif
