/* answer.c - make answers with the headers that each of them has. */
#include "serve/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/mhd.h"

#define POLICY                                                                              \
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "   \
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

static const char *const common_headers[][2] = {
	{"Content-Security-Policy", POLICY},
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "no-referrer"}, /* the address holds the token */
	{"Cache-Control", "no-store"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Vary", "Accept-Encoding"},
};

enum MHD_Result answer_queue(struct MHD_Connection *connection, unsigned status,
			     struct MHD_Response *response, const char *type)
{
	if (!response)
		return MHD_NO;
	for (size_t i = 0; i < sizeof(common_headers) / sizeof(common_headers[0]); i++)
		mhd.add_response_header(response, common_headers[i][0], common_headers[i][1]);
	mhd.add_response_header(response, "Content-Type", type);
	enum MHD_Result result = mhd.queue_response(connection, status, response);
	mhd.destroy_response(response);
	return result;
}

static struct MHD_Response *copy_text(const char *text)
{
	return mhd.create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY);
}

enum MHD_Result answer_sentence(struct MHD_Connection *connection, unsigned status,
				const char *sentence)
{
	return answer_queue(connection, status, copy_text(sentence), "text/plain; charset=utf-8");
}

/* libmicrohttpd 0.9.75 frees a buffer through a function that gets the buffer;
 * a callback gets what we want it to. */
static ssize_t read_blob(void *closure, uint64_t position, char *buffer, size_t room)
{
	const struct blob *blob = closure;
	size_t left = position < blob->size ? blob->size - (size_t)position : 0;
	size_t size = left < room ? left : room;

	if (size == 0)
		return MHD_CONTENT_READER_END_OF_STREAM;
	memcpy(buffer, blob->data + position, size);
	return (ssize_t)size;
}

static void drop_blob(void *closure)
{
	blob_drop(closure);
}

enum MHD_Result answer_blob(struct MHD_Connection *connection, struct blob *blob,
			    const char *type, const char *encoding, const char *file_name)
{
	struct MHD_Response *response = mhd.create_response_from_callback(
		blob->size, (size_t)64 << 10, read_blob, blob_hold(blob), drop_blob);
	char disposition[128];

	if (!response) {
		blob_drop(blob);
		return MHD_NO;
	}
	if (encoding)
		mhd.add_response_header(response, "Content-Encoding", encoding);
	if (file_name) {
		snprintf(disposition, sizeof(disposition), "attachment; filename=\"%s\"", file_name);
		mhd.add_response_header(response, "Content-Disposition", disposition);
	}
	return answer_queue(connection, MHD_HTTP_OK, response, type);
}

enum MHD_Result answer_asset(struct MHD_Connection *connection, const struct asset *asset,
			     bool accepts_gzip)
{
	size_t size = (size_t)(asset->gzip_end - asset->gzip);

	if (!accepts_gzip) {
		char *bytes = asset_expand(asset, &size);

		return answer_queue(connection, MHD_HTTP_OK,
				    mhd.create_response_from_buffer(size, bytes,
								    MHD_RESPMEM_MUST_FREE),
				    asset->type);
	}
	struct MHD_Response *response = mhd.create_response_from_buffer(
		size, (void *)asset->gzip, MHD_RESPMEM_PERSISTENT);
	if (response)
		mhd.add_response_header(response, "Content-Encoding", "gzip");
	return answer_queue(connection, MHD_HTTP_OK, response, asset->type);
}

enum MHD_Result answer_wrong_method(struct MHD_Connection *connection, const char *methods)
{
	struct MHD_Response *response = copy_text("this method is not for this address");

	if (response)
		mhd.add_response_header(response, "Allow", methods);
	return answer_queue(connection, MHD_HTTP_METHOD_NOT_ALLOWED, response,
			    "text/plain; charset=utf-8");
}

enum MHD_Result answer_elsewhere(struct MHD_Connection *connection, const char *path)
{
	struct MHD_Response *response = copy_text("");

	if (response)
		mhd.add_response_header(response, "Location", path);
	return answer_queue(connection, MHD_HTTP_SEE_OTHER, response,
			    "text/plain; charset=utf-8");
}
