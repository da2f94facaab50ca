/* memory_sample.h - a small profile with memory made by hand, for the tests of
 * the reports: an array that is kept, churn, a cache that leaks, a copy. */
#ifndef HEATLINE_TESTS_MEMORY_SAMPLE_H
#define HEATLINE_TESTS_MEMORY_SAMPLE_H

#include <string.h>

#include "profile/model.h"

#define SAMPLE_MB 1048576.0
#define SAMPLE_POINTS 100

static const char memory_source[] =
	"import numpy as np\n"
	"\n"
	"CACHE = {}\n"
	"\n"
	"\n"
	"def load(size):\n"
	"    return np.ones(size)\n"
	"\n"
	"\n"
	"def smooth(grid):\n"
	"    for _ in range(200):\n"
	"        grid = (grid[1:] + grid[:-1]) / 2\n"
	"    return grid\n"
	"\n"
	"\n"
	"def remember(key, rows):\n"
	"    CACHE[key] = [str(row) for row in rows]\n"
	"\n"
	"\n"
	"def main():\n"
	"    grid = load(100_000_000)\n"
	"    data = grid[:50_000_000].tobytes()\n"
	"    smooth(grid[:1_000_000])\n"
	"    for i in range(1000):\n"
	"        remember(i, range(20_000))\n"
	"    return data\n"
	"\n"
	"\n"
	"main()\n";

struct memory_sample {
	struct profile profile;
	struct profile_file file;
	struct profile_line lines[7];
	struct profile_function functions[5];
	struct stack_node stacks[7];
	struct memory_point points[4][SAMPLE_POINTS], footprint[SAMPLE_POINTS];
};

/* Live memory that is `mb` from one moment to another, both in percent of the
 * run, and grows steadily before where it starts to grow earlier. */
static inline void sample_points(struct memory_point *points, double grow, double from, double to,
				 double mb)
{
	for (int i = 0; i < SAMPLE_POINTS; i++) {
		double live = i >= from ? mb : i > grow ? mb * (i - grow) / (from - grow) : 0;

		points[i] = (struct memory_point){.time_s = 0.08 * i,
						  .live_bytes = i < to ? live * SAMPLE_MB : 0};
	}
}

static inline void sample_memory(struct profile_line *line, double alloc_mb, double kept_mb,
				 double python_share, double peak_mb, double average_mb,
				 double at_peak_mb, struct memory_point *points)
{
	line->self.alloc_bytes = alloc_mb * SAMPLE_MB;
	line->self.kept_bytes = kept_mb * SAMPLE_MB;
	line->memory.python_bytes = alloc_mb * python_share * SAMPLE_MB;
	line->memory.peak_bytes = peak_mb * SAMPLE_MB;
	line->memory.average_bytes = average_mb * SAMPLE_MB;
	line->memory.at_peak_bytes = at_peak_mb * SAMPLE_MB;
	line->memory_points = points;
	line->memory_point_count = points ? SAMPLE_POINTS : 0;
}

static inline void memory_sample_lines(struct memory_sample *sample)
{
	static const uint32_t numbers[7] = {1, 7, 12, 17, 22, 25, 29};
	static const struct metrics times[7] = {
		{.python_s = 0.02, .native_s = 0.15, .samples = 160},
		{.native_s = 0.31, .system_s = 0.20, .samples = 500},
		{.native_s = 2.10, .python_s = 0.05, .samples = 2100},
		{.python_s = 3.90, .native_s = 0.60, .samples = 4400},
		{.native_s = 0.22, .system_s = 0.11, .samples = 330},
		{.python_s = 0.02, .samples = 20},
		{.samples = 0},
	};
	static const double inclusive[7] = {0.17, 0.51, 2.15, 4.5, 0.33, 4.52, 7.6};
	struct profile_line *lines = sample->lines;

	for (int i = 0; i < 7; i++)
		lines[i] = (struct profile_line){
			.line = numbers[i], .self = times[i], .inclusive_s = inclusive[i]};
	sample_memory(&lines[0], 3.2, 3.1, 0.9, 3.1, 3.1, 3.1, NULL);
	sample_memory(&lines[1], 763, 0, 0, 763, 680, 763, sample->points[0]);
	sample_memory(&lines[2], 3052, 0, 0, 15.3, 4.4, 0, sample->points[1]);
	sample_memory(&lines[3], 1210, 1148, 1, 1150, 420, 1150, sample->points[2]);
	lines[3].memory.leak_likelihood = 0.9987;
	lines[3].memory.leak_bytes_per_s = 255.4 * SAMPLE_MB;
	sample_memory(&lines[4], 381, 0, 1, 381, 350, 381, sample->points[3]);
	lines[2].self.copy_bytes = 0.4 * SAMPLE_MB;
	lines[4].self.copy_bytes = 381 * SAMPLE_MB;
}

static inline void memory_sample_functions(struct memory_sample *sample)
{
	static const char *const names[5] = {"load", "smooth", "remember", "main", "<module>"};
	static const uint32_t firsts[5] = {6, 10, 16, 20, 1};
	static const int lines[5] = {1, 2, 3, 4, 0};

	for (int i = 0; i < 5; i++) {
		const struct profile_line *line = &sample->lines[lines[i]];

		sample->functions[i] = (struct profile_function){
			.name = names[i],
			.first_line = firsts[i],
			.self = line->self,
			.inclusive_s = line->inclusive_s,
			.memory = line->memory,
		};
	}
	sample->functions[3].inclusive_s = 7.5;
}

/* main at 25 calls remember at 17, whose comprehension calls what is no Python
 * of ours. */
static inline void memory_sample_stacks(struct memory_sample *sample)
{
	static const struct stack_node nodes[7] = {
		{.file = UINT32_MAX},
		{.parent = 0, .file = 0, .function = "<module>", .line = 29},
		{.parent = 1, .file = 0, .function = "main", .line = 25},
		{.parent = 2, .file = 0, .function = "remember", .line = 17},
		{.parent = 3, .file = 0, .function = "remember.<locals>.<listcomp>", .line = 17},
		{.parent = 4, .file = UINT32_MAX, .function = "grow"},
		{.parent = 1, .file = 0, .function = "remember", .line = 17},
	};

	memcpy(sample->stacks, nodes, sizeof nodes);
	sample->stacks[3].self.kept_bytes = 40 * SAMPLE_MB;
	sample->stacks[5].self.kept_bytes = 1100 * SAMPLE_MB;
	sample->stacks[6].self.kept_bytes = 8 * SAMPLE_MB;
}

/* Fills the sample; it points into itself, so it must stay where it is. */
static inline void memory_sample_init(struct memory_sample *sample)
{
	memset(sample, 0, sizeof *sample);
	sample_points(sample->points[0], 2, 4, 98, 763);
	sample_points(sample->points[1], 9, 10, 38, 15.3);
	sample_points(sample->points[2], 38, 99, 100, 1150);
	sample_points(sample->points[3], 5, 6, 100, 381);
	for (int i = 0; i < SAMPLE_POINTS; i++) {
		sample->footprint[i].time_s = 0.08 * i;
		sample->footprint[i].live_bytes = 5 * SAMPLE_MB;
		for (int k = 0; k < 4; k++)
			sample->footprint[i].live_bytes += sample->points[k][i].live_bytes;
		sample->footprint[i].resident_bytes =
			1.06 * sample->footprint[i].live_bytes + 32 * SAMPLE_MB;
	}
	memory_sample_lines(sample);
	memory_sample_functions(sample);
	memory_sample_stacks(sample);
	sample->file = (struct profile_file){
		.path = "/home/me/app/grid.py",
		.in_scope = true,
		.lines = sample->lines,
		.line_count = 7,
		.functions = sample->functions,
		.function_count = 5,
		.self = {.python_s = 3.99, .native_s = 3.38, .system_s = 0.31, .samples = 7510},
		.source = (char *)memory_source,
		.source_size = sizeof memory_source - 1,
	};
	sample->profile = (struct profile){
		.shown_percent = 1,
		.program = "/home/me/app/grid.py",
		.entrypoint_dir = "/home/me/app",
		.python_version = "3.12.1",
		.elapsed_s = 8.0,
		.total_s = 7.7,
		.sum = {.python_s = 3.99,
			.native_s = 3.38,
			.system_s = 0.31,
			.samples = 7510,
			.alloc_bytes = 5430 * SAMPLE_MB,
			.copy_bytes = 385 * SAMPLE_MB},
		.has_memory = true,
		.memory = {.peak_bytes = 2330 * SAMPLE_MB},
		.peak_s = 7.76,
		.peak_python_bytes = 1534 * SAMPLE_MB,
		.peak_resident_bytes = 2502 * SAMPLE_MB,
		.footprint = sample->footprint,
		.footprint_count = SAMPLE_POINTS,
		.files = &sample->file,
		.file_count = 1,
		.stacks = sample->stacks,
		.stack_count = 7,
		.quality = {.samples = 7510, .rate_hz = 980, .overhead_percent = 1.9},
	};
}

#endif
