/* query_time.c - answers about time: the summary, the hottest, source with figures. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "profile/source.h"
#include "report/query_parts.h"
#include "report/figure.h"
#include "report/outside.h"
#include "report/quality.h"
#include "report/rank.h"

#define SUMMARY_LINES 5u
#define AROUND 12u         /* lines before and after the one that was asked for */
#define MAX_SOURCE_LINES 200u
#define MAX_WARNINGS 5u

/* ---- the summary ---- */

static void put_number(struct query_answer *answer, const char *key, double value)
{
	json_object_set_new(answer->json, key, query_number(value));
}

static void put_line_row(struct query_answer *answer, const struct profile *profile,
			 const struct profile_file *file, const struct profile_line *line)
{
	char kind[32];
	size_t size;
	const char *code = query_code(file, line->line, &size);
	double seconds = metrics_seconds(&line->self);
	query_add(answer, "lines", query_line(profile, file, line), "%5.1f%%  %6s  %s:%u  [%s]  %.*s",
		   profile_percent(profile, seconds), figure_seconds(seconds).text,
		   query_path(profile, file->path), line->line, query_kind_of_time(&line->self, kind),
		   (int)size, code);
}

static double self_time(const struct profile *profile, const struct profile_line *line)
{
	return metrics_seconds(&line->self);
}

static void put_memory(struct query_answer *answer, const struct profile *profile)
{
	if (!profile->has_memory)
		return;
	put_number(answer, "peak_mb", profile->memory.peak_bytes / MB);
	put_number(answer, "allocated_mb", profile->sum.alloc_bytes / MB);
	put_number(answer, "copied_mb", profile->sum.copy_bytes / MB);
	query_say(answer, "Memory: peak %s, allocated %s, copied %s",
		   figure_bytes(profile->memory.peak_bytes).text,
		   figure_bytes(profile->sum.alloc_bytes).text,
		   figure_bytes(profile->sum.copy_bytes).text);
}

static void put_gpu(struct query_answer *answer, const struct profile *profile)
{
	if (!profile->gpu.source)
		return;
	put_number(answer, "gpu_busy_s", profile->gpu.busy_s);
	put_number(answer, "gpu_wait_s", profile->gpu.sum.wait_s);
	query_say(answer, "GPU: busy %s, waited for %s", figure_seconds(profile->gpu.busy_s).text,
		  figure_seconds(profile->gpu.sum.wait_s).text);
}

static void put_whole(struct query_answer *answer, const struct profile *profile)
{
	const struct metrics *sum = &profile->sum;
	const char *program = profile->program ? profile->program : "";
	json_object_set_new(answer->json, "program", query_text(program, strlen(program)));
	put_number(answer, "elapsed_s", profile->elapsed_s);
	put_number(answer, "total_s", profile->total_s);
	put_number(answer, "python_s", sum->python_s);
	put_number(answer, "native_s", sum->native_s);
	put_number(answer, "system_s", sum->system_s);
	put_number(answer, "wait_s", sum->wait_s);
	put_number(answer, "outside_s", profile->outside_s);
	if (profile->omitted_s > 0)
		put_number(answer, "omitted_s", profile->omitted_s);
	json_object_set_new(answer->json, "samples", json_integer((json_int_t)quality_samples(profile)));
	query_say(answer, "%s: %s elapsed, %s profiled%s%s, %u process%s", program,
		   figure_seconds(profile->elapsed_s).text, figure_seconds(profile->total_s).text,
		   profile->python_version ? ", Python " : "",
		   profile->python_version ? profile->python_version : "", profile->process_count,
		   profile->process_count == 1 ? "" : "es");
	query_say(answer, "Time: Python %s, native %s, system %s, waiting %s; %s outside of the files in scope",
		   figure_share(sum->python_s, profile->total_s).text,
		   figure_share(sum->native_s, profile->total_s).text,
		   figure_share(sum->system_s, profile->total_s).text,
		   figure_share(sum->wait_s, profile->total_s).text,
		   figure_share(outside_elsewhere(profile), profile->total_s).text);
	if (profile->omitted_s > 0)
		query_say(answer, "%s is on lines that are not in the profile, which has room for the %u "
				  "that count most",
			  figure_share(profile->omitted_s, profile->total_s).text, PROFILE_LINES_MAX);
}

static void put_quality(struct query_answer *answer, const struct profile *profile)
{
	json_t *warnings = json_array();
	query_say(answer, "Quality: %llu samples", (unsigned long long)quality_samples(profile));
	for (uint32_t i = 0; i < profile->quality.warning_count && i < MAX_WARNINGS; i++) {
		const char *warning = profile->quality.warnings[i];
		json_array_append_new(warnings, query_text(warning, strlen(warning)));
		query_say(answer, "Warning: %.300s", warning);
	}
	json_object_set_new(answer->json, "warnings", warnings);
}

static uint32_t count_lines(const struct profile *profile)
{
	uint32_t count = 0;
	for (uint32_t f = 0; f < profile->file_count; f++) {
		for (uint32_t i = 0; i < profile->files[f].line_count; i++)
			count += metrics_seconds(&profile->files[f].lines[i].self) > 0;
	}
	return count;
}

int query_summary(struct query_answer *answer, const struct profile *profile,
		   const struct profile *after, const struct question *question, struct err *err)
{
	struct ranked_line hottest[SUMMARY_LINES];
	uint32_t count = rank_lines(profile, self_time, hottest, SUMMARY_LINES);
	put_whole(answer, profile);
	put_memory(answer, profile);
	put_gpu(answer, profile);
	json_object_set_new(answer->json, "lines", json_array());
	query_say(answer, count ? "Hottest lines:" : "No line in scope took any time.");
	for (uint32_t i = 0; i < count; i++)
		put_line_row(answer, profile, hottest[i].file, hottest[i].line);
	json_object_set_new(answer->json, "advice", json_integer(profile->advice_count));
	if (profile->advice_count)
		query_say(answer, "Advice: %s:%u %s (%u in all: ask 'advice')",
			   query_path(profile, profile->advice[0].file), profile->advice[0].line,
			   profile->advice[0].title, profile->advice_count);
	put_quality(answer, profile);
	query_cut(answer, count, count_lines(profile), "lines", "ask 'hot_lines' for more");
	return 0;
}

/* ---- the hottest ---- */

/* A line, a function or a file, and what it is ranked by. */
struct candidate {
	const struct profile_file *file;
	const struct profile_line *line;         /* NULL: not a line */
	const struct profile_function *function; /* NULL: not a function */
	double value;
};

static double value_of(const char *metric, const struct metrics *self, double inclusive_s,
		       double peak_bytes)
{
	if (!metric || strcmp(metric, "time") == 0)
		return metrics_seconds(self);
	if (strcmp(metric, "inclusive") == 0)
		return inclusive_s;
	if (strcmp(metric, "python") == 0)
		return self->python_s;
	if (strcmp(metric, "native") == 0)
		return self->native_s;
	if (strcmp(metric, "wait") == 0)
		return self->wait_s;
	if (strcmp(metric, "gpu") == 0)
		return self->gpu_s;
	if (strcmp(metric, "memory") == 0)
		return self->alloc_bytes;
	return strcmp(metric, "peak") == 0 ? peak_bytes : self->copy_bytes;
}

static bool is_bytes(const char *metric)
{
	return metric && (strcmp(metric, "memory") == 0 || strcmp(metric, "peak") == 0 ||
			  strcmp(metric, "copied") == 0);
}

static double whole_of(const struct profile *profile, const char *metric)
{
	if (!is_bytes(metric))
		return profile->total_s;
	if (strcmp(metric, "memory") == 0)
		return profile->sum.alloc_bytes;
	return strcmp(metric, "peak") == 0 ? profile->memory.peak_bytes : profile->sum.copy_bytes;
}

static int by_value(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;
	if (left->value != right->value)
		return left->value < right->value ? 1 : -1;
	return (left > right) - (left < right);
}

/* Everything of this kind; the caller frees. */
static struct candidate *gather(const struct profile *profile, const struct question *question,
				uint32_t *count)
{
	bool is_file = question->by && strcmp(question->by, "file") == 0;
	bool is_function = question->by && strcmp(question->by, "function") == 0;
	size_t room = profile->file_count;
	for (uint32_t f = 0; f < profile->file_count; f++)
		room += is_function ? profile->files[f].function_count : profile->files[f].line_count;
	struct candidate *all = mem_zalloc(room, sizeof(*all));
	*count = 0;
	for (uint32_t f = 0; f < profile->file_count; f++) {
		const struct profile_file *file = &profile->files[f];
		uint32_t items = is_file ? 1 : is_function ? file->function_count : file->line_count;
		for (uint32_t i = 0; i < items; i++) {
			struct candidate one = {.file = file};
			if (is_file) {
				one.value = value_of(question->metric, &file->self, 0, 0);
			} else if (is_function) {
				one.function = &file->functions[i];
				one.value = value_of(question->metric, &one.function->self,
						     one.function->inclusive_s,
						     one.function->memory.peak_bytes);
			} else {
				one.line = &file->lines[i];
				one.value = value_of(question->metric, &one.line->self,
						     one.line->inclusive_s, one.line->memory.peak_bytes);
			}
			if (one.value > 0)
				all[(*count)++] = one;
		}
	}
	if (*count)
		qsort(all, *count, sizeof(*all), by_value);
	return all;
}

static json_t *function_row(const struct profile *profile, const struct candidate *one)
{
	const char *path = query_path(profile, one->file->path);
	const struct metrics *self = one->function ? &one->function->self : &one->file->self;
	double seconds = metrics_seconds(self);
	json_t *row = json_object();
	json_object_set_new(row, "file", query_text(path, strlen(path)));
	if (one->function) {
		json_object_set_new(row, "line", json_integer(one->function->first_line));
		json_object_set_new(row, "function",
				    query_text(one->function->name, strlen(one->function->name)));
		json_object_set_new(row, "inclusive_percent",
				    query_number(profile_percent(profile, one->function->inclusive_s)));
	}
	json_object_set_new(row, "percent", query_number(profile_percent(profile, seconds)));
	json_object_set_new(row, "seconds", query_number(seconds));
	return row;
}

static bool put_candidate(struct query_answer *answer, const struct profile *profile,
			  const struct question *question, const struct candidate *one)
{
	double whole = whole_of(profile, question->metric);
	double percent = whole > 0 ? 100 * one->value / whole : 0;
	const char *path = query_path(profile, one->file->path);
	struct figure figure = is_bytes(question->metric) ? figure_bytes(one->value)
							  : figure_seconds(one->value);
	json_t *row = one->line ? query_line(profile, one->file, one->line)
				: function_row(profile, one);
	char kind[32];
	size_t size;
	json_object_set_new(row, "value_percent", query_number(percent));
	if (one->line) {
		const char *code = query_code(one->file, one->line->line, &size);
		return query_add(answer, "lines", row, "%5.1f%%  %6s  %s:%u  [%s]  %.*s", percent,
				  figure.text, path, one->line->line,
				  query_kind_of_time(&one->line->self, kind), (int)size, code);
	}
	if (one->function)
		return query_add(answer, "functions", row, "%5.1f%%  %6s  %s  %s:%u", percent, figure.text,
				  one->function->name, path, one->function->first_line);
	return query_add(answer, "files", row, "%5.1f%%  %6s  %s", percent, figure.text, path);
}

int query_hot(struct query_answer *answer, const struct profile *profile, const struct profile *after,
	       const struct question *question, struct err *err)
{
	const char *by = question->by ? question->by : "line";
	const char *metric = question->metric ? question->metric : "time";
	char list[16];
	if (is_bytes(metric) && !profile->has_memory)
		return err_set(err, ERR_USAGE, "memory was not measured in this profile");
	if (is_bytes(metric) && strcmp(metric, "peak") == 0 && strcmp(by, "file") == 0)
		return err_set(err, ERR_USAGE, "the peak is known by line and by function, not by file");
	uint32_t count, shown = 0;
	struct candidate *all = gather(profile, question, &count);
	double least = question->min_percent / 100 * whole_of(profile, metric);
	snprintf(list, sizeof(list), "%ss", by);
	json_object_set_new(answer->json, "metric", json_string(metric));
	json_object_set_new(answer->json, list, json_array());
	if (!count)
		query_say(answer, "Nothing in scope has any %s.", metric);
	while (shown < count && shown < query_top(question) && all[shown].value >= least &&
	       put_candidate(answer, profile, question, &all[shown]))
		shown++;
	query_cut(answer, shown, count, list, "ask with a larger top or a smaller min_percent");
	free(all);
	return 0;
}

/* ---- source with figures ---- */

static const struct profile_line *hottest_of(const struct profile_file *file)
{
	const struct profile_line *hottest = &file->lines[0];
	for (uint32_t i = 1; i < file->line_count; i++) {
		if (metrics_seconds(&file->lines[i].self) > metrics_seconds(&hottest->self))
			hottest = &file->lines[i];
	}
	return hottest;
}

/* The lines of the function that was asked for by its name. */
static void enter_function(const struct profile *profile, struct query_place *place)
{
	for (uint32_t f = 0; f < profile->file_count && !place->file; f++) {
		const struct profile_file *file = &profile->files[f];
		for (uint32_t i = 0; i < file->function_count && !place->file; i++) {
			if (strcmp(file->functions[i].name, place->function) != 0)
				continue;
			place->file = file;
			place->first = place->last = file->functions[i].first_line;
		}
	}
	const struct profile_file *file = place->file;
	for (uint32_t i = 0; i < file->line_count; i++) {
		const struct line_region *region = &file->lines[i].region;
		if (file->lines[i].line > place->first && region->function_start >= place->first &&
		    region->function_start < place->first + AROUND &&
		    region->function_end > place->last)
			place->last = region->function_end;
	}
}

/* A single line, or a file, is shown with what is around it. */
static void widen(struct query_place *place)
{
	if (place->first == 0)
		place->first = place->last = hottest_of(place->file)->line;
	if (place->first == place->last) {
		place->first = place->first > AROUND ? place->first - AROUND : 1;
		place->last += AROUND;
	}
}

static bool put_source_line(struct query_answer *answer, const struct profile *profile,
			    const struct profile_file *file, uint32_t number, const char *code,
			    size_t size)
{
	const struct profile_line *line = profile_find_line(file, number);
	json_t *row = line ? query_line(profile, file, line) : json_object();
	char figures[64] = "", kind[32];
	size = size < 300 ? size : 300;
	json_object_del(row, "file");
	json_object_set_new(row, "line", json_integer(number));
	json_object_set_new(row, "text", query_text(code, size));
	if (line && metrics_seconds(&line->self) > 0)
		snprintf(figures, sizeof(figures), "%5.1f%% %s",
			 profile_percent(profile, metrics_seconds(&line->self)),
			 query_kind_of_time(&line->self, kind));
	else if (line && line->inclusive_s > 0)
		snprintf(figures, sizeof(figures), "(%4.1f%% below)",
			 profile_percent(profile, line->inclusive_s));
	return query_add(answer, "lines", row, "%5u  %-20s  %.*s", number, figures, (int)size, code);
}

int query_source(struct query_answer *answer, const struct profile *profile,
		  const struct profile *after, const struct question *question, struct err *err)
{
	struct query_place place;
	struct source_lines lines;
	int status = query_find_place(profile, question->at, &place, err);
	if (status)
		return status;
	if (!place.file)
		enter_function(profile, &place);
	if (!place.file->source)
		return err_set(err, ERR_NOT_FOUND, "the profile does not hold the source of '%s'",
			       place.file->path);
	widen(&place);
	source_lines_init(&lines, place.file->source, place.file->source_size);
	const char *path = query_path(profile, place.file->path);
	json_object_set_new(answer->json, "file", query_text(path, strlen(path)));
	json_object_set_new(answer->json, "lines", json_array());
	uint32_t last = place.last < lines.count ? place.last : lines.count, shown = 0;
	uint32_t asked = last >= place.first ? last - place.first + 1 : 0;
	query_say(answer, "%s, %u lines in all", path, lines.count);
	for (uint32_t n = place.first; n <= last && shown < MAX_SOURCE_LINES; n++, shown++) {
		size_t size;
		const char *code = source_line(&lines, n, &size);
		if (!put_source_line(answer, profile, place.file, n, code, size))
			break;
	}
	query_cut(answer, shown, asked, "lines", "ask for the rest as FILE:FROM-TO");
	source_lines_fini(&lines);
	return 0;
}
