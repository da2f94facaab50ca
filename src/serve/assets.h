/* assets.h - the page, built from gui/ and embedded in the executable.
 *
 * The parts are "index.html", "app.js", "app.css" and "standalone.html"
 * (embed.py says what that is), each gzipped.  Where node and npm were missing
 * when heatline was built there are none. */
#ifndef HEATLINE_SERVE_ASSETS_H
#define HEATLINE_SERVE_ASSETS_H

#include <stddef.h>

#include "base/err.h"

struct asset {
	const char *name;
	const char *type;         /* Content-Type */
	const unsigned char *gzip, *gzip_end; /* static */
};

/* 0, or negative with the sentence that says why this heatline has no page and
 * what to do. */
int assets_check(struct err *err);

/* The part of this name, or NULL. */
const struct asset *asset_find(const char *name);

/* Its bytes, not gzipped and terminated by a zero; the caller frees.  Never NULL
 * for a part that was found. */
char *asset_expand(const struct asset *asset, size_t *size);

#endif
