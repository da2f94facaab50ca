/* stream_shapes.c - where each provider's messages have the text, and how they end. */
#include <string.h>

#include "base/text.h"
#include "suggest/stream.h"

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void put_text(struct stream *stream, const json_t *text)
{
	if (json_is_string(text) && json_string_length(text))
		stream->on_text(stream->closure, json_string_value(text), json_string_length(text));
}

static void put_refusal(struct stream *stream, const char *text)
{
	stream->is_refused = true;
	if (text)
		buf_text(&stream->refusal, text);
}

/* "error": a text, or an object with a message. */
static bool take_error(struct stream *stream, const json_t *error)
{
	const char *text = json_is_object(error) ? text_of(error, "message")
						 : json_string_value(error);

	if (!error || json_is_null(error))
		return false;
	err_set(&stream->error, ERR_IO, "the provider broke off: %.300s",
		text ? text : "no reason given");
	return true;
}

/* How the answer ended, by the provider's word for it. */
static void take_end(struct stream *stream, const char *reason)
{
	static const char *const cut[] = {"length", "max_tokens", "MAX_TOKENS", "max_output_tokens",
					  "model_context_window_exceeded", NULL};
	static const char *const refused[] = {
		"content_filter", "refusal", "guardrail_intervened", "content_filtered", "SAFETY",
		"RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", NULL};

	if (!reason)
		return;
	stream->is_complete = true;
	for (const char *const *word = cut; *word; word++)
		stream->is_cut |= strcmp(reason, *word) == 0;
	for (const char *const *word = refused; *word; word++) {
		if (strcmp(reason, *word) == 0)
			put_refusal(stream, NULL);
	}
}

static void take_responses(struct stream *stream, const json_t *message)
{
	const char *type = text_of(message, "type");
	const json_t *response = json_object_get(message, "response");

	if (!type)
		return;
	if (strcmp(type, "response.output_text.delta") == 0)
		put_text(stream, json_object_get(message, "delta"));
	else if (strcmp(type, "response.refusal.delta") == 0)
		put_refusal(stream, text_of(message, "delta"));
	else if (strcmp(type, "response.completed") == 0)
		stream->is_complete = true;
	else if (strcmp(type, "response.incomplete") == 0)
		take_end(stream, text_of(json_object_get(response, "incomplete_details"), "reason"));
	else if (strcmp(type, "response.failed") == 0)
		take_error(stream, json_object_get(response, "error"));
	else if (strcmp(type, "error") == 0 &&
		 !take_error(stream, json_object_get(message, "error")))
		take_error(stream, message);
}

static void take_chat(struct stream *stream, const json_t *message)
{
	const json_t *choice = json_array_get(json_object_get(message, "choices"), 0);
	const json_t *delta = json_object_get(choice, "delta");
	const char *refusal;

	if (take_error(stream, json_object_get(message, "error")))
		return;
	if (!delta) /* it does not stream */
		delta = json_object_get(choice, "message");
	put_text(stream, json_object_get(delta, "content"));
	refusal = text_of(delta, "refusal");
	if (refusal)
		put_refusal(stream, refusal);
	take_end(stream, text_of(choice, "finish_reason"));
}

static void take_anthropic(struct stream *stream, const json_t *message)
{
	const char *type = text_of(message, "type");
	const json_t *delta = json_object_get(message, "delta");

	if (!type)
		return;
	if (strcmp(type, "content_block_delta") == 0 &&
	    text_equal(text_of(delta, "type"), "text_delta"))
		put_text(stream, json_object_get(delta, "text"));
	else if (strcmp(type, "message_delta") == 0)
		take_end(stream, text_of(delta, "stop_reason"));
	else if (strcmp(type, "message_stop") == 0)
		stream->is_complete = true;
	else if (strcmp(type, "error") == 0)
		take_error(stream, json_object_get(message, "error"));
}

static void take_converse(struct stream *stream, const char *event, const json_t *message)
{
	if (strcmp(event, "contentBlockDelta") == 0)
		put_text(stream, json_object_get(json_object_get(message, "delta"), "text"));
	else if (strcmp(event, "messageStop") == 0)
		take_end(stream, text_of(message, "stopReason"));
	else if (strstr(event, "xception"))
		take_error(stream, message);
}

static void take_gemini(struct stream *stream, const json_t *message)
{
	const json_t *candidate = json_array_get(json_object_get(message, "candidates"), 0);
	const json_t *parts = json_object_get(json_object_get(candidate, "content"), "parts");
	const char *blocked = text_of(json_object_get(message, "promptFeedback"), "blockReason");
	const json_t *part;
	size_t i;

	if (take_error(stream, json_object_get(message, "error")))
		return;
	json_array_foreach(parts, i, part) {
		if (!json_is_true(json_object_get(part, "thought")))
			put_text(stream, json_object_get(part, "text"));
	}
	if (blocked)
		put_refusal(stream, blocked);
	take_end(stream, text_of(candidate, "finishReason"));
}

static void take_ollama(struct stream *stream, const json_t *message)
{
	if (take_error(stream, json_object_get(message, "error")))
		return;
	put_text(stream, json_object_get(json_object_get(message, "message"), "content"));
	if (json_is_true(json_object_get(message, "done"))) {
		stream->is_complete = true;
		take_end(stream, text_of(message, "done_reason"));
	}
}

void stream_take_message(struct stream *stream, const char *event, const json_t *message)
{
	switch (stream->shape) {
	case STREAM_RESPONSES:
		take_responses(stream, message);
		break;
	case STREAM_CHAT:
		take_chat(stream, message);
		break;
	case STREAM_ANTHROPIC:
		take_anthropic(stream, message);
		break;
	case STREAM_CONVERSE:
		take_converse(stream, event, message);
		break;
	case STREAM_GEMINI:
		take_gemini(stream, message);
		break;
	case STREAM_OLLAMA:
		take_ollama(stream, message);
		break;
	}
}
