/* merge.c - several profiles as one. */
#include "profile/merge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "profile/advice.h"
#include "profile/book.h"
#include "profile/book_index.h"
#include "profile/marks.h"
#include "profile/merge_parts.h"


static void add_warning(struct profile *profile, const char *text)
{
	struct profile_quality *quality = &profile->quality;
	for (uint32_t i = 0; i < quality->warning_count; i++) {
		if (text_equal(quality->warnings[i], text))
			return;
	}
	quality->warnings = mem_resize(quality->warnings, quality->warning_count + 1,
				       sizeof(*quality->warnings));
	quality->warnings[quality->warning_count++] = profile_intern(profile, text);
}

static void add_lost(struct profile *profile, const struct lost_count *lost)
{
	struct profile_quality *quality = &profile->quality;
	for (uint32_t i = 0; i < quality->lost_count; i++) {
		if (text_equal(quality->lost[i].reason, lost->reason)) {
			quality->lost[i].count += lost->count;
			return;
		}
	}
	quality->lost = mem_resize(quality->lost, quality->lost_count + 1, sizeof(*quality->lost));
	quality->lost[quality->lost_count++] =
		(struct lost_count){profile_intern(profile, lost->reason), lost->count};
}

/* Rate and overhead are of CPU time, and are weighed by it; call before the sums are
 * merged. */
static void merge_quality(struct merge *merge)
{
	struct profile_quality *into = &merge->into->quality;
	const struct profile_quality *from = &merge->from->quality;
	double into_s = merge->into->sum.cpu_s, from_s = merge->from->sum.cpu_s;
	double whole_s = into_s + from_s;
	if (whole_s > 0) {
		into->rate_hz = (into->rate_hz * into_s + from->rate_hz * from_s) / whole_s;
		into->overhead_percent = (into->overhead_percent * into_s +
					  from->overhead_percent * from_s) / whole_s;
		into->collector_percent = (into->collector_percent * into_s +
					   from->collector_percent * from_s) / whole_s;
	}
	into->samples += from->samples;
	into->wait_samples += from->wait_samples;
	into->idle_samples += from->idle_samples;
	for (uint32_t i = 0; i < from->lost_count; i++)
		add_lost(merge->into, &from->lost[i]);
	for (uint32_t i = 0; i < from->warning_count; i++)
		add_warning(merge->into, from->warnings[i]);
	if (merge->into->has_memory != merge->from->has_memory)
		add_warning(merge->into,
			    "memory was not measured in all of the runs that were merged");
}

static void merge_processes(struct merge *merge)
{
	struct profile *into = merge->into;
	const struct profile *from = merge->from;
	uint32_t process_shift = into->process_count;
	merge->thread_shift = into->thread_count;
	into->processes = mem_resize(into->processes,
				     (size_t)into->process_count + from->process_count,
				     sizeof(*into->processes));
	for (uint32_t i = 0; i < from->process_count; i++) {
		struct profile_process process = profile_copy_process(into, &from->processes[i]);
		process.start_s += merge->shift_s;
		process.end_s += merge->shift_s;
		into->processes[into->process_count++] = process;
	}
	into->threads = mem_resize(into->threads, (size_t)into->thread_count + from->thread_count,
				   sizeof(*into->threads));
	for (uint32_t i = 0; i < from->thread_count; i++) {
		struct profile_thread thread = from->threads[i];
		thread.name = profile_intern(into, thread.name);
		thread.process += process_shift;
		into->threads[into->thread_count++] = thread;
	}
}

/* ---- files ---- */

static void merge_columns(struct profile_line *into, const struct profile_line *from)
{
	for (uint32_t i = 0; i < from->column_count; i++) {
		const struct column_range *range = &from->columns[i];
		uint32_t at = 0;
		while (at < into->column_count &&
		       (into->columns[at].column != range->column ||
			into->columns[at].column_end != range->column_end ||
			into->columns[at].line_end != range->line_end))
			at++;
		if (at < into->column_count) {
			into->columns[at].self_s += range->self_s;
		} else if (at < BOOK_COLUMNS_MAX) {
			vec_reserve(into->columns, into->column_room, into->column_count);
			into->columns[into->column_count++] = *range;
		}
	}
}

static void merge_line(struct merge *merge, uint32_t file, const struct profile_line *from)
{
	for (uint32_t i = 0; i < from->sample_times; i++)
		profile_book_time(merge->into, file, from->line,
				  from->sample_times_s[i] + merge->shift_s);
	struct profile_line *into = book_line(merge->into, file, from->line);
	metrics_add(&into->self, &from->self);
	into->inclusive_s += from->inclusive_s;
	merge_memory(merge, &into->memory, &from->memory);
	merge_async(merge, &into->async, &from->async);
	gpu_figures_add(&into->gpu, &from->gpu);
	merge_columns(into, from);
	into->memory_points = merge_points(into->memory_points, &into->memory_point_count,
					   from->memory_points, from->memory_point_count,
					   merge->shift_s, LINE_POINTS_MAX);
	if (into->region.region_start == 0)
		into->region = from->region;
	if (!into->text)
		into->text = profile_intern(merge->into, from->text);
}

static void merge_source(struct merge *merge, struct profile_file *into,
			 const struct profile_file *from)
{
	if (into->source && from->source &&
	    (into->source_size != from->source_size ||
	     memcmp(into->source, from->source, into->source_size) != 0))
		add_warning(merge->into, "a file was changed between the runs that were merged; "
					 "its lines are matched by number");
	if (!into->source && from->source) {
		into->source = mem_copy_bytes(from->source, from->source_size);
		into->source_size = from->source_size;
	}
	if (into->import_count || from->import_count == 0)
		return;
	into->imports = mem_resize(into->imports, from->import_count, sizeof(*into->imports));
	for (uint32_t i = 0; i < from->import_count; i++)
		into->imports[into->import_count++] = profile_intern(merge->into, from->imports[i]);
}

static void merge_file(struct merge *merge, uint32_t index, const struct profile_file *from)
{
	struct profile *profile = merge->into;
	struct profile_file *into = &profile->files[index];
	into->in_scope = into->in_scope || from->in_scope;
	merge_source(merge, into, from);
	for (uint32_t i = 0; i < from->line_count; i++)
		merge_line(merge, index, &from->lines[i]);
	for (uint32_t i = 0; i < from->function_count; i++) {
		const struct profile_function *function = &from->functions[i];
		struct profile_function *known =
			book_function(profile, index, profile_intern(profile, function->name),
				      function->first_line);
		metrics_add(&known->self, &function->self);
		known->inclusive_s += function->inclusive_s;
		merge_memory(merge, &known->memory, &function->memory);
		merge_async(merge, &known->async, &function->async);
		gpu_figures_add(&known->gpu, &function->gpu);
	}
}

static void merge_files(struct merge *merge)
{
	const struct profile *from = merge->from;
	merge->files = mem_alloc(from->file_count * sizeof(*merge->files));
	for (uint32_t i = 0; i < from->file_count; i++) {
		merge->files[i] = profile_file_index(merge->into, from->files[i].path,
						     from->files[i].in_scope);
		merge_file(merge, merge->files[i], &from->files[i]);
	}
}

/* ---- the whole ---- */

static void merge_run(struct merge *merge)
{
	struct profile *into = merge->into;
	const struct profile *from = merge->from;
	if (!into->python_version)
		into->python_version = profile_intern(into, from->python_version);
	if (!text_equal(into->program, from->program))
		add_warning(into, "different programs were merged; it is named after the first");
	into->elapsed_s += from->elapsed_s;
	into->suspended_s += from->suspended_s;
	into->outside_s += from->outside_s;
	into->omitted_s += from->omitted_s;
	into->startup_s += from->startup_s;
	into->shown_percent = fmin(into->shown_percent, from->shown_percent);
	into->from_scalene = into->from_scalene || from->from_scalene;
	into->is_partial = into->is_partial || from->is_partial;
	metrics_add(&into->sum, &from->sum);
}

void profile_merge(struct profile *into, const struct profile *from)
{
	struct merge merge = {.into = into, .from = from, .shift_s = into->elapsed_s};
	merge_quality(&merge);
	merge_processes(&merge);
	merge_whole_memory(&merge);
	merge_whole_async(&merge);
	merge_whole_gpu(&merge);
	merge_files(&merge);
	merge_stacks(&merge);
	marks_merge(into, from, merge.shift_s);
	merge_run(&merge);
	free(merge.files);
	profile_settle(into);
	advice_make(into);
}
