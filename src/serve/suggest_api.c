/* suggest_api.c - the answers about suggestions. */
#include "serve/suggest_api.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "base/mem.h"
#include "serve/answer.h"
#include "serve/suggest_parts.h"
#include "suggest/answer.h"
#include "suggest/ask.h"
#include "suggest/http.h"
#include "suggest/prompt.h"

/* --- providers --- */

static enum MHD_Result answer_providers(struct MHD_Connection *connection)
{
	struct settings settings;
	struct err err = {0};
	struct json_out out;
	struct suggest_text page;

	bool is_open = http_open(&err) == 0;
	int status = settings_load(&settings, is_open ? &err : NULL);
	suggest_text_begin(&page);
	json_out_init(&out, page.stream);
	json_begin_object(&out, NULL);
	json_put_bool(&out, "available", is_open);
	json_put_text(&out, "note", is_open && !status ? "" : err.message);
	json_begin_array(&out, "providers");
	for (size_t i = 0; i < PROVIDER_COUNT; i++) {
		json_begin_object(&out, NULL);
		json_put_text(&out, "id", providers[i].id);
		json_put_text(&out, "name", providers[i].name);
		json_put_bool(&out, "ready", providers[i].is_ready(&settings));
		json_put_text(&out, "needs", providers[i].needs);
		json_end_object(&out);
	}
	json_end_array(&out);
	json_end_object(&out);
	settings_fini(&settings);
	return suggest_text_answer(&page, connection);
}

static void list_models(struct feed *feed, void *closure)
{
	const struct provider *provider = closure;
	struct ask_models models = {VEC_EMPTY};
	struct settings settings;
	struct json_out out;
	struct suggest_text page;
	struct err err;

	int status = settings_load(&settings, &err);
	if (!status)
		status = ask_list_models(&settings, provider, suggest_is_cancelled, feed, &models, &err);
	suggest_text_begin(&page);
	json_out_init(&out, page.stream);
	json_begin_object(&out, NULL);
	json_begin_array(&out, "models");
	for (uint32_t i = 0; i < models.names.count; i++)
		json_put_text(&out, NULL, models.names.items[i]);
	json_end_array(&out);
	if (status)
		json_put_text(&out, "error", err.message);
	json_end_object(&out);
	suggest_text_end(&page);
	feed_write(feed, page.text, page.size);
	free(page.text);
	ask_models_fini(&models);
	settings_fini(&settings);
}

static void free_nothing(void *closure)
{
}

static enum MHD_Result answer_models(struct feeds *feeds, struct MHD_Connection *connection,
				     const struct route *route)
{
	const struct provider *provider;
	struct err err;

	if (provider_find(route->format, &provider, &err) != 0)
		return answer_sentence(connection, MHD_HTTP_NOT_FOUND, err.message);
	const struct feed_work work = {FEED_JSON, list_models, free_nothing, (void *)provider};
	return feed_answer(feeds, connection, &work);
}

/* --- a place, and its prompt --- */

struct prompt_job {
	struct suggest_place request;
	struct prompt prompt;
	struct err err; /* code 0: there is a prompt */
};

static void build_prompt(void *closure, const struct profile *profile)
{
	struct prompt_job *job = closure;

	job->request.place.file = suggest_find_file(&job->request, profile);
	prompt_build(&job->prompt, profile, &job->request.place, &job->err);
}

/* Makes the prompt of the request; negative with the sentence in job->err. */
static int make_prompt(struct store *store, struct prompt_job *job)
{
	err_clear(&job->err);
	if (!store_use(store, job->request.profile, build_prompt, job))
		err_set(&job->err, ERR_NOT_FOUND, "there is no such profile");
	return -(int)job->err.code;
}

static enum MHD_Result answer_prompt(struct store *store, struct MHD_Connection *connection,
				     const json_t *root)
{
	struct prompt_job job;
	struct suggest_text page;

	if (!suggest_read_place(root, &job.request))
		return suggest_refuse(connection,
				   "this is no {\"profile\", \"file\", \"line\", \"scope\"}");
	if (make_prompt(store, &job) != 0)
		return answer_sentence(connection, MHD_HTTP_NOT_FOUND, job.err.message);
	suggest_text_begin(&page);
	prompt_write_json(&job.prompt, page.stream);
	prompt_fini(&job.prompt);
	return suggest_text_answer(&page, connection);
}

/* --- sending it --- */

struct send_job {
	const struct provider *provider;
	char *model; /* owned */
	struct prompt prompt;
};

static void free_send(void *closure)
{
	struct send_job *job = closure;

	prompt_fini(&job->prompt);
	free(job->model);
	free(job);
}

static void send_text(void *closure, const char *text, size_t size)
{
	feed_event_text(closure, "text", text, size);
}

static void send_done(struct feed *feed, const struct ask_answer *answer)
{
	struct answer parts;
	struct suggest_text page;

	answer_parse(&parts, answer->text.data, answer->text.size);
	suggest_text_begin(&page);
	answer_write_json(&parts, answer->note, page.stream);
	suggest_text_end(&page);
	feed_event(feed, "done", page.text);
	free(page.text);
	answer_fini(&parts);
}

static void send_prompt(struct feed *feed, void *closure)
{
	struct send_job *job = closure;
	struct ask_answer answer;
	struct settings settings;
	struct err err;

	if (settings_load(&settings, &err) != 0) {
		suggest_send_error(feed, &err);
		return;
	}
	const struct ask ask = {
		.settings = &settings,
		.provider = job->provider,
		.question = {job->model, job->prompt.system, job->prompt.text},
		.on_text = send_text,
		.is_cancelled = suggest_is_cancelled,
		.closure = feed,
	};
	if (ask_send(&ask, &answer, &err) == 0)
		send_done(feed, &answer);
	else
		suggest_send_error(feed, &err);
	ask_answer_fini(&answer);
	settings_fini(&settings);
}

static enum MHD_Result answer_send(struct store *store, struct feeds *feeds,
				   struct MHD_Connection *connection, const json_t *root)
{
	const char *id = json_string_value(json_object_get(root, "provider"));
	const char *model = json_string_value(json_object_get(root, "model"));
	const struct provider *provider;
	struct prompt_job question;
	struct err err;

	if (!suggest_read_place(root, &question.request) || !id || !model || !*model)
		return suggest_refuse(connection, "this is no {\"profile\", \"file\", \"line\", \"scope\", "
					       "\"provider\", \"model\"}");
	if (provider_find(id, &provider, &err) != 0)
		return suggest_refuse(connection, err.message);
	if (make_prompt(store, &question) != 0)
		return answer_sentence(connection, MHD_HTTP_NOT_FOUND, question.err.message);
	struct send_job *job = mem_zalloc(1, sizeof(*job));
	*job = (struct send_job){provider, mem_copy_text(model), question.prompt};
	const struct feed_work work = {FEED_EVENTS, send_prompt, free_send, job};
	return feed_answer(feeds, connection, &work);
}

enum MHD_Result suggest_answer(struct store *store, struct feeds *feeds,
			       struct MHD_Connection *connection, const struct route *route,
			       const char *body, size_t size)
{
	enum MHD_Result result;

	if (route->kind == ROUTE_PROVIDERS)
		return answer_providers(connection);
	if (route->kind == ROUTE_MODELS)
		return answer_models(feeds, connection, route);
	json_t *root = json_loadb(body, size, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(root))
		result = suggest_refuse(connection, "the body is no JSON object");
	else if (route->kind == ROUTE_PROMPT)
		result = answer_prompt(store, connection, root);
	else if (route->kind == ROUTE_SEND)
		result = answer_send(store, feeds, connection, root);
	else
		result = suggest_answer_change(store, feeds, connection, route, root);
	json_decref(root);
	return result;
}
