/* run_tools.c - tools that do something: run a program, attach to one, export.
 *
 * Folders and files that are named must lie in the server's folder, links resolved. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "mcp/session.h"
#include "report/query.h"
#include "report/export/export.h"

#define DEFAULT_LIMIT_S 60
#define DEFAULT_LOOK_S 5
#define ATTACH_GRACE_S 30 /* beyond the time that was asked for */
#define MAX_WORDS 1000u

extern char **environ;

/* ---- what may be named ---- */

/* The folder, absolute and in the server's, which the caller frees; NULL with the
 * sentence. */
static char *allowed_folder(const struct session *session, const char *name, struct err *err)
{
	char *joined = path_join(session->options.folder, name ? name : ".");
	char *folder = realpath(joined, NULL);
	if (!folder)
		err_set_errno(err, errno, "there is no folder '%s'", joined);
	else if (!path_is_inside(folder, session->options.folder))
		err_set(err, ERR_PERMISSION, "'%s' is outside of '%s', in which the server was started",
			folder, session->options.folder);
	bool is_good = folder && path_is_inside(folder, session->options.folder);
	free(joined);
	if (is_good)
		return folder;
	free(folder);
	return NULL;
}

/* The same for a file that is to be written. */
static char *allowed_file(const struct session *session, const char *name, struct err *err)
{
	char *joined = path_join(session->options.folder, name);
	char *folder = path_dirname(joined);
	char *real = allowed_folder(session, folder, err);
	char *path = real ? path_join(real, path_basename(joined)) : NULL;
	struct stat info;
	if (path && lstat(path, &info) == 0 && S_ISLNK(info.st_mode)) {
		err_set(err, ERR_PERMISSION, "'%s' is a link, and is not written to", path);
		free(path);
		path = NULL;
	}
	free(joined);
	free(folder);
	free(real);
	return path;
}

/* ---- profile_run ---- */

/* Words for exec; items are borrowed or kept in texts. */
struct words {
	VEC(char *) items;
};

static void add_word(struct words *words, const char *word)
{
	vec_push(&words->items, (char *)word);
}

static int add_command(struct words *words, const json_t *command, struct err *err)
{
	size_t index;
	const json_t *word;
	if (json_array_size(command) == 0 || json_array_size(command) > MAX_WORDS)
		return err_set(err, ERR_USAGE, "command has 1 to %u words", MAX_WORDS);
	json_array_foreach(command, index, word) {
		const char *text = json_string_value(word);
		if (!text)
			return err_set(err, ERR_USAGE, "a word of command is not a text");
		if (index == 0 && text[0] == '-' && strcmp(text, "-m") != 0)
			return err_set(err, ERR_USAGE,
				       "command begins with a script, a command or -m, not '%.60s'", text);
		add_word(words, text);
	}
	return 0;
}

/* "NAME=value" of our own environment and of what is given; given ones come first, so that
 * they are found.  Texts are freed with the list. */
static int make_environment(struct words *list, const json_t *given, uint32_t *owned,
			    struct err *err)
{
	const char *key;
	json_t *value;
	*owned = 0;
	json_object_foreach((json_t *)given, key, value) {
		const char *text = json_string_value(value);
		if (!text || !*key || strchr(key, '='))
			return err_set(err, ERR_USAGE, "env is names and texts");
		size_t size = strlen(key) + strlen(text) + 2;
		char *pair = mem_alloc(size);
		snprintf(pair, size, "%s=%s", key, text);
		add_word(list, pair);
		++*owned;
	}
	for (char **own = environ; *own; own++) {
		char name[256];
		size_t size = strcspn(*own, "=");
		if (size < sizeof(name)) {
			memcpy(name, *own, size);
			name[size] = '\0';
			if (json_object_get(given, name))
				continue;
		}
		add_word(list, *own);
	}
	vec_push(&list->items, NULL);
	return 0;
}

static json_t *progress_token(const struct message *message)
{
	json_t *token = json_object_get(message_object(message->params, "_meta"), "progressToken");
	return json_is_string(token) || json_is_integer(token) ? token : NULL;
}

static int start_job(struct session *session, struct words *words, const json_t *given,
		     const char *folder, const char *outfile, double limit_s,
		     const struct message *message, bool is_modern, bool is_attach, struct err *err)
{
	struct words environment = {VEC_EMPTY};
	uint32_t owned;
	int status = make_environment(&environment, given, &owned, err);
	vec_push(&words->items, NULL);
	struct job_start start = {
		.argv = words->items.items,
		.environment = environment.items.items,
		.folder = folder,
		.outfile = outfile,
		.limit_s = limit_s,
		.id = message->id,
		.token = progress_token(message),
		.is_modern = is_modern,
		.is_attach = is_attach,
	};
	if (!status && !jobs_start(&session->jobs, &start, err))
		status = -(int)err->code;
	for (uint32_t i = 0; i < owned; i++)
		free(environment.items.items[i]);
	vec_free(&environment.items);
	return status;
}

int run_tools_profile(struct session *session, const json_t *arguments,
		      const struct message *message, bool is_modern, struct err *err)
{
	const json_t *limit = json_object_get(arguments, "timeout_s");
	const char *python = message_text(arguments, "python");
	struct words words = {VEC_EMPTY};
	char *folder = allowed_folder(session, message_text(arguments, "cwd"), err);
	char *outfile = folder ? session_scratch(session, PROFILE_SUFFIX, err) : NULL;
	int status = outfile ? 0 : -(int)err->code;
	if (!status) {
		add_word(&words, session->options.heatline);
		add_word(&words, "run");
		add_word(&words, "-q");
		add_word(&words, "-o");
		add_word(&words, outfile);
		if (python) {
			add_word(&words, "--python");
			add_word(&words, python);
		}
		if (json_is_true(json_object_get(arguments, "cpu_only")))
			add_word(&words, "--cpu-only");
		if (json_is_true(json_object_get(arguments, "profile_all")))
			add_word(&words, "--profile-all");
		status = add_command(&words, json_object_get(arguments, "command"), err);
	}
	if (!status)
		status = start_job(session, &words, json_object_get(arguments, "env"), folder, outfile,
				   limit ? json_number_value(limit) : DEFAULT_LIMIT_S, message, is_modern,
				   false, err);
	vec_free(&words.items);
	free(folder);
	free(outfile);
	return status;
}

int run_tools_attach(struct session *session, const json_t *arguments,
		     const struct message *message, bool is_modern, struct err *err)
{
	const json_t *asked = json_object_get(arguments, "seconds");
	double seconds = asked ? json_number_value(asked) : DEFAULT_LOOK_S;
	char pid[24], duration[32];
	struct words words = {VEC_EMPTY};
	char *outfile = session_scratch(session, PROFILE_SUFFIX, err);
	if (!outfile)
		return -(int)err->code;
	snprintf(pid, sizeof(pid), "%.0f", json_number_value(json_object_get(arguments, "pid")));
	snprintf(duration, sizeof(duration), "%.3f", seconds);
	const char *const fixed[] = {session->options.heatline, "attach", "-q", "-d", duration, "-o",
				     outfile};
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		add_word(&words, fixed[i]);
	if (json_is_true(json_object_get(arguments, "profile_all")))
		add_word(&words, "--profile-all");
	add_word(&words, pid);
	int status = start_job(session, &words, NULL, session->options.folder, outfile,
			       seconds + ATTACH_GRACE_S, message, is_modern, true, err);
	vec_free(&words.items);
	free(outfile);
	return status;
}

/* ---- what a job gives ---- */

/* The end of the output as text: what is no UTF-8, or was cut in two, is left out. */
static char *tail_text(const struct job *job)
{
	struct buf text;
	buf_init(&text, JOB_TAIL_BYTES);
	for (size_t i = 0; i < job->tail_size;) {
		size_t size = text_utf8_length(job->tail + i, job->tail_size - i);
		if (size && job->tail[i])
			buf_append(&text, job->tail + i, size);
		i += size ? size : 1;
	}
	char *taken = buf_take(&text);
	buf_fini(&text);
	return taken ? taken : mem_copy_text("");
}

static void describe_end(const struct job *job, char *text, size_t size)
{
	if (job->is_timed_out)
		snprintf(text, size, "ended after its time limit");
	else if (WIFSIGNALED(job->status))
		snprintf(text, size, "ended by signal %d", WTERMSIG(job->status));
	else
		snprintf(text, size, "exit status %d", WEXITSTATUS(job->status));
}

static json_t *no_profile(const struct job *job, const char *tail, const char *reason)
{
	char end[64];
	struct buf text;
	describe_end(job, end, sizeof(end));
	buf_init(&text, QUERY_MAX_BYTES);
	buf_printf(&text, "No profile was made (%s): %s\n%s", end, reason, tail);
	json_t *result = tools_result(text.data, text.size, NULL, true);
	buf_fini(&text);
	return result;
}

static json_t *summary_result(const struct job *job, const struct profile *profile,
			      uint32_t number, const char *tail)
{
	static const struct question nothing = {.at = NULL};
	char end[64], handle[16];
	struct query_answer answer;
	struct buf text;
	describe_end(job, end, sizeof(end));
	snprintf(handle, sizeof(handle), "run-%u", number);
	query_init(&answer);
	query_give(query_kind_find("summary"), &answer, profile, NULL, &nothing, NULL);
	json_object_set_new(answer.json, "profile", json_string(handle));
	json_object_set_new(answer.json, "path", json_string(job->outfile));
	json_object_set_new(answer.json, "is_timed_out", json_boolean(job->is_timed_out));
	buf_init(&text, 2 * QUERY_MAX_BYTES);
	if (job->is_attach) {
		buf_printf(&text, "%s\n%s", handle, answer.text.data);
	} else {
		json_object_set_new(answer.json, "ended", json_string(end));
		json_object_set_new(answer.json, "output_tail", json_string(tail));
		buf_printf(&text, "%s: %s\n%s", handle, end, answer.text.data);
	}
	if (*tail && !job->is_attach)
		buf_printf(&text, "End of its output:\n%s", tail);
	json_t *result = tools_result(text.data, text.size, json_incref(answer.json), false);
	buf_fini(&text);
	query_fini(&answer);
	return result;
}

json_t *run_tools_result(struct session *session, const struct job *job)
{
	struct err err;
	uint32_t number;
	char *tail = tail_text(job);
	const struct profile *profile = NULL;
	err_set(&err, ERR_NOT_FOUND, "the profiler says:");
	if (access(job->outfile, R_OK) == 0)
		profile = known_runs_get(&session->runs, job->outfile, &number, &err);
	json_t *result = profile ? summary_result(job, profile, number, tail)
				 : no_profile(job, tail, err.message);
	free(tail);
	return result;
}

/* ---- export ---- */

static int write_export(const struct profile *profile, const struct export_format *format,
			enum export_metric metric, const char *path, struct err *err)
{
	struct file_writer writer;
	int status = export_check(format, profile, metric, err);
	if (!status)
		status = file_writer_open(&writer, path, err);
	if (status)
		return status;
	export_write(format, profile, metric, writer.stream);
	return file_writer_commit(&writer, err);
}

json_t *run_tools_export(struct session *session, const json_t *arguments, struct err *err)
{
	const char *name = message_text(arguments, "format"), *asked = message_text(arguments, "outfile");
	const char *weighed = message_text(arguments, "metric");
	const struct export_format *format = export_format_find(name);
	enum export_metric metric = EXPORT_TIME;
	uint32_t number;
	if (!format) {
		err_set(err, ERR_USAGE, "format is one of " EXPORT_FORMAT_NAMES ", not '%.40s'", name);
		return NULL;
	}
	if (weighed && !export_metric_find(weighed, &metric)) {
		err_set(err, ERR_USAGE, "metric is one of " EXPORT_METRIC_NAMES ", not '%.40s'", weighed);
		return NULL;
	}
	const struct profile *profile = known_runs_get(&session->runs, message_text(arguments, "profile"),
						       &number, err);
	if (!profile)
		return NULL;
	char *path = asked ? allowed_file(session, asked, err)
			   : session_scratch(session, format->suffix, err);
	json_t *result = NULL;
	if (path && asked && export_check_path(path, session->runs.items[number - 1].path, err) != 0) {
		free(path);
		return NULL;
	}
	if (path && write_export(profile, format, metric, path, err) == 0) {
		char text[1200];
		snprintf(text, sizeof(text), "Wrote %.1000s: %s", path, format->summary);
		result = tools_result(text, strlen(text),
				      json_pack("{s:s, s:s}", "path", path, "format", format->name), false);
	}
	free(path);
	return result;
}
