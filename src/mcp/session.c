/* session.c - which request is which, for both eras of the protocol. */
#include "mcp/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"

#define MODERN_VERSION "2026-07-28"
#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define META_SERVER "io.modelcontextprotocol/serverInfo"
#define LIST_TTL_MS 3600000 /* the tools are the same as long as the server lives */
#define PROGRESS_NS SECOND_NS

/* Newest first.  2025-03-26 had batches, which no other version has: such clients
 * also speak the one before. */
static const char *const legacy_versions[] = {"2025-11-25", "2025-06-18", "2024-11-05", NULL};

static const char instructions[] =
	"Heatline profiles Python programs line by line: time (Python, native, system, waiting), memory, "
	"copies, leaks. Start with profile_run (or profile_attach for a running process, or a profile's "
	"path), which gives a handle such as run-1 and a summary. Then hot_lines, source, callers, memory, "
	"advice; after a change profile again and compare. Answers are short and say what was left out.";

void session_init(struct session *session, const struct mcp_options *options)
{
	*session = (struct session){.options = *options};
	known_runs_init(&session->runs);
}

void session_fini(struct session *session)
{
	jobs_fini(&session->jobs);
	for (uint32_t i = 1; session->scratch && i <= session->files; i++) {
		char name[64];
		snprintf(name, sizeof(name), "%u" PROFILE_SUFFIX, i);
		char *path = path_join(session->scratch, name);
		unlink(path);
		free(path);
	}
	if (session->scratch)
		rmdir(session->scratch); /* exports stay, and so does the folder then */
	free(session->scratch);
	known_runs_fini(&session->runs);
}

char *session_scratch(struct session *session, const char *suffix, struct err *err)
{
	char name[64];
	if (!session->scratch) {
		const char *place = getenv("TMPDIR");
		char *made = path_join(place && *place ? place : "/tmp", "heatline-mcp-XXXXXX");
		if (!mkdtemp(made)) {
			err_set_errno(err, errno, "cannot make a folder '%s'", made);
			free(made);
			return NULL;
		}
		session->scratch = realpath(made, NULL);
		free(made);
	}
	snprintf(name, sizeof(name), "%u%s", ++session->files, suffix);
	return path_join(session->scratch, name);
}

/* Writes one message; takes it over. */
static void send_message(struct session *session, json_t *message)
{
	char *text = json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(12));
	json_decref(message);
	if (!text)
		mem_exhausted(0);
	size_t size = strlen(text), done = 0;
	text[size++] = '\n'; /* in the place of the terminator */
	while (done < size && !session->is_broken) {
		ssize_t written = write(session->options.output, text + done, size - done);
		if (written >= 0)
			done += (size_t)written;
		else if (errno != EINTR)
			session->is_broken = true;
	}
	free(text);
}

/* ---- answers ---- */

static json_t *server_info(void)
{
	return json_pack("{s:s, s:s, s:s}", "name", "heatline", "title", "Heatline, a Python profiler",
			 "version", HEATLINE_VERSION);
}

static json_t *all_versions(void)
{
	json_t *versions = json_array();
	json_array_append_new(versions, json_string(MODERN_VERSION));
	for (uint32_t i = 0; legacy_versions[i]; i++)
		json_array_append_new(versions, json_string(legacy_versions[i]));
	return versions;
}

static json_t *initialize(const json_t *params)
{
	const char *asked = message_text(params, "protocolVersion");
	const char *version = legacy_versions[0];
	for (uint32_t i = 0; asked && legacy_versions[i]; i++) {
		version = legacy_versions[i];
		if (strcmp(asked, version) >= 0)
			break; /* dates: the newest that is not newer than asked for */
	}
	return json_pack("{s:s, s:{s:{}}, s:o, s:s}", "protocolVersion", version, "capabilities",
			 "tools", "serverInfo", server_info(), "instructions", instructions);
}

static json_t *discover(void)
{
	return json_pack("{s:o, s:{s:{}}, s:s, s:i, s:s, s:{s:o}}", "supportedVersions", all_versions(),
			 "capabilities", "tools", "instructions", instructions, "ttlMs", LIST_TTL_MS,
			 "cacheScope", "private", "_meta", META_SERVER, server_info());
}

static void reply(struct session *session, json_t *id, json_t *result, bool is_modern)
{
	if (is_modern)
		json_object_set_new(result, "resultType", json_string("complete"));
	send_message(session, message_result(id, result));
}

static void call_tool(struct session *session, const struct message *message, bool is_modern)
{
	const char *name = message_text(message->params, "name");
	json_t *arguments = json_object_get(message->params, "arguments");
	if (!name || !tools_has(name)) {
		send_message(session, message_error(message->id, MESSAGE_INVALID_PARAMS,
						    "there is no such tool; tools/list names them", NULL));
		return;
	}
	if (arguments && !json_is_object(arguments)) {
		send_message(session, message_error(message->id, MESSAGE_INVALID_PARAMS,
						    "arguments is not an object", NULL));
		return;
	}
	json_t *result = tools_call(session, message, is_modern);
	if (result)
		reply(session, message->id, result, is_modern);
}

static void answer(struct session *session, const struct message *message, bool is_modern)
{
	const char *method = message->method;
	if (strcmp(method, "tools/call") == 0) {
		call_tool(session, message, is_modern);
	} else if (strcmp(method, "tools/list") == 0) {
		json_t *result = json_pack("{s:o}", "tools", tools_list());
		if (is_modern) {
			json_object_set_new(result, "ttlMs", json_integer(LIST_TTL_MS));
			json_object_set_new(result, "cacheScope", json_string("private"));
		}
		reply(session, message->id, result, is_modern);
	} else if (is_modern && strcmp(method, "server/discover") == 0) {
		reply(session, message->id, discover(), true);
	} else if (!is_modern && strcmp(method, "ping") == 0) {
		reply(session, message->id, json_object(), false);
	} else {
		send_message(session, message_error(message->id, MESSAGE_NO_METHOD,
						    "there is no such method", NULL));
	}
}

/* ---- eras ---- */

/* A request that names its version stands for itself. */
static void take_modern(struct session *session, const struct message *message,
			const json_t *meta, const char *version)
{
	if (strcmp(version, MODERN_VERSION) != 0)
		send_message(session, message_error(message->id, MESSAGE_UNSUPPORTED_VERSION,
						    "this version of the protocol is not spoken here",
						    json_pack("{s:o, s:s}", "supported", all_versions(),
							      "requested", version)));
	else if (!message_object(meta, META_CAPABILITIES))
		send_message(session, message_error(message->id, MESSAGE_INVALID_PARAMS,
						    "_meta lacks " META_CAPABILITIES, NULL));
	else
		answer(session, message, true);
}

static void take_request(struct session *session, const struct message *message)
{
	const json_t *meta = message_object(message->params, "_meta");
	const char *version = message_text(meta, META_VERSION);
	if (strcmp(message->method, "initialize") == 0) {
		session->is_legacy = true;
		reply(session, message->id, initialize(message->params), false);
	} else if (version) {
		take_modern(session, message, meta, version);
	} else if (session->is_legacy || strcmp(message->method, "ping") == 0) {
		answer(session, message, false);
	} else {
		send_message(session, message_error(message->id, MESSAGE_INVALID_PARAMS,
						    "_meta lacks " META_VERSION
						    "; older clients begin with initialize", NULL));
	}
}

static bool is_blank(const char *line, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
			return false;
	}
	return true;
}

void session_take(struct session *session, const char *line, size_t size, bool is_too_long)
{
	struct message message;
	if (is_too_long) {
		send_message(session, message_error(NULL, MESSAGE_INVALID_REQUEST,
						    "the line is longer than 1 MiB", NULL));
		return;
	}
	if (is_blank(line, size))
		return;
	message_parse(&message, line, size);
	if (message.kind == MESSAGE_BAD)
		send_message(session, message_error(message.id, message.code, message.reason, NULL));
	else if (message.kind == MESSAGE_REQUEST)
		take_request(session, &message);
	else if (message.kind == MESSAGE_NOTIFICATION &&
		 strcmp(message.method, "notifications/cancelled") == 0)
		jobs_cancel(&session->jobs, json_object_get(message.params, "requestId"));
	message_fini(&message);
}

/* ---- jobs ---- */

void session_finish(struct session *session, struct job *job)
{
	if (!job->is_cancelled)
		reply(session, job->id, run_tools_result(session, job), job->is_modern);
	else
		unlink(job->outfile);
	job_free(job);
}

void session_tell_progress(struct session *session)
{
	uint64_t now_ns = clock_monotonic_ns();
	for (uint32_t i = 0; i < session->jobs.count; i++) {
		struct job *job = session->jobs.items[i];
		if (!job->token || now_ns - job->told_ns < PROGRESS_NS)
			continue;
		job->told_ns = now_ns;
		double elapsed_s = (double)((now_ns - job->start_ns) / 100000000) / 10;
		send_message(session, message_notification(
					      "notifications/progress",
					      json_pack("{s:O, s:f, s:s}", "progressToken", job->token,
							"progress", elapsed_s, "message", "profiling")));
	}
}
