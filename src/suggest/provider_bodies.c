/* provider_bodies.c - what is sent, in each provider's form.
 *
 * No temperature: several models refuse it. */
#include <stdio.h>
#include <stdlib.h>

#include "base/json_out.h"
#include "base/mem.h"
#include "suggest/provider_parts.h"

struct body {
	struct json_out out;
	FILE *stream;
	char *text;
	size_t size;
};

static void begin(struct body *body)
{
	body->text = NULL;
	body->stream = open_memstream(&body->text, &body->size);
	if (!body->stream)
		mem_exhausted(0);
	json_out_init(&body->out, body->stream);
	json_begin_object(&body->out, NULL);
}

static void end(struct body *body, struct buf *to)
{
	json_end_object(&body->out);
	if (fclose(body->stream) != 0)
		mem_exhausted(body->size);
	buf_append(to, body->text, body->size);
	free(body->text);
}

/* {"role": "user", "content": text} */
static void put_message(struct json_out *out, const char *role, const char *content)
{
	json_begin_object(out, NULL);
	json_put_text(out, "role", role);
	json_put_text(out, "content", content);
	json_end_object(out);
}

/* What OpenAI's chat and Ollama's have in common. */
static void put_chat(struct json_out *out, const struct provider_question *question)
{
	json_put_text(out, "model", question->model);
	json_begin_array(out, "messages");
	put_message(out, "system", question->system);
	put_message(out, "user", question->prompt);
	json_end_array(out);
	json_put_bool(out, "stream", true);
}

/* "key": [{"text": text}] */
static void put_parts(struct json_out *out, const char *key, const char *text)
{
	json_begin_array(out, key);
	json_begin_object(out, NULL);
	json_put_text(out, "text", text);
	json_end_object(out);
	json_end_array(out);
}

void body_responses(struct buf *to, const struct provider_question *question)
{
	struct body body;

	begin(&body);
	json_put_text(&body.out, "model", question->model);
	json_put_text(&body.out, "instructions", question->system);
	json_put_text(&body.out, "input", question->prompt);
	json_put_bool(&body.out, "store", false);
	json_put_bool(&body.out, "stream", true);
	end(&body, to);
}

void body_chat(struct buf *to, const struct provider_question *question)
{
	struct body body;

	begin(&body);
	put_chat(&body.out, question);
	end(&body, to);
}

void body_anthropic(struct buf *to, const struct provider_question *question)
{
	struct body body;

	begin(&body);
	json_put_text(&body.out, "model", question->model);
	json_put_integer(&body.out, "max_tokens", PROVIDER_MAX_TOKENS);
	json_put_text(&body.out, "system", question->system);
	json_begin_array(&body.out, "messages");
	put_message(&body.out, "user", question->prompt);
	json_end_array(&body.out);
	json_put_bool(&body.out, "stream", true);
	end(&body, to);
}

void body_converse(struct buf *to, const struct provider_question *question)
{
	struct body body;

	begin(&body);
	put_parts(&body.out, "system", question->system);
	json_begin_array(&body.out, "messages");
	json_begin_object(&body.out, NULL);
	json_put_text(&body.out, "role", "user");
	put_parts(&body.out, "content", question->prompt);
	json_end_object(&body.out);
	json_end_array(&body.out);
	end(&body, to);
}

void body_gemini(struct buf *to, const struct provider_question *question)
{
	struct body body;

	begin(&body);
	json_begin_object(&body.out, "systemInstruction");
	put_parts(&body.out, "parts", question->system);
	json_end_object(&body.out);
	json_begin_array(&body.out, "contents");
	json_begin_object(&body.out, NULL);
	json_put_text(&body.out, "role", "user");
	put_parts(&body.out, "parts", question->prompt);
	json_end_object(&body.out);
	json_end_array(&body.out);
	end(&body, to);
}

void body_ollama(struct buf *to, const struct provider_question *question)
{
	struct body body;

	begin(&body);
	put_chat(&body.out, question);
	/* Its default context is smaller than a prompt. */
	json_begin_object(&body.out, "options");
	json_put_integer(&body.out, "num_ctx", 16384);
	json_end_object(&body.out);
	end(&body, to);
}
