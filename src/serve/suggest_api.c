/* suggest_api.c - the answers about suggestions. */
#include "serve/suggest_api.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "base/mem.h"
#include "serve/answer.h"
#include "suggest/answer.h"
#include "suggest/ask.h"
#include "suggest/http.h"
#include "suggest/prompt.h"

/* --- small parts --- */

static enum MHD_Result bad_request(struct MHD_Connection *connection, const char *sentence)
{
	return answer_sentence(connection, MHD_HTTP_BAD_REQUEST, sentence);
}

/* Text that is made through a stream. */
struct page {
	FILE *stream;
	char *text;
	size_t size;
};

static void page_begin(struct page *page)
{
	*page = (struct page){0};
	page->stream = open_memstream(&page->text, &page->size);
	if (!page->stream)
		mem_exhausted(0);
}

static void page_end(struct page *page)
{
	if (fclose(page->stream) != 0)
		mem_exhausted(page->size);
}

static enum MHD_Result page_answer(struct page *page, struct MHD_Connection *connection)
{
	page_end(page);
	struct blob *blob = blob_new(page->text, page->size);
	enum MHD_Result result = answer_blob(connection, blob, "application/json", NULL, NULL);
	blob_drop(blob);
	return result;
}

/* --- providers --- */

static enum MHD_Result answer_providers(struct MHD_Connection *connection)
{
	struct settings settings;
	struct err err = {0};
	struct json_out out;
	struct page page;

	bool is_open = http_open(&err) == 0;
	int status = settings_load(&settings, is_open ? &err : NULL);
	page_begin(&page);
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
	return page_answer(&page, connection);
}

static bool is_feed_cancelled(void *closure)
{
	return feed_is_cancelled(closure);
}

static void list_models(struct feed *feed, void *closure)
{
	const struct provider *provider = closure;
	struct ask_models models = {VEC_EMPTY};
	struct settings settings;
	struct json_out out;
	struct page page;
	struct err err;

	int status = settings_load(&settings, &err);
	if (!status)
		status = ask_list_models(&settings, provider, is_feed_cancelled, feed, &models, &err);
	page_begin(&page);
	json_out_init(&out, page.stream);
	json_begin_object(&out, NULL);
	json_begin_array(&out, "models");
	for (uint32_t i = 0; i < models.names.count; i++)
		json_put_text(&out, NULL, models.names.items[i]);
	json_end_array(&out);
	if (status)
		json_put_text(&out, "error", err.message);
	json_end_object(&out);
	page_end(&page);
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

struct place_request {
	uint32_t profile;
	struct prompt_place place;
	const char *path;     /* borrowed from the body; NULL: by number */
	struct prompt prompt; /* the caller's */
	struct err err;       /* code 0: there is a prompt */
};

static bool read_place(const json_t *root, struct place_request *request)
{
	json_int_t profile, file, line;
	const char *scope = "line";

	*request = (struct place_request){0};
	if (json_unpack((json_t *)root, "{s:I, s:I, s:I, s?s, s?s}", "profile", &profile, "file",
			&file, "line", &line, "scope", &scope, "path", &request->path) != 0)
		return false;
	if (profile < 0 || profile > UINT32_MAX || file < 0 || file > UINT32_MAX || line < 1 ||
	    line > INT32_MAX)
		return false;
	request->profile = (uint32_t)profile;
	request->place.file = (uint32_t)file;
	request->place.line1 = (uint32_t)line;
	for (int i = 0; i < PROMPT_SCOPES; i++) {
		if (strcmp(scope, prompt_scope_names[i]) == 0) {
			request->place.scope = (enum prompt_scope)i;
			return true;
		}
	}
	return false;
}

static void build_prompt(void *closure, const struct profile *profile)
{
	struct place_request *request = closure;

	if (request->path) {
		const struct profile_file *file = profile_find_file(profile, request->path);

		request->place.file = file ? (uint32_t)(file - profile->files) : UINT32_MAX;
	}
	prompt_build(&request->prompt, profile, &request->place, &request->err);
}

/* Makes the prompt of the request; negative with the sentence in request->err. */
static int make_prompt(struct store *store, struct place_request *request)
{
	if (!store_use(store, request->profile, build_prompt, request))
		err_set(&request->err, ERR_NOT_FOUND, "there is no such profile");
	return -(int)request->err.code;
}

static enum MHD_Result answer_prompt(struct store *store, struct MHD_Connection *connection,
				     const json_t *root)
{
	struct place_request request;
	struct page page;

	if (!read_place(root, &request))
		return bad_request(connection,
				   "this is no {\"profile\", \"file\", \"line\", \"scope\"}");
	if (make_prompt(store, &request) != 0)
		return answer_sentence(connection, MHD_HTTP_NOT_FOUND, request.err.message);
	page_begin(&page);
	prompt_write_json(&request.prompt, page.stream);
	prompt_fini(&request.prompt);
	return page_answer(&page, connection);
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
	struct page page;

	answer_parse(&parts, answer->text.data, answer->text.size);
	page_begin(&page);
	answer_write_json(&parts, answer->note, page.stream);
	page_end(&page);
	feed_event(feed, "done", page.text);
	free(page.text);
	answer_fini(&parts);
}

static void send_error(struct feed *feed, const struct err *err)
{
	feed_event_text(feed, "error", err->message, strlen(err->message));
}

static void send_prompt(struct feed *feed, void *closure)
{
	struct send_job *job = closure;
	struct ask_answer answer;
	struct settings settings;
	struct err err;

	if (settings_load(&settings, &err) != 0) {
		send_error(feed, &err);
		return;
	}
	const struct ask ask = {
		.settings = &settings,
		.provider = job->provider,
		.question = {job->model, job->prompt.system, job->prompt.text},
		.on_text = send_text,
		.is_cancelled = is_feed_cancelled,
		.closure = feed,
	};
	if (ask_send(&ask, &answer, &err) == 0)
		send_done(feed, &answer);
	else
		send_error(feed, &err);
	ask_answer_fini(&answer);
	settings_fini(&settings);
}

static enum MHD_Result answer_send(struct store *store, struct feeds *feeds,
				   struct MHD_Connection *connection, const json_t *root)
{
	const char *id = json_string_value(json_object_get(root, "provider"));
	const char *model = json_string_value(json_object_get(root, "model"));
	const struct provider *provider;
	struct place_request request;
	struct err err;

	if (!read_place(root, &request) || !id || !model || !*model)
		return bad_request(connection, "this is no {\"profile\", \"file\", \"line\", \"scope\", "
					       "\"provider\", \"model\"}");
	if (provider_find(id, &provider, &err) != 0)
		return bad_request(connection, err.message);
	if (make_prompt(store, &request) != 0)
		return answer_sentence(connection, MHD_HTTP_NOT_FOUND, request.err.message);
	struct send_job *job = mem_zalloc(1, sizeof(*job));
	*job = (struct send_job){provider, mem_copy_text(model), request.prompt};
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
		result = bad_request(connection, "the body is no JSON object");
	else if (route->kind == ROUTE_PROMPT)
		result = answer_prompt(store, connection, root);
	else
		result = answer_send(store, feeds, connection, root);
	json_decref(root);
	return result;
}
