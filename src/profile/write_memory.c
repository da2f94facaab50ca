/* write_memory.c - what the run did to memory, as JSON.
 *
 * MB are MiB, as in Scalene.  They are written with seven decimals, a tenth of
 * a byte, so that the reader gets back the very bytes; points of timelines,
 * which are whole KiB, with four. */
#include <math.h>

#include "base/units.h"
#include "profile/write_parts.h"

#define DECIMALS_MB 7
#define DECIMALS_POINT_MB 4
#define MAX_SCALENE_SAMPLES 100u

static void put_mb(struct json_out *out, const char *key, double bytes)
{
	json_put_number(out, key, bytes / MB, DECIMALS_MB);
}

static void put_fraction(struct json_out *out, const char *key, double part, double whole)
{
	double fraction = whole > 0 ? fmin(fmax(part / whole, 0), 1) : 0;
	json_put_number(out, key, fraction, DECIMALS_FRACTION);
}

static void put_count(struct json_out *out, const char *key, double count)
{
	json_put_number(out, key, rint(count), 0);
}

/* The largest point of each of `kept` stretches, so that peaks stay: [[ns, MB]]. */
static void write_points(struct json_out *out, const char *key, const struct memory_point *points,
			 uint32_t count, uint32_t most)
{
	uint32_t kept = count < most ? count : most;
	json_begin_array(out, key);
	for (uint32_t i = 0; i < kept; i++) {
		uint32_t at = (uint32_t)((uint64_t)i * count / kept);
		uint32_t end = (uint32_t)((uint64_t)(i + 1) * count / kept);
		for (uint32_t j = at; j < end; j++)
			at = points[j].live_bytes > points[at].live_bytes ? j : at;
		json_begin_array(out, NULL);
		json_put_number(out, NULL, points[at].time_s * 1e9, 0);
		json_put_number(out, NULL, points[at].live_bytes / MB, DECIMALS_POINT_MB);
		json_end_array(out);
	}
	json_end_array(out);
}

void write_scalene_memory(struct json_out *out, const struct write_plan *plan,
			  const struct metrics *self, const struct memory *memory)
{
	const struct profile *profile = plan->profile;
	double rate = profile->elapsed_s > 0 ? self->copy_bytes / profile->elapsed_s : 0;
	put_mb(out, "n_malloc_mb", self->alloc_bytes);
	put_count(out, "n_mallocs", memory->alloc_count);
	put_mb(out, "n_avg_mb", memory->average_bytes);
	put_mb(out, "n_peak_mb", memory->peak_bytes);
	put_mb(out, "n_growth_mb", self->kept_bytes);
	put_mb(out, "n_copy_mb_s", rate);
	put_fraction(out, "n_python_fraction", memory->python_bytes, self->alloc_bytes);
	put_fraction(out, "n_usage_fraction", self->alloc_bytes, profile->sum.alloc_bytes);
}

void write_line_points(struct json_out *out, const struct write_plan *plan,
		       const struct profile_line *line)
{
	write_points(out, "memory_samples", line ? line->memory_points : NULL,
		     line ? line->memory_point_count : 0, plan->points_per_line);
}

void write_own_memory(struct json_out *out, const struct write_plan *plan,
		      const struct metrics *self, const struct memory *memory)
{
	if (!plan->profile->has_memory)
		return;
	put_mb(out, "n_python_mb", memory->python_bytes);
	put_mb(out, "n_kept_mb", self->kept_bytes);
	put_mb(out, "n_at_peak_mb", memory->at_peak_bytes);
	put_mb(out, "n_copy_mb", self->copy_bytes);
}

void write_leaks(struct json_out *out, const struct write_plan *plan,
		 const struct profile_file *file)
{
	json_begin_object(out, "leaks");
	for (uint32_t i = 0; i < file->line_count; i++) {
		const struct profile_line *line = &file->lines[i];
		char number[16];
		if (!(line->memory.leak_likelihood > 0) || !write_plan_keeps_line(plan, line))
			continue;
		snprintf(number, sizeof(number), "%u", line->line);
		json_begin_object(out, number);
		json_put_number(out, "likelihood", line->memory.leak_likelihood, DECIMALS_FRACTION);
		put_mb(out, "velocity_mb_s", line->memory.leak_bytes_per_s);
		json_end_object(out);
	}
	json_end_object(out);
}

/* The line that holds the largest part of the peak, as Scalene names one. */
static const struct profile_line *find_peak_line(const struct write_plan *plan,
						 const struct profile_file **file)
{
	const struct profile_line *largest = NULL;
	for (uint32_t i = 0; i < plan->file_count; i++) {
		const struct profile_file *at = &plan->profile->files[plan->files[i]];
		for (uint32_t j = 0; j < at->line_count; j++) {
			const struct profile_line *line = &at->lines[j];
			double least = largest ? largest->memory.at_peak_bytes : 0;
			if (line->memory.at_peak_bytes > least && write_plan_keeps_line(plan, line)) {
				largest = line;
				*file = at;
			}
		}
	}
	return largest;
}

void write_memory_summary(struct json_out *out, const struct write_plan *plan)
{
	const struct profile *profile = plan->profile;
	const struct metrics *sum = &profile->sum;
	const struct profile_file *file = NULL;
	const struct profile_line *line = find_peak_line(plan, &file);
	double growth = sum->alloc_bytes > 0 ? 100 * sum->kept_bytes / sum->alloc_bytes : 0;
	json_put_newline(out);
	json_put_bool(out, "memory", profile->has_memory);
	json_put_unsigned(out, "alloc_samples", profile->alloc_samples);
	json_put_number(out, "growth_rate", growth, DECIMALS_PERCENT);
	json_put_text(out, "max_footprint_fname", line ? file->path : NULL);
	if (line)
		json_put_unsigned(out, "max_footprint_lineno", line->line);
	else
		json_put_null(out, "max_footprint_lineno");
	put_mb(out, "max_footprint_mb", profile->memory.peak_bytes);
	put_fraction(out, "max_footprint_python_fraction", profile->peak_python_bytes,
		     profile->memory.peak_bytes);
	put_mb(out, "native_allocations_mb", profile->threads_alloc_bytes);
	write_points(out, "samples", profile->footprint, profile->footprint_count,
		     MAX_SCALENE_SAMPLES);
}

void write_memory_object(struct json_out *out, const struct profile *profile)
{
	json_put_newline(out);
	json_begin_object(out, "memory");
	put_mb(out, "peak_mb", profile->memory.peak_bytes);
	json_put_number(out, "peak_s", profile->peak_s, DECIMALS_SECONDS);
	put_mb(out, "peak_python_mb", profile->peak_python_bytes);
	put_mb(out, "peak_rss_mb", profile->peak_resident_bytes);
	put_mb(out, "average_mb", profile->memory.average_bytes);
	put_mb(out, "allocated_mb", profile->sum.alloc_bytes);
	put_count(out, "allocations", profile->memory.alloc_count);
	put_mb(out, "python_mb", profile->memory.python_bytes);
	put_mb(out, "kept_mb", profile->sum.kept_bytes);
	put_mb(out, "copied_mb", profile->sum.copy_bytes);
	json_begin_array(out, "timeline");
	for (uint32_t i = 0; i < profile->footprint_count; i++) {
		const struct memory_point *point = &profile->footprint[i];
		json_begin_array(out, NULL);
		json_put_number(out, NULL, point->time_s, DECIMALS_TIME);
		json_put_number(out, NULL, point->live_bytes / MB, DECIMALS_POINT_MB);
		json_put_number(out, NULL, point->resident_bytes / MB, DECIMALS_POINT_MB);
		json_end_array(out);
	}
	json_end_array(out);
	json_end_object(out);
}
