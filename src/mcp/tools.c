/* tools.c - the tools: their schemas, and calls that are answered at once.
 *
 * Questions about a profile are those of report/query.h, one tool each; the schema of
 * a tool is made from what its question takes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "mcp/session.h"
#include "report/query.h"
#include "report/export/export.h"

#define MAX_LIST_BYTES 4000u /* of the text of list_runs, but for its last line */
#define PROFILE_ALL_HELP "Report every file, not just those of the program's folder."
#define PROFILE_HELP "A handle such as run-1, or the path of a profile."

/* ---- schemas ---- */

static json_t *text_property(const char *description)
{
	return json_pack("{s:s, s:s}", "type", "string", "description", description);
}

static json_t *flag_property(const char *description)
{
	return json_pack("{s:s, s:s}", "type", "boolean", "description", description);
}

static json_t *number_property(const char *type, double low, double high, const char *description)
{
	return json_pack("{s:s, s:f, s:f, s:s}", "type", type, "minimum", low, "maximum", high,
			 "description", description);
}

/* choices: "a|b|c". */
static json_t *choice_property(const char *choices, const char *description)
{
	json_t *property = text_property(description), *list = json_array();
	for (const char *at = choices; *at;) {
		size_t size = strcspn(at, "|");
		json_array_append_new(list, json_stringn(at, size));
		at += size + (at[size] == '|');
	}
	json_object_set_new(property, "enum", list);
	return property;
}

static json_t *make_schema(json_t *properties, const char *first, const char *second)
{
	json_t *required = json_array();
	if (first)
		json_array_append_new(required, json_string(first));
	if (second)
		json_array_append_new(required, json_string(second));
	return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties, "required",
			 required, "additionalProperties", 0);
}

static json_t *make_tool(const char *name, const char *title, const char *description,
			 json_t *schema, bool is_reading)
{
	return json_pack("{s:s, s:s, s:s, s:o, s:{s:s}, s:{s:b, s:b, s:b}}", "name", name, "title", title,
			 "description", description, "inputSchema", schema, "outputSchema", "type",
			 "object", "annotations", "readOnlyHint", is_reading, "destructiveHint", 0,
			 "openWorldHint", !is_reading);
}

static json_t *question_tool(const struct query_kind *kind)
{
	json_t *properties = json_object();
	if (kind->has_two) {
		json_object_set_new(properties, "before", text_property(PROFILE_HELP));
		json_object_set_new(properties, "after", text_property(PROFILE_HELP));
	} else {
		json_object_set_new(properties, "profile", text_property(PROFILE_HELP));
	}
	if (kind->takes & QUERY_TAKES_AT)
		json_object_set_new(properties, "at",
				    text_property("FILE, FILE:LINE, FILE:FROM-TO or a function's name; a "
						  "file by any end of its path."));
	if (kind->takes & QUERY_TAKES_BY)
		json_object_set_new(properties, "by", choice_property(QUERY_BY, "What to list."));
	if (kind->takes & QUERY_TAKES_METRIC)
		json_object_set_new(properties, "metric",
				    choice_property(QUERY_METRICS, "What to rank by; time is self time."));
	if (kind->takes & QUERY_TAKES_VIEW)
		json_object_set_new(properties, "view", choice_property(QUERY_VIEWS, "What to show."));
	if (kind->takes & QUERY_TAKES_TOP)
		json_object_set_new(properties, "top",
				    number_property("integer", 1, QUERY_MAX_TOP, "At most so many rows."));
	if (kind->takes & QUERY_TAKES_MIN)
		json_object_set_new(properties, "min_percent",
				    number_property("number", 0, 100, "Leave out rows below this share."));
	const char *second = kind->has_two ? "after" : kind->takes & QUERY_NEEDS_AT ? "at" : NULL;
	return make_tool(kind->name, kind->title, kind->description,
			 make_schema(properties, kind->has_two ? "before" : "profile", second), true);
}

static json_t *run_tool(void)
{
	json_t *properties = json_object();
	json_object_set_new(properties, "command",
			    json_pack("{s:s, s:{s:s}, s:i, s:s}", "type", "array", "items", "type",
				      "string", "minItems", 1, "description",
				      "What to run, without a shell: [\"app.py\", \"--size\", \"10\"], "
				      "[\"-m\", \"package.module\"], [\"pytest\", \"-x\"], "
				      "[\"python3\", \"-c\", \"...\"]."));
	json_object_set_new(properties, "cwd",
			    text_property("Folder to run in: the server's own (default) or one below it."));
	json_object_set_new(properties, "env",
			    json_pack("{s:s, s:{s:s}, s:s}", "type", "object", "additionalProperties",
				      "type", "string", "description", "Environment variables to add."));
	json_object_set_new(properties, "timeout_s",
			    number_property("number", 0.1, 3600, "End the program after so many seconds and "
								 "keep its profile so far (default: 60)."));
	json_object_set_new(properties, "python",
			    text_property("Interpreter: a path, a name, or a version like 3.12."));
	json_object_set_new(properties, "cpu_only",
			    flag_property("Measure time only, not memory."));
	json_object_set_new(properties, "profile_all",
			    flag_property(PROFILE_ALL_HELP));
	return make_tool("profile_run", "Profile a program",
			 "Run a Python program to its end under the profiler. Gives a handle (run-1), the "
			 "summary, the exit status and the end of the output. It executes the program.",
			 make_schema(properties, "command", NULL), false);
}

static json_t *attach_tool(void)
{
	json_t *properties = json_object();
	json_object_set_new(properties, "pid",
			    number_property("integer", 1, 4194304, "A process that runs Python."));
	json_object_set_new(properties, "seconds",
			    number_property("number", 0.1, 600, "How long to look (default: 5)."));
	json_object_set_new(properties, "profile_all",
			    flag_property(PROFILE_ALL_HELP));
	return make_tool("profile_attach", "Profile a running process",
			 "Look at a running Python process from outside for some seconds, without stopping or "
			 "changing it. Gives a handle and the summary. Memory is not measured.",
			 make_schema(properties, "pid", NULL), false);
}

static json_t *export_tool(void)
{
	json_t *properties = json_object();
	json_object_set_new(properties, "profile", text_property(PROFILE_HELP));
	json_object_set_new(properties, "format", choice_property(EXPORT_FORMAT_NAMES, "Which format."));
	json_object_set_new(properties, "metric",
			    choice_property(EXPORT_METRIC_NAMES, "What stacks are weighed by (time)."));
	json_object_set_new(properties, "outfile",
			    text_property("Where to write, in the server's folder or below (default: a "
					  "temporary file)."));
	return make_tool("export", "Export", "Write a profile for another tool: a flame graph (svg), "
					     "speedscope, pprof, Firefox Profiler, CSV, Markdown.",
			 make_schema(properties, "profile", "format"), false);
}

json_t *tools_list(void)
{
	json_t *tools = json_array();
	json_array_append_new(tools, run_tool());
	json_array_append_new(tools, attach_tool());
	json_array_append_new(tools, make_tool("list_runs", "Known profiles",
					       "The handles of this session and the files they stand for.",
					       make_schema(json_object(), NULL, NULL), true));
	for (const struct query_kind *kind = query_kinds; kind->name; kind++)
		json_array_append_new(tools, question_tool(kind));
	json_array_append_new(tools, export_tool());
	return tools;
}

static const json_t *find_tool(const json_t *tools, const char *name)
{
	size_t index;
	const json_t *tool;
	json_array_foreach(tools, index, tool) {
		if (strcmp(message_text(tool, "name"), name) == 0)
			return tool;
	}
	return NULL;
}

bool tools_has(const char *name)
{
	json_t *tools = tools_list();
	bool is_there = find_tool(tools, name) != NULL;
	json_decref(tools);
	return is_there;
}

/* ---- arguments ---- */

static bool is_of_type(const json_t *value, const char *type)
{
	if (strcmp(type, "string") == 0)
		return json_is_string(value);
	if (strcmp(type, "integer") == 0)
		return json_is_integer(value) ||
		       (json_is_real(value) && json_real_value(value) == floor(json_real_value(value)));
	if (strcmp(type, "number") == 0)
		return json_is_number(value);
	if (strcmp(type, "boolean") == 0)
		return json_is_boolean(value);
	return strcmp(type, "array") == 0 ? json_is_array(value) : json_is_object(value);
}

static int check_argument(const char *key, const json_t *value, const json_t *property,
			  struct err *err)
{
	const char *type = message_text(property, "type");
	const json_t *low = json_object_get(property, "minimum");
	const json_t *high = json_object_get(property, "maximum");
	if (!is_of_type(value, type))
		return err_set(err, ERR_USAGE, "%s is not of type %s", key, type);
	if (low && !(json_number_value(value) >= json_number_value(low) &&
		     json_number_value(value) <= json_number_value(high)))
		return err_set(err, ERR_USAGE, "%s is from %.15g to %.15g", key, json_number_value(low),
			       json_number_value(high));
	return 0;
}

/* Holds the arguments to the tool's own schema. */
static int check_arguments(const char *name, const json_t *arguments, struct err *err)
{
	json_t *tools = tools_list();
	const json_t *schema = message_object(find_tool(tools, name), "inputSchema");
	const json_t *properties = message_object(schema, "properties");
	const char *key;
	json_t *value;
	size_t index;
	int status = 0;
	json_object_foreach((json_t *)arguments, key, value) {
		const json_t *property = message_object(properties, key);
		if (!status && !property)
			status = err_set(err, ERR_USAGE, "%s takes no argument '%.60s'", name, key);
		else if (!status)
			status = check_argument(key, value, property, err);
	}
	json_array_foreach(json_object_get(schema, "required"), index, value) {
		if (!status && !json_object_get(arguments, json_string_value(value)))
			status = err_set(err, ERR_USAGE, "%s needs '%s'", name, json_string_value(value));
	}
	json_decref(tools);
	return status;
}

/* ---- results ---- */

json_t *tools_result(const char *text, size_t size, json_t *structured, bool is_error)
{
	json_t *words = json_stringn(text, size);
	json_t *result = json_pack("{s:[{s:s, s:o}], s:b}", "content", "type", "text", "text",
				   words ? words : json_string("?"), "isError", is_error);
	if (structured)
		json_object_set_new(result, "structuredContent", structured);
	return result;
}

static json_t *failure(const struct err *err)
{
	return tools_result(err->message, strlen(err->message), NULL, true);
}

static json_t *list_runs(struct session *session)
{
	json_t *rows = json_array();
	struct buf text;
	uint32_t left = 0; /* how many the text leaves out */
	buf_init(&text, SIZE_MAX);
	if (!session->runs.count)
		buf_text(&text, "No profile is known yet; profile_run makes one.");
	for (uint32_t i = session->runs.count; i-- > 0;) {
		const char *path = session->runs.items[i].path;
		char handle[16];
		snprintf(handle, sizeof(handle), "run-%u", i + 1);
		json_array_append_new(rows, json_pack("{s:s, s:s}", "run", handle, "path", path));
		if (left || text.size + strlen(path) > MAX_LIST_BYTES)
			left++;
		else
			buf_printf(&text, "%s  %s\n", handle, path);
	}
	if (left)
		buf_printf(&text, "Left out: %u older, down to run-1; their handles are good.\n", left);
	json_t *result = tools_result(text.data, text.size, json_pack("{s:o}", "runs", rows), false);
	buf_fini(&text);
	return result;
}

/* ---- questions ---- */

static int ask(struct session *session, const struct query_kind *kind, const json_t *arguments,
	       struct query_answer *answer, struct err *err)
{
	struct question question = {
		.at = message_text(arguments, "at"),
		.by = message_text(arguments, "by"),
		.metric = message_text(arguments, "metric"),
		.view = message_text(arguments, "view"),
		.top = (uint32_t)json_number_value(json_object_get(arguments, "top")),
		.min_percent = json_number_value(json_object_get(arguments, "min_percent")),
	};
	const char *first = message_text(arguments, kind->has_two ? "before" : "profile");
	const struct profile *profile, *after = NULL;
	uint32_t number, other = 0;
	char handle[16];
	if (!(profile = known_runs_get(&session->runs, first, &number, err)))
		return -(int)err->code;
	if (kind->has_two &&
	    !(after = known_runs_get(&session->runs, message_text(arguments, "after"), &other, err)))
		return -(int)err->code;
	if (other == number)
		profile = after; /* it may have been read anew */
	snprintf(handle, sizeof(handle), "run-%u", number);
	json_object_set_new(answer->json, kind->has_two ? "before" : "profile", json_string(handle));
	if (other) {
		snprintf(handle, sizeof(handle), "run-%u", other);
		json_object_set_new(answer->json, "after", json_string(handle));
	}
	return query_give(kind, answer, profile, after, &question, err);
}

static json_t *query_question(struct session *session, const struct query_kind *kind,
			       const json_t *arguments)
{
	struct query_answer answer;
	struct err err;
	query_init(&answer);
	json_t *result = ask(session, kind, arguments, &answer, &err)
				 ? failure(&err)
				 : tools_result(answer.text.data, answer.text.size,
						json_incref(answer.json), false);
	query_fini(&answer);
	return result;
}

json_t *tools_call(struct session *session, const struct message *message, bool is_modern)
{
	const char *name = message_text(message->params, "name");
	json_t *given = json_object_get(message->params, "arguments");
	json_t *arguments = given ? json_incref(given) : json_object();
	const struct query_kind *kind = query_kind_find(name);
	json_t *result = NULL;
	struct err err;
	int status = check_arguments(name, arguments, &err);
	if (!status && kind)
		result = query_question(session, kind, arguments);
	else if (!status && strcmp(name, "list_runs") == 0)
		result = list_runs(session);
	else if (!status && strcmp(name, "export") == 0)
		status = (result = run_tools_export(session, arguments, &err)) ? 0 : -1;
	else if (!status && strcmp(name, "profile_run") == 0)
		status = run_tools_profile(session, arguments, message, is_modern, &err);
	else if (!status)
		status = run_tools_attach(session, arguments, message, is_modern, &err);
	json_decref(arguments);
	return status ? failure(&err) : result;
}
