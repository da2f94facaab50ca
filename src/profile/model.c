/* model.c - make, free and ask a profile. */
#include "profile/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/mem.h"
#include "base/text.h"
#include "profile/book_index.h"

const char *const timeline_kind_names[TIMELINE_KINDS] = {
	[TIMELINE_PYTHON] = "python", [TIMELINE_NATIVE] = "native", [TIMELINE_SYSTEM] = "system",
	[TIMELINE_WAIT] = "wait",     [TIMELINE_GIL] = "gil",       [TIMELINE_GC] = "gc",
};

const char *const wait_kind_names[WAIT_KINDS] = {
	[WAIT_LOCK] = "lock",         [WAIT_QUEUE] = "queue", [WAIT_SOCKET] = "socket",
	[WAIT_EVENTS] = "events",
	[WAIT_FILE] = "file",         [WAIT_PIPE] = "pipe",   [WAIT_TERMINAL] = "terminal",
	[WAIT_SLEEP] = "sleep",       [WAIT_CHILD] = "child", [WAIT_OTHER] = "other",
};

struct profile *profile_new(void)
{
	struct profile *profile = mem_zalloc(1, sizeof(*profile));
	profile->strings = intern_new();
	profile->shown_percent = 1;
	return profile;
}

static void file_fini(struct profile_file *file)
{
	for (uint32_t i = 0; i < file->line_count; i++) {
		free(file->lines[i].sample_times_s);
		free(file->lines[i].columns);
		free(file->lines[i].memory_points);
		free(file->lines[i].async.names);
	}
	for (uint32_t i = 0; i < file->function_count; i++)
		free(file->functions[i].async.names);
	free(file->lines);
	free(file->functions);
	free(file->source);
	free(file->imports);
	free(file->reported);
}

static void timeline_fini(struct profile_timeline *timeline)
{
	for (uint32_t i = 0; i < timeline->thread_count; i++)
		free(timeline->threads[i].ms);
	free(timeline->threads);
	free(timeline->stacks);
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	book_index_free(profile->book);
	for (uint32_t i = 0; i < profile->file_count; i++)
		file_fini(&profile->files[i]);
	free(profile->files);
	free(profile->footprint);
	free(profile->blocking);
	free(profile->gpu.devices);
	free(profile->gpu.utilisation);
	free(profile->gpu.memory_bytes);
	free(profile->stacks);
	free(profile->thread_stacks);
	free(profile->idle_stacks);
	timeline_fini(&profile->timeline);
	free(profile->threads);
	free(profile->processes);
	free(profile->quality.lost);
	free(profile->quality.warnings);
	free(profile->advice);
	free(profile->marks);
	free(profile->args);
	intern_free(profile->strings);
	free(profile);
}

const char *profile_intern(struct profile *profile, const char *text)
{
	return intern_text(profile->strings, text);
}

struct profile_process profile_copy_process(struct profile *to, const struct profile_process *from)
{
	struct profile_process process = *from;
	process.command = profile_intern(to, from->command);
	process.name = profile_intern(to, from->name);
	process.python = profile_intern(to, from->python);
	process.ended = profile_intern(to, from->ended);
	process.note = profile_intern(to, from->note);
	return process;
}

void metrics_add(struct metrics *sum, const struct metrics *part)
{
	sum->python_s += part->python_s;
	sum->native_s += part->native_s;
	sum->system_s += part->system_s;
	sum->wait_s += part->wait_s;
	sum->idle_s += part->idle_s;
	sum->cpu_s += part->cpu_s;
	sum->gil_s += part->gil_s;
	sum->gc_s += part->gc_s;
	sum->gpu_s += part->gpu_s;
	for (uint32_t i = 0; i < WAIT_KINDS; i++)
		sum->waits_s[i] += part->waits_s[i];
	sum->samples += part->samples;
	sum->alloc_bytes += part->alloc_bytes;
	sum->kept_bytes += part->kept_bytes;
	sum->copy_bytes += part->copy_bytes;
	sum->at_peak_bytes += part->at_peak_bytes;
}

const char *metrics_waits_for(const struct metrics *metrics)
{
	double most_s = metrics->gil_s;
	const char *name = most_s > 0 ? "GIL" : NULL;
	for (uint32_t i = 0; i < WAIT_KINDS; i++) {
		if ((double)metrics->waits_s[i] > most_s) {
			most_s = (double)metrics->waits_s[i];
			name = wait_kind_names[i];
		}
	}
	return name;
}

static double seconds_to_rank(const struct metrics *metrics)
{
	return metrics_seconds(metrics) + metrics->idle_s * 1e-3 + (double)metrics->samples * 1e-9;
}

static double share(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

double metrics_weight(const struct metrics *part, const struct metrics *sum)
{
	return share(seconds_to_rank(part), seconds_to_rank(sum)) +
	       share(part->alloc_bytes, sum->alloc_bytes) + share(part->gpu_s, sum->gpu_s) +
	       share(part->kept_bytes, sum->kept_bytes) +
	       share(part->copy_bytes, sum->copy_bytes);
}

uint32_t profile_threads_joined(const struct profile_thread *thread)
{
	return thread->joined > 0 ? thread->joined : 1;
}

uint64_t profile_count_threads(const struct profile *profile)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < profile->thread_count; i++)
		count += profile_threads_joined(&profile->threads[i]);
	return count;
}

double profile_percent(const struct profile *profile, double seconds)
{
	if (!(profile->total_s > 0) || !(seconds > 0))
		return 0;
	return fmin(100.0 * seconds / profile->total_s, 100.0);
}

void profile_share_interval(double share, uint64_t samples, double *low, double *high)
{
	if (samples == 0) {
		*low = 0;
		*high = 1;
		return;
	}
	const double z = 1.959964; /* 97.5 % quantile of the normal distribution */
	double n = (double)samples;
	double p = fmin(fmax(share, 0.0), 1.0);
	double scale = 1.0 / (1.0 + z * z / n);
	double middle = p + z * z / (2 * n);
	double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
	*low = fmax(0.0, (middle - half) * scale);
	*high = fmin(1.0, (middle + half) * scale);
}

double profile_core_utilization(const struct metrics *self)
{
	double seconds = metrics_seconds(self);
	if (!(seconds > 0) || !(self->cpu_s > 0))
		return 0;
	return fmin(self->cpu_s / seconds, 1.0);
}

const struct profile_file *profile_find_file(const struct profile *profile, const char *path)
{
	for (uint32_t i = 0; i < profile->file_count; i++) {
		if (text_equal(profile->files[i].path, path))
			return &profile->files[i];
	}
	return NULL;
}

const struct profile_line *profile_find_line(const struct profile_file *file, uint32_t line)
{
	uint32_t low = 0, high = file->line_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (file->lines[middle].line < line)
			low = middle + 1;
		else
			high = middle;
	}
	return low < file->line_count && file->lines[low].line == line ? &file->lines[low] : NULL;
}

/* The function that begins last at or before this line: functions are sorted. */
static const struct profile_function *function_before(const struct profile_file *file,
						      uint32_t line)
{
	const struct profile_function *found = NULL;
	for (uint32_t i = 0; i < file->function_count; i++) {
		if (file->functions[i].first_line <= line)
			found = &file->functions[i];
	}
	return found;
}

const struct profile_function *profile_find_function(const struct profile_file *file,
						     const struct profile_line *line)
{
	const struct line_region *region = &line->region;
	bool is_known = region->region_start > 0;
	/* A function begins at its first decorator, its region at its def. */
	if (!is_known || region->function_start > 0)
		return function_before(file, is_known ? region->function_start : line->line);
	for (uint32_t i = 0; i < file->function_count; i++) {
		if (strcmp(file->functions[i].name, "<module>") == 0)
			return &file->functions[i];
	}
	return NULL;
}
