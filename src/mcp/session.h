/* session.h - what the parts of the MCP server share; inner header. */
#ifndef HEATLINE_MCP_SESSION_H
#define HEATLINE_MCP_SESSION_H

#include "base/err.h"
#include "mcp/jobs.h"
#include "mcp/message.h"
#include "mcp/runs.h"
#include "mcp/server.h"

struct session {
	struct mcp_options options;
	struct known_runs runs;
	struct jobs jobs;
	char *scratch;    /* owned; our own folder for profiles; NULL: not made yet */
	uint32_t files;   /* made in it */
	bool is_legacy;   /* the client has begun with initialize */
	bool is_broken;   /* nobody reads the output any more */
};

void session_init(struct session *session, const struct mcp_options *options);
void session_fini(struct session *session);

/* Acts on a line of input; answers are written. */
void session_take(struct session *session, const char *line, size_t size, bool is_too_long);

/* Says what became of a job, and how the others get on. */
void session_finish(struct session *session, struct job *job);
void session_tell_progress(struct session *session);

#define PROFILE_SUFFIX ".json" /* of profiles there: they go with the session */

/* A path for a new file in our own folder, which the caller frees; NULL with the sentence. */
char *session_scratch(struct session *session, const char *suffix, struct err *err);

/* ---- tools.c ---- */

/* The value of "tools" of tools/list. */
json_t *tools_list(void);

/* Calls a tool.  Its result comes at once, or NULL when a job was started that will give it.
 * What goes wrong is a result too, which says so. */
json_t *tools_call(struct session *session, const struct message *message, bool is_modern);

/* Whether there is a tool of this name. */
bool tools_has(const char *name);

/* {"content": […], "structuredContent": …, "isError": …}; structured is taken over and may
 * be NULL. */
json_t *tools_result(const char *text, size_t size, json_t *structured, bool is_error);

/* ---- run_tools.c ---- */

/* profile_run and profile_attach: NULL and a job; or negative with the sentence. */
int run_tools_profile(struct session *session, const json_t *arguments,
		      const struct message *message, bool is_modern, struct err *err);
int run_tools_attach(struct session *session, const json_t *arguments,
		     const struct message *message, bool is_modern, struct err *err);

/* export; the result, or NULL with the sentence. */
json_t *run_tools_export(struct session *session, const json_t *arguments, struct err *err);

/* What a job that has ended gives. */
json_t *run_tools_result(struct session *session, const struct job *job);

#endif
