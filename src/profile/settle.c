/* settle.c - a profile whose stacks are all booked: sorted, rounded, summed up.
 *
 * Figures are rounded before they are added, so that sums hold to the last digit
 * in memory, in the file and after reading it back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/advice.h"
#include "profile/book.h"
#include "profile/book_index.h"
#include "profile/source.h"

#define SOURCE_BYTES_HELD ((size_t)8 << 20)

/* Whole units (1e9: nanoseconds), so that what is written reads back as the
 * very same number: dividing integers is exact to the last bit. */
static void round_seconds(double *seconds, double units)
{
	*seconds = rint(*seconds * units) / units;
}

static void round_metrics(struct metrics *metrics, double units)
{
	double *all[] = {&metrics->python_s, &metrics->native_s, &metrics->system_s,
			 &metrics->wait_s,   &metrics->idle_s,	 &metrics->cpu_s,
			 &metrics->gil_s,    &metrics->gc_s,	 &metrics->gpu_s};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		round_seconds(all[i], units);
	metrics->alloc_bytes = rint(metrics->alloc_bytes);
	metrics->kept_bytes = rint(metrics->kept_bytes);
	metrics->copy_bytes = rint(metrics->copy_bytes);
	metrics->at_peak_bytes = rint(metrics->at_peak_bytes);
}

static void round_memory(struct memory *memory)
{
	memory->python_bytes = rint(memory->python_bytes);
	memory->alloc_count = rint(memory->alloc_count);
	memory->peak_bytes = rint(memory->peak_bytes);
	memory->average_bytes = fmin(rint(memory->average_bytes), memory->peak_bytes);
	memory->at_peak_bytes = rint(memory->at_peak_bytes);
	memory->leak_bytes_per_s = rint(memory->leak_bytes_per_s);
	round_seconds(&memory->leak_likelihood, 1e6);
}

static void round_gpu(struct gpu_figures *figures)
{
	double *seconds[] = {&figures->kernel_s, &figures->copy_s, &figures->wait_s,
			     &figures->idle_s};
	for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++)
		round_seconds(seconds[i], 1e9);
}

static void round_async_figures(struct async_figures *figures)
{
	round_seconds(&figures->await_s, 1e9);
	round_seconds(&figures->concurrency_mean, 1e3);
	round_seconds(&figures->concurrency_peak, 1e3);
}

static void round_async(struct profile *profile)
{
	round_seconds(&profile->await_s, 1e9);
	for (uint32_t i = 0; i < profile->blocking_count; i++) {
		round_seconds(&profile->blocking[i].longest_s, 1e9);
		round_seconds(&profile->blocking[i].total_s, 1e9);
	}
}

/* Milliseconds and whole KiB are enough to draw a curve. */
static void round_points(struct memory_point *points, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		round_seconds(&points[i].time_s, 1e3);
		points[i].live_bytes = rint(points[i].live_bytes / 1024) * 1024;
		points[i].resident_bytes = rint(points[i].resident_bytes / 1024) * 1024;
	}
}

static void round_profile_memory(struct profile *profile)
{
	round_memory(&profile->memory);
	round_seconds(&profile->peak_s, 1e9);
	profile->peak_python_bytes = rint(profile->peak_python_bytes);
	profile->peak_resident_bytes = rint(profile->peak_resident_bytes);
	profile->threads_alloc_bytes = rint(profile->threads_alloc_bytes);
	round_points(profile->footprint, profile->footprint_count);
}

static int compare_lines(const void *a, const void *b)
{
	const struct profile_line *left = a, *right = b;
	return (left->line > right->line) - (left->line < right->line);
}

static int compare_functions(const void *a, const void *b)
{
	const struct profile_function *left = a, *right = b;
	if (left->first_line != right->first_line)
		return left->first_line < right->first_line ? -1 : 1;
	return strcmp(left->name, right->name);
}

static int compare_columns(const void *a, const void *b)
{
	const struct column_range *left = a, *right = b;
	if (left->self_s != right->self_s)
		return left->self_s > right->self_s ? -1 : 1;
	if (left->column != right->column)
		return left->column < right->column ? -1 : 1;
	if (left->line_end != right->line_end)
		return left->line_end < right->line_end ? -1 : 1;
	return (left->column_end > right->column_end) - (left->column_end < right->column_end);
}

static int compare_times(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;
	return (left > right) - (left < right);
}

static void finish_line(struct profile_line *line)
{
	if (line->sample_times > 1)
		qsort(line->sample_times_s, line->sample_times, sizeof(*line->sample_times_s),
		      compare_times);
	round_metrics(&line->self, 1e9);
	round_memory(&line->memory);
	round_gpu(&line->gpu);
	round_async_figures(&line->async);
	round_points(line->memory_points, line->memory_point_count);
	round_seconds(&line->inclusive_s, 1e9);
	for (uint32_t i = 0; i < line->column_count; i++)
		round_seconds(&line->columns[i].self_s, 1e9);
	if (line->column_count > 1)
		qsort(line->columns, line->column_count, sizeof(*line->columns), compare_columns);
	if (line->column_count > LINE_COLUMNS_MAX)
		line->column_count = LINE_COLUMNS_MAX;
}

void book_finish_file(struct profile_file *file)
{
	if (file->line_count)
		qsort(file->lines, file->line_count, sizeof(*file->lines), compare_lines);
	if (file->function_count)
		qsort(file->functions, file->function_count, sizeof(*file->functions),
		      compare_functions);
	file->self = (struct metrics){0};
	for (uint32_t i = 0; i < file->line_count; i++) {
		finish_line(&file->lines[i]);
		metrics_add(&file->self, &file->lines[i].self);
	}
	for (uint32_t i = 0; i < file->function_count; i++) {
		round_metrics(&file->functions[i].self, 1e9);
		round_memory(&file->functions[i].memory);
		round_gpu(&file->functions[i].gpu);
		round_async_figures(&file->functions[i].async);
		round_seconds(&file->functions[i].inclusive_s, 1e9);
	}
}

void profile_settle(struct profile *profile)
{
	round_seconds(&profile->outside_s, 1e9);
	round_seconds(&profile->omitted_s, 1e9);
	round_seconds(&profile->startup_s, 1e9);
	round_seconds(&profile->elapsed_s, 1e9);
	round_async(profile);
	round_metrics(&profile->sum, 1e9);
	round_gpu(&profile->gpu.sum);
	round_seconds(&profile->gpu.busy_s, 1e9);
	round_seconds(&profile->gpu.idle_s, 1e9);
	round_profile_memory(profile);
	profile->total_s = profile->outside_s;
	for (uint32_t i = 0; i < profile->file_count; i++) {
		book_finish_file(&profile->files[i]);
		profile->total_s += metrics_seconds(&profile->files[i].self);
	}
	round_seconds(&profile->total_s, 1e9);
	for (uint32_t i = 0; i < profile->stack_count; i++)
		round_metrics(&profile->stacks[i].self, 1e6);
	for (uint32_t i = 0; i < profile->thread_count; i++)
		round_metrics(&profile->threads[i].self, 1e9);
	book_index_free(profile->book);
	profile->book = NULL;
}

void profile_finish(struct profile *profile)
{
	profile_settle(profile);
	source_load_hottest(profile, SOURCE_BYTES_HELD);
	advice_make(profile);
}
