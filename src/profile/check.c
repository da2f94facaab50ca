/* check.c - hold a profile to limits. */
#include "profile/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"

static void add(struct check_result *result, struct check_finding finding)
{
	vec_reserve(result->findings, result->room, result->count);
	result->findings[result->count++] = finding;
	result->broken += finding.is_broken;
}

/* Growth beyond the limit counts when it is beyond noise.  What was nothing before
 * grows without bound. */
static void add_growth(struct check_result *result, enum check_kind kind,
		       const struct diff_value *value, double limit, const struct diff_line *line)
{
	bool is_beyond = value->after > value->before * (1 + limit) && value->after > value->before;
	add(result, (struct check_finding){.kind = kind, .value = *value, .limit = limit,
					   .line = line,
					   .is_broken = is_beyond && value->is_real,
					   .is_noise = is_beyond && !value->is_real});
}

static void add_absolute(struct check_result *result, enum check_kind kind, double before,
			 double after, double limit)
{
	add(result, (struct check_finding){.kind = kind, .value = {before, after, true},
					   .limit = limit, .is_broken = after > limit});
}

/* Whether the path ends with these whole names: "b.py" and "a/b.py" for "/x/a/b.py". */
static bool is_path_end(const char *path, const char *end)
{
	size_t size = strlen(path), end_size = strlen(end);
	return end_size > 0 && text_ends_with(path, end) &&
	       (size == end_size || end[0] == '/' || path[size - end_size - 1] == '/');
}

static bool has_file(const struct profile *profile, const char *end)
{
	for (uint32_t i = 0; i < profile->file_count; i++) {
		if (is_path_end(profile->files[i].path, end))
			return true;
	}
	return false;
}

/* A line without figures took nothing, and breaks no limit. */
static void check_place(const struct profile_diff *diff, const struct check_limits *limits,
			const struct check_place *place, struct check_result *result)
{
	for (uint32_t i = 0; i < diff->line_count; i++) {
		const struct diff_line *line = &diff->lines[i];
		const struct profile_line *after = line->line[DIFF_AFTER];
		if (!after || after->line != place->line ||
		    !is_path_end(line->file[DIFF_AFTER]->path, place->path))
			continue;
		if (limits->max_slowdown >= 0)
			add_growth(result, CHECK_SLOWDOWN, &line->time_s, limits->max_slowdown,
				   line);
		if (limits->max_memory_growth >= 0)
			add_growth(result, CHECK_MEMORY_GROWTH, &line->peak_bytes,
				   limits->max_memory_growth, line);
	}
}

static void check_growth(const struct profile_diff *diff, const struct check_limits *limits,
			 struct check_result *result)
{
	for (uint32_t i = 0; i < limits->place_count; i++)
		check_place(diff, limits, &limits->places[i], result);
	if (limits->place_count)
		return;
	if (limits->max_slowdown >= 0)
		add_growth(result, CHECK_SLOWDOWN, &diff->total_s, limits->max_slowdown, NULL);
	if (limits->max_memory_growth >= 0)
		add_growth(result, CHECK_MEMORY_GROWTH, &diff->peak_bytes,
			   limits->max_memory_growth, NULL);
}

/* Whether what the limits speak of is there to be checked. */
static int check_input(const struct profile *profile, const struct profile_diff *diff,
		       const struct check_limits *limits, struct err *err)
{
	bool has_growth = limits->max_slowdown >= 0 || limits->max_memory_growth >= 0;
	if (has_growth && !diff)
		return err_set(err, ERR_USAGE,
			       "a limit on growth needs a profile to compare with: "
			       "--baseline FILE");
	if (!has_growth && limits->place_count)
		return err_set(err, ERR_USAGE,
			       "--line needs a limit: --max-slowdown or --max-memory-growth");
	if (!has_growth && limits->max_time_s < 0 && limits->max_peak_bytes < 0)
		return err_set(err, ERR_USAGE,
			       "there is no limit to check; give --max-slowdown, "
			       "--max-memory-growth, --max-time or --max-peak");
	if (limits->max_memory_growth >= 0 && !diff->has_memory)
		return err_set(err, ERR_USAGE,
			       "--max-memory-growth needs memory figures in both profiles");
	if (limits->max_peak_bytes >= 0 && !profile->has_memory)
		return err_set(err, ERR_USAGE, "--max-peak needs memory figures in the profile");
	for (uint32_t i = 0; i < limits->place_count; i++) {
		if (!has_file(profile, limits->places[i].path))
			return err_set(err, ERR_USAGE, "there is no file '%s' in the profile",
				       limits->places[i].path);
	}
	return 0;
}

int profile_check(const struct profile *profile, const struct profile_diff *diff,
		  const struct check_limits *limits, struct check_result *result, struct err *err)
{
	int status = check_input(profile, diff, limits, err);
	if (status)
		return status;
	*result = (struct check_result){0};
	if (diff)
		check_growth(diff, limits, result);
	if (limits->max_time_s >= 0)
		add_absolute(result, CHECK_TIME, diff ? diff->elapsed_s.before : 0,
			     profile->elapsed_s, limits->max_time_s);
	if (limits->max_peak_bytes >= 0)
		add_absolute(result, CHECK_PEAK, diff ? diff->peak_bytes.before : 0,
			     profile->memory.peak_bytes, limits->max_peak_bytes);
	return 0;
}

void check_result_fini(struct check_result *result)
{
	free(result->findings);
	*result = (struct check_result){0};
}
