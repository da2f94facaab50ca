/* gzip.h - gzip in memory. */
#ifndef HEATLINE_SERVE_GZIP_H
#define HEATLINE_SERVE_GZIP_H

#include <stddef.h>

/* The bytes, gzipped fast rather than small; the caller frees.  NULL when there
 * is no memory for it. */
char *gzip_compress(const char *bytes, size_t size, size_t *gzip_size);

/* What was gzipped, terminated by a zero that *size does not count; the caller
 * frees.  NULL when it is no whole gzip or has more than maximum bytes. */
char *gzip_expand(const void *gzip, size_t gzip_size, size_t maximum, size_t *size);

#endif
