/* read_memory.c - memory figures out of a profile, ours or Scalene's. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/units.h"
#include "profile/read_parts.h"

#define KB_PER_MB 1024.0

/* Whole bytes: what was written is exact to a tenth of one. */
static double read_fraction(struct profile_reader *reader, const json_t *object, const char *key)
{
	return fmin(reader_number(reader, object, key), 1);
}

void read_own_memory(struct profile_reader *reader, const json_t *record, struct metrics *self,
		     struct memory *memory)
{
	self->alloc_bytes = reader_mb(reader, record, "n_malloc_mb");
	self->kept_bytes = reader_mb(reader, record, "n_kept_mb");
	self->copy_bytes = reader_mb(reader, record, "n_copy_mb");
	memory->python_bytes = fmin(reader_mb(reader, record, "n_python_mb"), self->alloc_bytes);
	memory->alloc_count = reader_number(reader, record, "n_mallocs");
	memory->peak_bytes = reader_mb(reader, record, "n_peak_mb");
	memory->average_bytes = fmin(reader_mb(reader, record, "n_avg_mb"), memory->peak_bytes);
	memory->at_peak_bytes = reader_mb(reader, record, "n_at_peak_mb");
}

/* Scalene does not know what a line keeps: its n_growth_mb is the peak again. */
void read_scalene_memory(struct profile_reader *reader, const json_t *record, struct metrics *self,
			 struct memory *memory)
{
	double elapsed_s = reader->profile->elapsed_s;
	read_own_memory(reader, record, self, memory);
	self->copy_bytes = rint(reader_number(reader, record, "n_copy_mb_s") * MB * elapsed_s);
	memory->python_bytes =
		rint(read_fraction(reader, record, "n_python_fraction") * self->alloc_bytes);
}

static int compare_points(const void *a, const void *b)
{
	const struct memory_point *left = a, *right = b;
	return (left->time_s > right->time_s) - (left->time_s < right->time_s);
}

/* Rows of time, live MB and, where there are three, resident MB, to the
 * milliseconds and KiB that we keep; times are divided by time_unit.  The
 * caller frees. */
static struct memory_point *read_points(struct profile_reader *reader, const json_t *object,
					const char *key, double time_unit, uint32_t most,
					uint32_t *count)
{
	const json_t *list = reader_array(reader, object, key);
	size_t size = json_array_size(list);
	size_t kept = size < most ? size : most;
	bool is_sorted = true;
	*count = 0;
	if (kept == 0)
		return NULL;
	struct memory_point *points = mem_zalloc(kept, sizeof(*points));
	for (size_t i = 0; i < kept && !reader->has_failed; i++) {
		const json_t *row = json_array_get(list, i * size / kept);
		struct memory_point *point = &points[(*count)++];
		if (json_array_size(row) < 2)
			reader_fail(reader, "an item of \"%s\" is not a list of numbers", key);
		point->time_s = rint(reader_item_number(reader, row, 0, key) / time_unit * 1e3) / 1e3;
		point->live_bytes = rint(reader_item_number(reader, row, 1, key) * KB_PER_MB) * 1024;
		point->resident_bytes =
			rint(reader_item_number(reader, row, 2, key) * KB_PER_MB) * 1024;
		is_sorted = is_sorted && (i == 0 || point->time_s >= points[i - 1].time_s);
	}
	if (!is_sorted)
		qsort(points, *count, sizeof(*points), compare_points);
	return points;
}

void read_line_points(struct profile_reader *reader, const json_t *record,
		      struct profile_line *line)
{
	line->memory_points = read_points(reader, record, "memory_samples", 1e9, LINE_POINTS_MAX,
					  &line->memory_point_count);
}

void read_leaks(struct profile_reader *reader, const json_t *record, struct profile_file *file)
{
	const char *key;
	json_t *leak;
	json_object_foreach(reader_object(reader, record, "leaks"), key, leak)
	{
		char *end;
		unsigned long number = strtoul(key, &end, 10);
		if (*end != '\0' || number == 0 || number > READ_MAX_LINE || !json_is_object(leak)) {
			reader_fail(reader, "an item of \"leaks\" is not a line and its leak");
			return;
		}
		/* The lines are ours to change; the search only promises not to. */
		struct profile_line *line =
			(struct profile_line *)profile_find_line(file, (uint32_t)number);
		if (!line)
			continue;
		line->memory.leak_likelihood = read_fraction(reader, leak, "likelihood");
		line->memory.leak_bytes_per_s = reader_mb(reader, leak, "velocity_mb_s");
	}
}

static void read_scalene_whole(struct profile_reader *reader, const json_t *root)
{
	struct profile *profile = reader->profile;
	profile->memory.peak_bytes = reader_mb(reader, root, "max_footprint_mb");
	profile->peak_python_bytes = rint(read_fraction(reader, root, "max_footprint_python_fraction") *
					  profile->memory.peak_bytes);
	profile->footprint = read_points(reader, root, "samples", 1e9, FOOTPRINT_POINTS_MAX,
					 &profile->footprint_count);
}

static void read_own_whole(struct profile_reader *reader, const json_t *memory)
{
	struct profile *profile = reader->profile;
	profile->memory.peak_bytes = reader_mb(reader, memory, "peak_mb");
	profile->memory.at_peak_bytes = profile->memory.peak_bytes;
	profile->peak_s = reader_number(reader, memory, "peak_s");
	profile->peak_python_bytes = reader_mb(reader, memory, "peak_python_mb");
	profile->peak_resident_bytes = reader_mb(reader, memory, "peak_rss_mb");
	profile->memory.average_bytes = reader_mb(reader, memory, "average_mb");
	profile->sum.alloc_bytes = reader_mb(reader, memory, "allocated_mb");
	profile->memory.alloc_count = reader_number(reader, memory, "allocations");
	profile->memory.python_bytes = reader_mb(reader, memory, "python_mb");
	profile->sum.kept_bytes = reader_mb(reader, memory, "kept_mb");
	profile->sum.copy_bytes = reader_mb(reader, memory, "copied_mb");
	profile->footprint = read_points(reader, memory, "timeline", 1, FOOTPRINT_POINTS_MAX,
					 &profile->footprint_count);
}

void read_memory(struct profile_reader *reader, const json_t *root, const json_t *heatline)
{
	struct profile *profile = reader->profile;
	profile->has_memory = reader_bool(reader, root, "memory");
	profile->alloc_samples = reader_unsigned(reader, root, "alloc_samples", INT64_MAX);
	profile->threads_alloc_bytes = reader_mb(reader, root, "native_allocations_mb");
	if (heatline)
		read_own_whole(reader, reader_object(reader, heatline, "memory"));
	else
		read_scalene_whole(reader, root);
}
