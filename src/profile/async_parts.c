/* async_parts.c - waiting of tasks, written and read.
 *
 * Scalene's keys and ours; a record without waiting tasks has none of them. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "profile/read_parts.h"
#include "profile/write_parts.h"

#define DECIMALS_TASKS 3

void write_async_figures(struct json_out *out, const struct profile *profile,
			 const struct async_figures *figures)
{
	if (figures->is_coroutine)
		json_put_bool(out, "is_coroutine", true);
	if (!(figures->await_s > 0))
		return;
	double share = profile->await_s > 0 ? fmin(100 * figures->await_s / profile->await_s, 100)
					    : 0;
	json_put_number(out, "n_async_await_percent", share, DECIMALS_PERCENT);
	json_put_number(out, "n_async_concurrency_mean", figures->concurrency_mean, DECIMALS_TASKS);
	json_put_number(out, "n_async_concurrency_peak", figures->concurrency_peak, DECIMALS_TASKS);
	json_put_number(out, "await_s", figures->await_s, DECIMALS_SECONDS);
	json_begin_array(out, "async_task_names");
	for (uint32_t i = 0; i < figures->name_count; i++)
		json_put_text(out, NULL, figures->names[i]);
	json_end_array(out);
}

void write_async_object(struct json_out *out, const struct profile *profile)
{
	json_put_newline(out);
	json_begin_object(out, "async");
	json_put_number(out, "await_s", profile->await_s, DECIMALS_SECONDS);
	json_begin_array(out, "blocking");
	for (uint32_t i = 0; i < profile->blocking_count; i++) {
		const struct blocking_step *step = &profile->blocking[i];
		json_put_newline(out);
		json_begin_object(out, NULL);
		json_put_text(out, "file", step->file);
		json_put_unsigned(out, "line", step->line);
		json_put_text(out, "function", step->function);
		json_put_unsigned(out, "count", step->count);
		json_put_number(out, "longest_s", step->longest_s, DECIMALS_SECONDS);
		json_put_number(out, "total_s", step->total_s, DECIMALS_SECONDS);
		json_end_object(out);
	}
	json_end_array(out);
	json_end_object(out);
}

/* Scalene tells only what share of all waiting it was; a second for all makes
 * a percent a hundredth. */
static double scalene_await(struct profile_reader *reader, const json_t *record)
{
	double percent = reader_number(reader, record, "n_async_await_percent");
	return percent > 0 ? percent / 100 : 0;
}

void read_async_figures(struct profile_reader *reader, const json_t *record,
			struct async_figures *figures)
{
	figures->is_coroutine = reader_bool(reader, record, "is_coroutine");
	figures->await_s = reader->is_scalene ? scalene_await(reader, record)
					      : reader_number(reader, record, "await_s");
	if (!(figures->await_s > 0)) {
		figures->await_s = 0;
		return;
	}
	figures->concurrency_mean = reader_number(reader, record, "n_async_concurrency_mean");
	figures->concurrency_peak = reader_number(reader, record, "n_async_concurrency_peak");
	figures->names = reader_texts(reader, record, "async_task_names", &figures->name_count);
	if (figures->name_count > ASYNC_MAX_NAMES)
		figures->name_count = ASYNC_MAX_NAMES;
}

static void read_step(struct profile_reader *reader, const json_t *item,
		      struct blocking_step *step)
{
	if (!json_is_object(item)) {
		reader_fail(reader, "an item of \"blocking\" is not an object");
		return;
	}
	step->file = reader_text(reader, item, "file");
	step->line = (uint32_t)reader_unsigned(reader, item, "line", READ_MAX_LINE);
	step->function = reader_text(reader, item, "function");
	step->count = (uint32_t)reader_unsigned(reader, item, "count", UINT32_MAX);
	step->longest_s = reader_number(reader, item, "longest_s");
	step->total_s = reader_number(reader, item, "total_s");
	if (!step->file || !step->function)
		reader_fail(reader, "a blocking step has no place");
}

void read_async(struct profile_reader *reader, const json_t *root, const json_t *heatline)
{
	struct profile *profile = reader->profile;
	const json_t *object = heatline ? reader_object(reader, heatline, "async") : NULL;
	profile->has_async = reader_bool(reader, root, "async_profile");
	profile->await_s = heatline ? reader_number(reader, object, "await_s")
				    : (profile->has_async ? 1 : 0);
	const json_t *list = object ? reader_array(reader, object, "blocking") : NULL;
	size_t size = json_array_size(list);
	size_t kept = size < ASYNC_MAX_BLOCKING ? size : ASYNC_MAX_BLOCKING;
	if (kept == 0)
		return;
	profile->blocking = mem_zalloc(kept, sizeof(*profile->blocking));
	profile->blocking_count = (uint32_t)kept;
	for (size_t i = 0; i < kept; i++)
		read_step(reader, json_array_get(list, i), &profile->blocking[i]);
}
