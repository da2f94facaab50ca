/* suggest_change.c - trying a proposed change, and making it. */
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "base/mem.h"
#include "serve/answer.h"
#include "serve/suggest_parts.h"
#include "suggest/verify.h"

struct change_job {
	struct suggest_place request;
	struct verify_plan plan;
	char *diff, *test; /* owned */
	unsigned runs;
	struct err err; /* code 0: there is a plan */
};

static void free_change(void *closure)
{
	struct change_job *job = closure;

	verify_plan_fini(&job->plan);
	free(job->diff);
	free(job->test);
	free(job);
}

static void make_plan(void *closure, const struct profile *profile)
{
	struct change_job *job = closure;

	verify_plan_init(&job->plan, profile, suggest_find_file(&job->request, profile), &job->err);
}

static void send_progress(void *closure, const char *text, unsigned step, unsigned steps)
{
	struct suggest_text event;
	struct json_out out;

	suggest_text_begin(&event);
	json_out_init(&out, event.stream);
	json_begin_object(&out, NULL);
	json_put_text(&out, "text", text);
	json_put_unsigned(&out, "step", step);
	json_put_unsigned(&out, "steps", steps);
	json_end_object(&out);
	suggest_text_end(&event);
	feed_event(closure, "progress", event.text);
	free(event.text);
}

static void run_verify(struct feed *feed, void *closure)
{
	const struct change_job *job = closure;
	const struct verify_options options = {
		.diff = job->diff,
		.test = job->test,
		.runs = job->runs,
		.on_progress = send_progress,
		.is_cancelled = suggest_is_cancelled,
		.closure = feed,
	};
	struct verify_verdict verdict;
	struct suggest_text event;
	struct err err;

	if (verify_run(&job->plan, &options, &verdict, &err) == 0) {
		suggest_text_begin(&event);
		verify_write_json(&verdict, event.stream);
		suggest_text_end(&event);
		feed_event(feed, "done", event.text);
		free(event.text);
	} else {
		suggest_send_error(feed, &err);
	}
	verify_verdict_fini(&verdict);
}

/* Makes the change in the file itself; what is answered says that it was. */
static enum MHD_Result answer_apply(struct MHD_Connection *connection, struct change_job *job)
{
	struct suggest_text text;
	struct err err;

	if (verify_accept(job->plan.file, job->diff, &err) != 0)
		return answer_sentence(connection, MHD_HTTP_CONFLICT, err.message);
	suggest_text_begin(&text);
	fputs("{}", text.stream);
	return suggest_text_answer(&text, connection);
}

/* Reads the request into a job; NULL when it is none. */
static struct change_job *read_job(const json_t *root)
{
	const char *diff = json_string_value(json_object_get(root, "diff"));
	const char *test = json_string_value(json_object_get(root, "test"));
	json_int_t runs = json_integer_value(json_object_get(root, "runs"));
	struct change_job *job = mem_zalloc(1, sizeof(*job));

	if (!diff || !*diff || !suggest_read_place(root, &job->request)) {
		free(job);
		return NULL;
	}
	job->diff = mem_copy_text(diff);
	job->test = mem_copy_text(test ? test : "");
	job->runs = runs >= VERIFY_MIN_RUNS && runs <= VERIFY_MAX_RUNS ? (unsigned)runs : VERIFY_RUNS;
	return job;
}

enum MHD_Result suggest_answer_change(struct store *store, struct feeds *feeds,
				      struct MHD_Connection *connection, const struct route *route,
				      const json_t *root)
{
	struct change_job *job = read_job(root);
	enum MHD_Result result;

	if (!job)
		return suggest_refuse(connection, "this is no {\"profile\", \"file\", \"line\", "
						  "\"diff\"}");
	if (!store_use(store, job->request.profile, make_plan, job))
		err_set(&job->err, ERR_NOT_FOUND, "there is no such profile");
	if (!job->err.code && route->kind == ROUTE_VERIFY) {
		const struct feed_work work = {FEED_EVENTS, run_verify, free_change, job};

		job->request.path = NULL; /* the request's text ends with this call */
		return feed_answer(feeds, connection, &work);
	}
	result = job->err.code ? answer_sentence(connection, MHD_HTTP_NOT_FOUND, job->err.message)
			       : answer_apply(connection, job);
	free_change(job);
	return result;
}
