/* gzip_out.c - compress what is written into a stream, with zlib. */
#include "report/export/gzip_out.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/mem.h"

#define GZIP_WINDOW_BITS (15 + 16) /* zlib: 16 more for gzip's header */
#define CHUNK_BYTES 16384u

struct gzip_out {
	FILE *out; /* borrowed */
	z_stream stream;
	unsigned char chunk[CHUNK_BYTES];
};

struct gzip_out *gzip_out_new(FILE *out)
{
	struct gzip_out *gzip = mem_zalloc(1, sizeof(*gzip));
	gzip->out = out;
	if (deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW_BITS, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		mem_exhausted(0);
	return gzip;
}

static void deflate_all(struct gzip_out *gzip, int flush)
{
	do {
		gzip->stream.next_out = gzip->chunk;
		gzip->stream.avail_out = CHUNK_BYTES;
		deflate(&gzip->stream, flush);
		fwrite(gzip->chunk, 1, CHUNK_BYTES - gzip->stream.avail_out, gzip->out);
	} while (gzip->stream.avail_out == 0);
}

void gzip_out_put(struct gzip_out *gzip, const void *bytes, size_t size)
{
	if (size == 0)
		return;
	gzip->stream.next_in = (Bytef *)bytes; /* zlib only reads it */
	gzip->stream.avail_in = (uInt)size;
	deflate_all(gzip, Z_NO_FLUSH);
}

void gzip_out_end(struct gzip_out *gzip)
{
	deflate_all(gzip, Z_FINISH);
	deflateEnd(&gzip->stream);
	free(gzip);
}
