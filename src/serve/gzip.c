/* gzip.c - gzip in memory, by zlib. */
#include "serve/gzip.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/mem.h"

#define GZIP_WINDOW (MAX_WBITS + 16) /* zlib's way to ask for gzip's header */
#define FAST 1

char *gzip_compress(const char *bytes, size_t size, size_t *gzip_size)
{
	z_stream stream = {.next_in = (Bytef *)bytes, .avail_in = (uInt)size};

	if (size > UINT_MAX / 2 ||
	    deflateInit2(&stream, FAST, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	uLong room = deflateBound(&stream, (uLong)size);
	char *gzip = mem_alloc(room);
	stream.next_out = (Bytef *)gzip;
	stream.avail_out = (uInt)room;
	int status = deflate(&stream, Z_FINISH);
	deflateEnd(&stream);
	if (status != Z_STREAM_END) {
		free(gzip);
		return NULL;
	}
	*gzip_size = stream.total_out;
	return gzip;
}

char *gzip_expand(const void *gzip, size_t gzip_size, size_t maximum, size_t *size)
{
	z_stream stream = {.next_in = (Bytef *)gzip, .avail_in = (uInt)gzip_size};
	size_t room = gzip_size * 4 < maximum ? gzip_size * 4 : maximum;
	int status = Z_OK;

	if (gzip_size > UINT_MAX / 2 || maximum > UINT_MAX / 2 ||
	    inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
		return NULL;
	char *bytes = mem_alloc(room + 1);
	while (status == Z_OK) {
		stream.next_out = (Bytef *)bytes + stream.total_out;
		stream.avail_out = (uInt)(room - stream.total_out);
		status = inflate(&stream, Z_NO_FLUSH);
		if (status == Z_OK && stream.avail_out == 0) {
			if (room == maximum)
				break;
			room = room < maximum / 2 ? room * 2 : maximum;
			bytes = mem_resize(bytes, room + 1, 1);
		}
	}
	inflateEnd(&stream);
	if (status != Z_STREAM_END) {
		free(bytes);
		return NULL;
	}
	*size = stream.total_out;
	bytes[*size] = '\0';
	return bytes;
}
