/* stream.h - a provider's answer while it arrives: bytes in, text out.
 *
 * Two layers.  The framing finds whole messages in pieces that may be cut anywhere,
 * also within a character: server-sent events, Amazon's binary event stream, or one
 * JSON object a line.  The shape says where in a message the text is, and how the
 * answer ended.  A server that answers a streaming request with one JSON object is
 * understood too.
 *
 * Everything that arrives is untrusted: sizes are bounded, checksums checked. */
#ifndef HEATLINE_SUGGEST_STREAM_H
#define HEATLINE_SUGGEST_STREAM_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

#define STREAM_MAX_MESSAGE_BYTES ((size_t)1 << 20)

enum stream_shape {
	STREAM_RESPONSES, /* OpenAI, Azure: events "response.output_text.delta" … */
	STREAM_CHAT,      /* what compatible servers speak: choices[0].delta.content */
	STREAM_ANTHROPIC,
	STREAM_CONVERSE,  /* Bedrock */
	STREAM_GEMINI,
	STREAM_OLLAMA,
};

struct stream {
	enum stream_shape shape;
	void (*on_text)(void *closure, const char *text, size_t size);
	void *closure;

	struct buf pending;  /* bytes of messages that are not whole yet */
	bool is_complete; /* the provider said that the answer has ended */
	bool is_cut;      /* … because it had reached its limit */
	bool is_refused;
	struct buf refusal;
	struct err error; /* what the provider says went wrong; code 0: nothing */
};

void stream_init(struct stream *stream, enum stream_shape shape,
		 void (*on_text)(void *closure, const char *text, size_t size), void *closure);
void stream_fini(struct stream *stream);

/* Takes the next bytes; false when the rest is of no use: error says why. */
bool stream_feed(struct stream *stream, const char *bytes, size_t size);

/* There are no more: takes what has no line end after it. */
void stream_end(struct stream *stream);

/* Inner part: what one message says (stream_shapes.c).  event is Amazon's name for
 * it, "" elsewhere. */
void stream_take_message(struct stream *stream, const char *event, const json_t *message);

#endif
