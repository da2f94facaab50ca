/* api.c - the answers to the page's questions. */
#include "serve/api.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json_out.h"
#include "base/mem.h"
#include "profile/source.h"
#include "report/export/export.h"
#include "serve/answer.h"
#include "serve/assets.h"
#include "serve/editor.h"
#include "serve/mhd.h"
#include "serve/spawn.h"

#define TYPE_JSON "application/json"
#define TYPE_TEXT "text/plain; charset=utf-8"

static enum MHD_Result not_found(struct MHD_Connection *connection, const char *sentence)
{
	return answer_sentence(connection, MHD_HTTP_NOT_FOUND, sentence);
}

/* Gives up the bytes. */
static enum MHD_Result answer_bytes(struct MHD_Connection *connection, char *bytes, size_t size,
				    const char *type)
{
	struct blob *blob = blob_new(bytes, size);
	enum MHD_Result result = answer_blob(connection, blob, type, NULL, NULL);

	blob_drop(blob);
	return result;
}

static enum MHD_Result answer_info(const struct api *api, struct MHD_Connection *connection)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	struct json_out out;

	if (!stream)
		return MHD_NO;
	json_out_init(&out, stream);
	json_begin_object(&out, NULL);
	json_put_text(&out, "version", HEATLINE_VERSION);
	json_put_unsigned(&out, "profiles", store_count(api->store));
	json_put_bool(&out, "is_live", api->live && !live_is_ended(api->live));
	json_put_bool(&out, "can_open_editor", api->editor != NULL);
	json_end_object(&out);
	if (fclose(stream) != 0)
		mem_exhausted(size);
	return answer_bytes(connection, text, size, TYPE_JSON);
}

static enum MHD_Result answer_profile(const struct api *api, struct MHD_Connection *connection,
				      uint32_t number, bool is_gzipped)
{
	struct blob *text = store_text(api->store, number, is_gzipped);

	if (!text && number < store_count(api->store))
		return answer_sentence(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
				       "there is nothing of the program yet; ask again in a second");
	if (!text)
		return not_found(connection, "there is no such profile");
	const char *encoding = is_gzipped ? "gzip" : NULL;
	enum MHD_Result result = answer_blob(connection, text, TYPE_JSON, encoding, NULL);
	blob_drop(text);
	return result;
}

static enum MHD_Result answer_source(const struct api *api, struct MHD_Connection *connection,
				     const struct route *route)
{
	const char *value = mhd.lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "path");
	char *wanted = value ? request_decode(value) : NULL;
	char *path = store_source_path(api->store, route->profile, route->file, wanted);
	size_t size;
	char *text = path && (wanted || !value) ? source_load(path, &size) : NULL;

	free(path);
	free(wanted);
	if (!text)
		return not_found(connection, "there is no such source on this machine, or it was changed since the program started");
	return answer_bytes(connection, text, size, TYPE_TEXT);
}

/* --- exports --- */

struct export_job {
	const struct export_format *format;
	enum export_metric metric;
	char *text; /* the caller's; NULL: it says nothing, and err says why */
	size_t size;
	struct err err;
};

static void run_export(void *closure, const struct profile *profile)
{
	struct export_job *job = closure;

	if (export_check(job->format, profile, job->metric, &job->err) != 0)
		return;
	FILE *stream = open_memstream(&job->text, &job->size);
	if (!stream)
		mem_exhausted(0);
	export_write(job->format, profile, job->metric, stream);
	if (fclose(stream) != 0)
		mem_exhausted(job->size);
}

static enum MHD_Result answer_export(const struct api *api, struct MHD_Connection *connection,
				     const struct route *route)
{
	struct export_job job = {.format = export_format_find(route->format)};
	const char *metric = mhd.lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "metric");
	char name[64];

	if (!job.format || (metric && !export_metric_find(metric, &job.metric)) ||
	    !store_use(api->store, route->profile, run_export, &job))
		return not_found(connection, "there is no such export");
	if (!job.text)
		return answer_sentence(connection, MHD_HTTP_CONFLICT, job.err.message);
	snprintf(name, sizeof(name), "heatline-profile%s", job.format->suffix);
	struct blob *blob = blob_new(job.text, job.size);
	enum MHD_Result result = answer_blob(connection, blob, job.format->mime_type, NULL, name);
	blob_drop(blob);
	return result;
}

enum MHD_Result api_answer(const struct api *api, struct MHD_Connection *connection,
			   const struct route *route, const struct request_headers *headers)
{
	bool accepts_gzip = request_accepts_gzip(headers);

	switch (route->kind) {
	case ROUTE_ASSET:
		return answer_asset(connection, asset_find(route->asset), accepts_gzip);
	case ROUTE_INFO:
		return answer_info(api, connection);
	case ROUTE_PROFILE:
		return answer_profile(api, connection, route->profile, accepts_gzip);
	case ROUTE_SOURCE:
		return answer_source(api, connection, route);
	case ROUTE_EXPORT:
		return answer_export(api, connection, route);
	case ROUTE_LIVE:
		if (api->live)
			return live_answer(api->live, connection);
		break;
	default:
		break;
	}
	return not_found(connection, "there is nothing here");
}

/* --- opening a line in the editor --- */

struct open_request {
	uint32_t profile, file, line1;
	const char *path; /* borrowed from the body; NULL: not given */
};

static bool read_open(const json_t *root, struct open_request *request)
{
	json_int_t profile, file, line;
	const char *path = NULL;

	if (json_unpack((json_t *)root, "{s:I, s:I, s:I, s?s}", "profile", &profile, "file", &file,
			"line", &line, "path", &path) != 0)
		return false;
	if (profile < 0 || profile > UINT32_MAX || file < 0 || file > UINT32_MAX || line < 1 ||
	    line > INT32_MAX)
		return false;
	*request = (struct open_request){(uint32_t)profile, (uint32_t)file, (uint32_t)line, path};
	return true;
}

/* The file that is meant, which is one of the profile; the caller frees. */
static char *path_to_open(const struct api *api, const struct open_request *request)
{
	char *path = store_file_path(api->store, request->profile, request->file, request->path);
	struct stat status;

	if (path && stat(path, &status) == 0 && S_ISREG(status.st_mode))
		return path;
	free(path);
	return NULL;
}

static enum MHD_Result open_line(const struct api *api, struct MHD_Connection *connection,
				 const struct open_request *request)
{
	char *path = path_to_open(api, request);
	struct err err;

	if (!path)
		return not_found(connection, "there is no such file on this machine");
	char **words = editor_words(api->editor, path, request->line1);
	int status = spawn_detached(words, editor_has_window(api->editor), &err);
	editor_free_words(words);
	free(path);
	if (status)
		return answer_sentence(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, err.message);
	return answer_bytes(connection, mem_copy_text("{}"), 2, TYPE_JSON);
}

enum MHD_Result api_answer_open(const struct api *api, struct MHD_Connection *connection,
				const char *body, size_t size)
{
	struct open_request request;
	enum MHD_Result result;

	if (!api->editor)
		return not_found(connection, "there is no editor to open; set HEATLINE_EDITOR");
	json_t *root = json_loadb(body, size, JSON_REJECT_DUPLICATES, NULL);
	if (root && read_open(root, &request))
		result = open_line(api, connection, &request);
	else
		result = answer_sentence(connection, MHD_HTTP_BAD_REQUEST,
					 "this is no {\"profile\", \"file\", \"line\"}");
	json_decref(root);
	return result;
}
