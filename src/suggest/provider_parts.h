/* provider_parts.h - what the files of the providers share; inner part of provider.h. */
#ifndef HEATLINE_SUGGEST_PROVIDER_PARTS_H
#define HEATLINE_SUGGEST_PROVIDER_PARTS_H

#include "suggest/provider.h"

#define PROVIDER_MAX_TOKENS 16000 /* of an answer, where a number must be given */

/* Adds a header; the format makes "Name: value". */
void call_header(struct provider_call *call, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* "base/rest", with one slash between. */
void call_url(struct provider_call *call, const char *base, const char *rest);

/* Appends text with everything but letters, digits and "-_.~" as %XX. */
void call_encode(struct buf *out, const char *text);

/* The bodies (provider_bodies.c). */
void body_responses(struct buf *body, const struct provider_question *question);
void body_chat(struct buf *body, const struct provider_question *question);
void body_anthropic(struct buf *body, const struct provider_question *question);
void body_converse(struct buf *body, const struct provider_question *question);
void body_gemini(struct buf *body, const struct provider_question *question);
void body_ollama(struct buf *body, const struct provider_question *question);

/* Amazon Bedrock (provider_bedrock.c). */
bool bedrock_is_ready(const struct settings *settings);
int bedrock_ask(struct provider_call *call, const struct settings *settings,
		const struct provider_question *question, struct err *err);
bool bedrock_list(struct provider_call *call, const struct settings *settings, unsigned which);

#endif
