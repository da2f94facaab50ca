/* ask.c - send, send again when it is worth it, and say what went wrong. */
#include "suggest/ask.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "suggest/http.h"

#define TRIES 3u
#define FIRST_WAIT_S 0.4
#define MAX_WAIT_S 8.0 /* who asks for more is told to the user instead */
#define SILENCE_S 120L
#define MAX_LIST_BYTES ((size_t)8 << 20)
#define MAX_MODELS 2000u
#define MAX_REASON_BYTES 300u

static long silence_s(const struct settings *settings)
{
	const char *value = settings_get(settings, "HEATLINE_AI_TIMEOUT");
	long seconds = value ? strtol(value, NULL, 10) : 0;

	return seconds > 0 && seconds < 3600 ? seconds : SILENCE_S;
}

/* --- sentences --- */

/* What the provider says in an answer that is no success: its message, if it has the
 * usual form, else nothing. */
static void append_reason(const struct settings *settings, const struct buf *body, struct buf *out)
{
	json_t *root = json_loadb(body->data, body->size, 0, NULL);
	const json_t *error = json_object_get(root, "error");
	const char *text = json_string_value(error);

	if (!text)
		text = json_string_value(json_object_get(error, "message"));
	if (!text)
		text = json_string_value(json_object_get(root, "message"));
	if (text) {
		size_t size = strlen(text);

		buf_text(out, ": ");
		settings_scrub(settings, out, text, size < MAX_REASON_BYTES ? size : MAX_REASON_BYTES);
	}
	json_decref(root);
	for (size_t i = 0; i < out->size; i++) {
		if ((unsigned char)out->data[i] < ' ')
			out->data[i] = ' ';
	}
}

static int explain(const struct settings *settings, const struct provider *provider,
		   const char *model, const struct http_answer *answer, struct err *err)
{
	struct buf reason;
	int code = -ERR_IO;

	buf_init(&reason, 2 * MAX_REASON_BYTES);
	append_reason(settings, &answer->body, &reason);
	if (answer->status == 401 || answer->status == 403)
		code = err_set(err, ERR_PERMISSION, "%s refuses the key (status %ld); look at %s%s",
			       provider->name, answer->status, provider->needs, reason.data);
	else if (answer->status == 404 && model)
		code = err_set(err, ERR_NOT_FOUND, "%s has no model '%.100s' (status 404)%s",
			       provider->name, model, reason.data);
	else if (answer->status == 429 && answer->retry_after_s >= 0)
		code = err_set(err, ERR_IO, "%s wants no more questions for %.0f s (status 429)%s",
			       provider->name, answer->retry_after_s, reason.data);
	else if (answer->status == 429)
		code = err_set(err, ERR_IO, "%s wants no more questions for now (status 429)%s",
			       provider->name, reason.data);
	else if (answer->status >= 500)
		code = err_set(err, ERR_IO, "%s has trouble of its own (status %ld); try it later%s",
			       provider->name, answer->status, reason.data);
	else
		code = err_set(err, ERR_IO, "%s answered with status %ld%s", provider->name,
			       answer->status, reason.data);
	buf_fini(&reason);
	return code;
}

static int say_cancelled(struct err *err)
{
	return err_set(err, ERR_IO, "cancelled");
}

/* --- trying again --- */

/* How long to wait before the next try; negative: there is none. */
static double wait_before_retry(const struct http_answer *answer, unsigned tries)
{
	struct timespec now;

	if (tries >= TRIES || (answer->status != 429 && answer->status < 500))
		return -1;
	if (answer->retry_after_s > MAX_WAIT_S)
		return -1;
	if (answer->retry_after_s >= 0)
		return answer->retry_after_s;
	clock_gettime(CLOCK_MONOTONIC, &now);
	/* Not in step with everybody else who was turned away. */
	return FIRST_WAIT_S * tries * (1 + (double)(now.tv_nsec % 1000) / 2000);
}

/* Waits, and says whether it was told to stop. */
static bool wait_or_cancel(double seconds, bool (*is_cancelled)(void *), void *closure)
{
	uint64_t end = clock_monotonic_ns() + (uint64_t)(seconds * 1e9);
	const struct timespec step = {.tv_nsec = 50000000};

	while (clock_monotonic_ns() < end) {
		if (is_cancelled && is_cancelled(closure))
			return true;
		nanosleep(&step, NULL);
	}
	return false;
}

/* Sends until there is a success, or no sense in going on.  0: status 200, or the
 * transfer was stopped from here. */
static int send_patiently(const struct settings *settings, const struct provider *provider,
			  const char *model, const struct http_request *request,
			  struct http_answer *answer, struct err *err)
{
	for (unsigned tries = 1;; tries++) {
		int status = http_send(request, answer, err);

		if (status)
			return status;
		if (answer->is_cancelled)
			return say_cancelled(err);
		if (answer->status == 200 || answer->is_stopped || answer->is_too_long)
			return 0;
		double wait_s = wait_before_retry(answer, tries);
		if (wait_s < 0)
			return explain(settings, provider, model, answer, err);
		http_answer_fini(answer);
		if (wait_or_cancel(wait_s, request->is_cancelled, request->closure))
			return say_cancelled(err);
	}
}

/* --- a question --- */

struct conversation {
	const struct ask *ask;
	struct ask_answer *answer;
	struct stream stream;
	bool is_full; /* the text has reached its maximum */
};

static void take_text(void *closure, const char *text, size_t size)
{
	struct conversation *conversation = closure;
	const struct ask *ask = conversation->ask;
	struct buf clean;

	buf_init(&clean, SIZE_MAX);
	settings_scrub(ask->settings, &clean, text, size);
	if (!buf_append(&conversation->answer->text, clean.data, clean.size))
		conversation->is_full = true;
	else if (ask->on_text)
		ask->on_text(ask->closure, clean.data, clean.size);
	buf_fini(&clean);
}

static bool take_bytes(void *closure, const char *bytes, size_t size)
{
	struct conversation *conversation = closure;

	return stream_feed(&conversation->stream, bytes, size) && !conversation->is_full;
}

static bool is_conversation_cancelled(void *closure)
{
	const struct ask *ask = ((struct conversation *)closure)->ask;

	return ask->is_cancelled && ask->is_cancelled(ask->closure);
}

/* What the stream has to say once it is over. */
static int conclude(struct conversation *conversation, const struct http_answer *http,
		    struct err *err)
{
	const struct ask *ask = conversation->ask;
	struct stream *stream = &conversation->stream;
	struct buf clean;

	if (http->is_too_long || conversation->is_full)
		return err_set(err, ERR_TOO_LARGE, "the answer of %s is longer than %zu KB; the rest "
						   "was not read",
			       ask->provider->name, (http->is_too_long ? ASK_MAX_ANSWER_BYTES
								       : ASK_MAX_TEXT_BYTES) >> 10);
	stream_end(stream);
	if (stream->is_refused || stream->error.code) {
		buf_init(&clean, ERR_MESSAGE_BYTES);
		const char *text = stream->error.code ? stream->error.message : stream->refusal.data;
		settings_scrub(ask->settings, &clean, text, strlen(text));
		if (stream->error.code)
			err_set(err, ERR_IO, "%s: %s", ask->provider->name, clean.data);
		else
			err_set(err, ERR_IO, "the model refuses to answer%s%s",
				clean.size ? ": " : "", clean.data);
		buf_fini(&clean);
		return -ERR_IO;
	}
	if (!conversation->answer->text.size)
		return err_set(err, ERR_FORMAT, "the answer of %s is empty", ask->provider->name);
	if (stream->is_cut)
		conversation->answer->note = "the model reached its limit before it had finished";
	else if (!stream->is_complete)
		conversation->answer->note = "the answer broke off before it had ended";
	return 0;
}

int ask_send(const struct ask *ask, struct ask_answer *answer, struct err *err)
{
	struct conversation conversation = {.ask = ask, .answer = answer};
	struct provider_call call;
	struct http_answer http;

	*answer = (struct ask_answer){0};
	buf_init(&answer->text, ASK_MAX_TEXT_BYTES);
	if (!ask->provider->is_ready(ask->settings))
		return err_set(err, ERR_USAGE, "%s needs %s", ask->provider->name,
			       ask->provider->needs);
	provider_call_init(&call);
	int status = ask->provider->ask(&call, ask->settings, &ask->question, err);
	if (status) {
		provider_call_fini(&call);
		return status;
	}
	stream_init(&conversation.stream, call.shape, take_text, &conversation);
	const struct http_request request = {
		.url = call.url.data,
		.headers = call.headers.items,
		.header_count = call.headers.count,
		.body = call.body.data,
		.body_size = call.body.size,
		.silence_s = silence_s(ask->settings),
		.max_bytes = ASK_MAX_ANSWER_BYTES,
		.take = take_bytes,
		.is_cancelled = is_conversation_cancelled,
		.closure = &conversation,
	};
	status = send_patiently(ask->settings, ask->provider, ask->question.model, &request, &http,
				err);
	if (!status)
		status = conclude(&conversation, &http, err);
	http_answer_fini(&http);
	stream_fini(&conversation.stream);
	provider_call_fini(&call);
	return status;
}

void ask_answer_fini(struct ask_answer *answer)
{
	buf_fini(&answer->text);
}

/* --- models --- */

/* Whether an entry of a list is a model that writes text; lists that do not say so are
 * believed. */
static bool writes_text(const json_t *entry)
{
	const json_t *methods = json_object_get(entry, "supportedGenerationMethods");
	const json_t *outputs = json_object_get(entry, "outputModalities");
	const json_t *list = methods ? methods : outputs;
	const json_t *item;
	size_t i;

	if (!list)
		return true;
	json_array_foreach(list, i, item) {
		const char *word = json_string_value(item);

		if (word && (strcmp(word, "generateContent") == 0 || strcmp(word, "TEXT") == 0))
			return true;
	}
	return false;
}

/* Takes the names at "array/name"; several such pairs have | between them. */
static void take_models(const json_t *root, const char *keys, struct ask_models *models)
{
	while (*keys) {
		char array[64], name[64];
		size_t size = strcspn(keys, "|");
		size_t slash = strcspn(keys, "/");
		const json_t *entry;
		size_t i;

		snprintf(array, sizeof(array), "%.*s", (int)slash, keys);
		snprintf(name, sizeof(name), "%.*s", (int)(size - slash - 1), keys + slash + 1);
		json_array_foreach(json_object_get(root, array), i, entry) {
			const char *text = json_string_value(json_object_get(entry, name));

			if (text && *text && writes_text(entry) && models->names.count < MAX_MODELS)
				vec_push(&models->names, mem_copy_text(text));
		}
		keys += size + (keys[size] == '|');
	}
}

static int list_once(const struct settings *settings, const struct provider *provider,
		     const struct provider_call *call, bool (*is_cancelled)(void *), void *closure,
		     struct ask_models *models, struct err *err)
{
	const struct http_request request = {
		.url = call->url.data,
		.headers = call->headers.items,
		.header_count = call->headers.count,
		.silence_s = silence_s(settings) < 30 ? silence_s(settings) : 30,
		.max_bytes = MAX_LIST_BYTES,
		.is_cancelled = is_cancelled,
		.closure = closure,
	};
	struct http_answer answer;
	int status = send_patiently(settings, provider, NULL, &request, &answer, err);

	if (!status) {
		json_t *root = json_loadb(answer.body.data, answer.body.size, 0, NULL);

		if (json_is_object(root))
			take_models(root, provider->models_key, models);
		else
			status = err_set(err, ERR_FORMAT, "%s does not list its models",
					 provider->name);
		json_decref(root);
	}
	http_answer_fini(&answer);
	return status;
}

int ask_list_models(const struct settings *settings, const struct provider *provider,
		    bool (*is_cancelled)(void *closure), void *closure, struct ask_models *models,
		    struct err *err)
{
	int status = 0;

	*models = (struct ask_models){VEC_EMPTY};
	if (!provider->is_ready(settings))
		return err_set(err, ERR_USAGE, "%s needs %s", provider->name, provider->needs);
	for (unsigned which = 0; status == 0; which++) {
		struct provider_call call;

		provider_call_init(&call);
		bool is_one = provider->list(&call, settings, which);
		if (is_one)
			status = list_once(settings, provider, &call, is_cancelled, closure, models,
					   err);
		provider_call_fini(&call);
		if (!is_one)
			break;
	}
	return models->names.count ? 0 : status;
}

void ask_models_fini(struct ask_models *models)
{
	for (uint32_t i = 0; i < models->names.count; i++)
		free(models->names.items[i]);
	vec_free(&models->names);
}
