/* gzip_out.h - compress what is written, piece by piece, into a stream. */
#ifndef HEATLINE_REPORT_EXPORT_GZIP_OUT_H
#define HEATLINE_REPORT_EXPORT_GZIP_OUT_H

#include <stddef.h>
#include <stdio.h>

struct gzip_out;

/* out is borrowed; its errors are for the caller to look at. */
struct gzip_out *gzip_out_new(FILE *out);
void gzip_out_put(struct gzip_out *gzip, const void *bytes, size_t size);

/* Writes the rest and frees. */
void gzip_out_end(struct gzip_out *gzip);

#endif
