/* diff_json.c - two profiles compared, as JSON. */
#include <stdlib.h>

#include "base/json_out.h"
#include "profile/source.h"
#include "report/diff_text.h"

#define SECONDS 6
#define BYTES 0

static void put_value(struct json_out *out, const char *key, const struct diff_value *value,
		      int decimals)
{
	json_begin_object(out, key);
	json_put_number(out, "before", value->before, decimals);
	json_put_number(out, "after", value->after, decimals);
	json_put_bool(out, "is_real", value->is_real);
	json_end_object(out);
}

/* The files and lines of both sides; null where there is none. */
static void put_files(struct json_out *out, const struct profile_file *const file[DIFF_SIDES],
		      uint32_t before, uint32_t after)
{
	json_put_text(out, "file_before", file[DIFF_BEFORE] ? file[DIFF_BEFORE]->path : NULL);
	json_put_text(out, "file_after", file[DIFF_AFTER] ? file[DIFF_AFTER]->path : NULL);
	if (before)
		json_put_unsigned(out, "line_before", before);
	else
		json_put_null(out, "line_before");
	if (after)
		json_put_unsigned(out, "line_after", after);
	else
		json_put_null(out, "line_after");
}

static void put_line(struct json_out *out, const struct profile_diff *diff,
		     const struct diff_line *line)
{
	const struct profile_line *const *sides = line->line;
	size_t size;
	const char *text = source_file_line(diff_line_file(line), diff_line_number(line), &size);
	json_put_newline(out);
	json_begin_object(out, NULL);
	put_files(out, line->file, sides[DIFF_BEFORE] ? sides[DIFF_BEFORE]->line : 0,
		  sides[DIFF_AFTER] ? sides[DIFF_AFTER]->line : 0);
	json_put_text(out, "function", line->function);
	json_put_bytes(out, "text", text, size);
	put_value(out, "time_s", &line->time_s, SECONDS);
	if (diff->has_gpu)
		put_value(out, "gpu_s", &line->gpu_s, SECONDS);
	if (diff->has_memory) {
		put_value(out, "peak_bytes", &line->peak_bytes, BYTES);
		put_value(out, "allocated_bytes", &line->alloc_bytes, BYTES);
		put_value(out, "copied_bytes", &line->copy_bytes, BYTES);
	}
	json_end_object(out);
}

static void put_function(struct json_out *out, const struct profile_diff *diff,
			 const struct diff_function *at)
{
	const struct profile_function *const *sides = at->function;
	json_put_newline(out);
	json_begin_object(out, NULL);
	put_files(out, at->file, sides[DIFF_BEFORE] ? sides[DIFF_BEFORE]->first_line : 0,
		  sides[DIFF_AFTER] ? sides[DIFF_AFTER]->first_line : 0);
	json_put_text(out, "function",
		      (sides[DIFF_AFTER] ? sides[DIFF_AFTER] : sides[DIFF_BEFORE])->name);
	put_value(out, "time_s", &at->time_s, SECONDS);
	put_value(out, "inclusive_s", &at->inclusive_s, SECONDS);
	if (diff->has_memory)
		put_value(out, "allocated_bytes", &at->alloc_bytes, BYTES);
	json_end_object(out);
}

static void put_verdict(struct json_out *out, const struct profile_diff *diff)
{
	char *text = diff_verdict_text(diff);
	json_put_text(out, "verdict", text);
	free(text);
}

static void put_totals(struct json_out *out, const struct profile_diff *diff)
{
	json_begin_object(out, "total");
	put_value(out, "time_s", &diff->total_s, SECONDS);
	put_value(out, "elapsed_s", &diff->elapsed_s, SECONDS);
	put_value(out, "cpu_s", &diff->cpu_s, SECONDS);
	put_value(out, "python_s", &diff->python_s, SECONDS);
	put_value(out, "native_s", &diff->native_s, SECONDS);
	put_value(out, "system_s", &diff->system_s, SECONDS);
	put_value(out, "wait_s", &diff->wait_s, SECONDS);
	if (diff->has_gpu)
		put_value(out, "gpu_s", &diff->gpu_s, SECONDS);
	if (diff->has_memory) {
		put_value(out, "peak_bytes", &diff->peak_bytes, BYTES);
		put_value(out, "allocated_bytes", &diff->alloc_bytes, BYTES);
		put_value(out, "copied_bytes", &diff->copy_bytes, BYTES);
	}
	json_end_object(out);
}

void diff_print_json(FILE *stream, const struct profile_diff *diff)
{
	struct json_out out;
	json_out_init(&out, stream);
	json_begin_object(&out, NULL);
	put_verdict(&out, diff);
	json_put_unsigned(&out, "slower", diff->slower);
	json_put_unsigned(&out, "faster", diff->faster);
	json_put_unsigned(&out, "heavier", diff->heavier);
	json_put_unsigned(&out, "lighter", diff->lighter);
	put_totals(&out, diff);
	json_begin_array(&out, "lines");
	for (uint32_t i = 0; i < diff->line_count; i++)
		put_line(&out, diff, &diff->lines[i]);
	json_end_array(&out);
	json_begin_array(&out, "functions");
	for (uint32_t i = 0; i < diff->function_count; i++)
		put_function(&out, diff, &diff->functions[i]);
	json_end_array(&out);
	json_end_object(&out);
	fputc('\n', stream);
}
