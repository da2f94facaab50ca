/* write_files.c - the records of files, lines and functions. */
#include <string.h>

#include "base/buf.h"
#include "profile/regions.h"
#include "profile/source.h"
#include "profile/write_parts.h"

void write_seconds(struct json_out *out, const struct metrics *metrics)
{
	json_put_number(out, "python_s", metrics->python_s, DECIMALS_SECONDS);
	json_put_number(out, "native_s", metrics->native_s, DECIMALS_SECONDS);
	json_put_number(out, "system_s", metrics->system_s, DECIMALS_SECONDS);
	json_put_number(out, "wait_s", metrics->wait_s, DECIMALS_SECONDS);
	json_put_number(out, "cpu_s", metrics->cpu_s, DECIMALS_SECONDS);
	if (metrics->idle_s > 0)
		json_put_number(out, "idle_s", metrics->idle_s, DECIMALS_SECONDS);
	if (metrics->gil_s > 0)
		json_put_number(out, "gil_s", metrics->gil_s, DECIMALS_SECONDS);
	if (metrics->gc_s > 0)
		json_put_number(out, "gc_s", metrics->gc_s, DECIMALS_SECONDS);
}

static void write_percent(struct json_out *out, const struct write_plan *plan, const char *key,
			  double seconds)
{
	json_put_number(out, key, profile_percent(plan->profile, seconds), DECIMALS_PERCENT);
}

/* The keys that Scalene requires of every record. */
static void write_scalene_figures(struct json_out *out, const struct write_plan *plan,
				  const struct metrics *self, const struct memory *memory,
				  const struct gpu_figures *gpu)
{
	write_percent(out, plan, "n_cpu_percent_python", self->python_s);
	write_percent(out, plan, "n_cpu_percent_c", self->native_s);
	write_percent(out, plan, "n_sys_percent", self->system_s + self->wait_s);
	double utilization = profile_core_utilization(self);
	json_put_number(out, "n_core_utilization", utilization, DECIMALS_FRACTION);
	write_scalene_gpu(out, plan, self, gpu);
	write_scalene_memory(out, plan, self, memory);
}

static void write_own_figures(struct json_out *out, const struct write_plan *plan,
			      const struct metrics *self, const struct memory *memory,
			      double inclusive_s)
{
	double low, high;
	double share = profile_percent(plan->profile, metrics_seconds(self)) / 100;
	profile_share_interval(share, plan->profile->sum.samples, &low, &high);
	write_percent(out, plan, "n_wait_percent", self->wait_s);
	if (self->gil_s > 0)
		write_percent(out, plan, "n_gil_wait_percent", self->gil_s);
	if (self->gc_s > 0)
		write_percent(out, plan, "n_gc_percent", self->gc_s);
	const char *waits_for = metrics_waits_for(self);
	if (waits_for)
		json_put_text(out, "waits_for", waits_for);
	write_percent(out, plan, "n_inclusive_percent", inclusive_s);
	json_put_unsigned(out, "n_samples", self->samples);
	json_put_number(out, "n_percent_low", low * 100, DECIMALS_PERCENT);
	json_put_number(out, "n_percent_high", high * 100, DECIMALS_PERCENT);
	write_seconds(out, self);
	json_put_number(out, "inclusive_s", inclusive_s, DECIMALS_SECONDS);
	write_own_memory(out, plan, self, memory);
}

static void write_region(struct json_out *out, const struct line_region *region)
{
	json_put_unsigned(out, "start_region_line", region->region_start);
	json_put_unsigned(out, "end_region_line", region->region_end);
	json_put_unsigned(out, "start_outermost_loop", region->loop_start);
	json_put_unsigned(out, "end_outermost_loop", region->loop_end);
	json_put_unsigned(out, "start_function_line", region->function_start);
	json_put_unsigned(out, "end_function_line", region->function_end);
}

static void write_times(struct json_out *out, const struct write_plan *plan,
			const struct profile_line *line)
{
	json_begin_array(out, "cpu_samples_list");
	uint32_t count = line ? line->sample_times : 0;
	uint32_t kept = count < plan->times_per_line ? count : plan->times_per_line;
	for (uint32_t i = 0; i < kept; i++) {
		uint32_t at = (uint32_t)((uint64_t)i * count / kept);
		double start_s = plan->profile->start_time_perf_s;
		json_put_number(out, NULL, start_s + line->sample_times_s[at], DECIMALS_TIME);
	}
	json_end_array(out);
}

/* [[line, column, end line, end column, seconds], ...] */
static void write_columns(struct json_out *out, const struct profile_line *line)
{
	json_begin_array(out, "columns");
	for (uint32_t i = 0; i < line->column_count; i++) {
		const struct column_range *range = &line->columns[i];
		json_begin_array(out, NULL);
		json_put_unsigned(out, NULL, line->line);
		json_put_integer(out, NULL, range->column);
		json_put_integer(out, NULL, range->line_end);
		json_put_integer(out, NULL, range->column_end);
		json_put_number(out, NULL, range->self_s, DECIMALS_SECONDS);
		json_end_array(out);
	}
	json_end_array(out);
}

/* What is the same for all lines of a file being written. */
struct line_writer {
	struct json_out *out;
	const struct write_plan *plan;
	struct regions regions;    /* of the source; empty without one */
	struct source_lines lines; /* as above */
	struct buf text;           /* of the current line */
};

/* The line's place: from the source, else as a reduced profile kept it. */
static struct line_region find_region(const struct line_writer *writer, uint32_t number,
				      const struct profile_line *line)
{
	if (!writer->lines.count && line && line->region.region_start)
		return line->region;
	return regions_line(&writer->regions, number);
}

static void set_text(struct line_writer *writer, uint32_t number, const struct profile_line *line)
{
	buf_clear(&writer->text);
	if (!writer->lines.count && line && line->text) {
		buf_text(&writer->text, line->text);
	} else {
		size_t size;
		const char *start = source_line(&writer->lines, number, &size);
		buf_append(&writer->text, start, size);
	}
	buf_char(&writer->text, '\n');
}

/* line is NULL where there are no figures. */
static void write_line(struct line_writer *writer, uint32_t number, const struct profile_line *line)
{
	static const struct profile_line nothing;
	const struct profile_line *figures = line ? line : &nothing;
	struct json_out *out = writer->out;
	struct line_region region = find_region(writer, number, line);
	set_text(writer, number, line);
	json_put_newline(out);
	json_begin_object(out, NULL);
	json_put_unsigned(out, "lineno", number);
	json_put_bytes(out, "line", writer->text.data, writer->text.size);
	write_scalene_figures(out, writer->plan, &figures->self, &figures->memory,
			      &figures->gpu);
	write_line_points(out, writer->plan, line);
	write_times(out, writer->plan, line);
	write_region(out, &region);
	if (line) {
		write_own_figures(out, writer->plan, &line->self, &line->memory, line->inclusive_s);
		write_own_gpu(out, writer->plan, &line->self, &line->gpu);
		write_async_figures(out, writer->plan->profile, &line->async);
		write_columns(out, line);
	}
	json_end_object(out);
}

static void write_lines(struct json_out *out, const struct write_plan *plan,
			const struct profile_file *file, bool has_all)
{
	struct line_writer writer = {.out = out, .plan = plan};
	if (file->source) {
		regions_find(&writer.regions, file->source, file->source_size);
		source_lines_init(&writer.lines, file->source, file->source_size);
	}
	buf_init(&writer.text, SOURCE_MAX_BYTES * 4);
	json_begin_array(out, "lines");
	uint32_t number = 1;
	for (uint32_t i = 0; i < file->line_count; i++) {
		const struct profile_line *line = &file->lines[i];
		if (!write_plan_keeps_line(plan, line))
			continue;
		for (; has_all && number < line->line && number <= writer.lines.count; number++)
			write_line(&writer, number, NULL);
		write_line(&writer, line->line, line);
		number = line->line + 1;
	}
	for (; has_all && number <= writer.lines.count; number++)
		write_line(&writer, number, NULL);
	json_end_array(out);
	buf_fini(&writer.text);
	source_lines_fini(&writer.lines);
	regions_fini(&writer.regions);
}

static void write_functions(struct json_out *out, const struct write_plan *plan,
			    const struct profile_file *file)
{
	json_begin_array(out, "functions");
	for (uint32_t i = 0; i < file->function_count; i++) {
		const struct profile_function *function = &file->functions[i];
		if (!write_plan_keeps_function(plan, function))
			continue;
		json_put_newline(out);
		json_begin_object(out, NULL);
		json_put_unsigned(out, "lineno", function->first_line);
		json_put_text(out, "line", function->name);
		write_scalene_figures(out, plan, &function->self, &function->memory, &function->gpu);
		write_line_points(out, plan, NULL);
		write_times(out, plan, NULL);
		write_own_figures(out, plan, &function->self, &function->memory,
				  function->inclusive_s);
		write_own_gpu(out, plan, &function->self, &function->gpu);
		write_async_figures(out, plan->profile, &function->async);
		json_end_object(out);
	}
	json_end_array(out);
}

static void write_file(struct json_out *out, const struct write_plan *plan, uint32_t index,
		       enum file_mode mode)
{
	const struct profile_file *file = &plan->profile->files[index];
	json_put_newline(out);
	json_begin_object(out, file->path);
	write_percent(out, plan, "percent_cpu_time", metrics_seconds(&plan->self[index]));
	if (mode != FILE_ALL_LINES)
		json_put_bool(out, "reduced", true);
	json_begin_array(out, "imports");
	for (uint32_t i = 0; i < file->import_count; i++)
		json_put_text(out, NULL, file->imports[i]);
	json_end_array(out);
	write_leaks(out, plan, file);
	write_functions(out, plan, file);
	write_lines(out, plan, file, mode == FILE_ALL_LINES);
	if (mode == FILE_SOURCE)
		json_put_bytes(out, "source", file->source, file->source_size);
	json_end_object(out);
}

void write_files(struct json_out *out, const struct write_plan *plan)
{
	json_begin_object(out, "files");
	for (uint32_t i = 0; i < plan->file_count; i++)
		write_file(out, plan, plan->files[i], plan->modes[i]);
	json_end_object(out);
}
