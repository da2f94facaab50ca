/* blob.h - bytes with several owners.
 *
 * An answer is sent long after the request was handled, by the server's own
 * thread, while the profile may be replaced by another thread.  Whoever sends
 * bytes holds them. */
#ifndef HEATLINE_SERVE_BLOB_H
#define HEATLINE_SERVE_BLOB_H

#include <stdatomic.h>
#include <stddef.h>

struct blob {
	char *data;  /* owned; not changed once the blob is made */
	size_t size;
	atomic_uint holders;
};

/* Takes over data, which was allocated; one holder. */
struct blob *blob_new(char *data, size_t size);

/* One holder more; returns blob. */
struct blob *blob_hold(struct blob *blob);

/* One holder less; the last one frees.  Accepts NULL. */
void blob_drop(struct blob *blob);

#endif
