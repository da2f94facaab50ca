/* profile_sample.h - a small profile booked by hand, for the tests of
 * src/profile.  Its source is given, so no file is needed. */
#ifndef HEATLINE_TESTS_PROFILE_SAMPLE_H
#define HEATLINE_TESTS_PROFILE_SAMPLE_H

#include <string.h>

#include "base/mem.h"
#include "profile/book.h"

static const char profile_sample_path[] = "/project/loop.py";
static const char profile_sample_source[] =
	"import json\n"                             /* 1 */
	"\n"                                        /* 2 */
	"def inner(n):\n"                           /* 3 */
	"    total = 0\n"                           /* 4 */
	"    for i in range(n):\n"                  /* 5 */
	"        if i < 3 and \"é\" & {i}:\n"       /* 6 */
	"            total += i\n"                  /* 7 */
	"    return total\n"                        /* 8 */
	"\n"                                        /* 9 */
	"inner(9); json.dumps(sorted(range(9)))\n"; /* 10 */

/* One stack through the library, one in the loop, one that waits, one of
 * another thread that idles, and one with nothing in scope. */
static inline void profile_sample_book(struct profile *profile)
{
	uint32_t loop = profile_file_index(profile, profile_sample_path, true);
	uint32_t library = profile_file_index(profile, "/usr/lib/python3.11/json/__init__.py", false);
	const char *module = profile_intern(profile, "<module>");
	const char *inner = profile_intern(profile, "inner");
	const char *dumps = profile_intern(profile, "dumps");
	struct book_frame in_loop[] = {{loop, module, 1, 10, 10, 0, 8, 0, false},
				       {loop, inner, 3, 7, 7, 12, 22, 0, false}};
	struct book_frame in_library[] = {{loop, module, 1, 10, 10, 10, 38, 0, false},
					  {library, dumps, 183, 231, 231, 4, 20, 0, false}};
	struct book_frame outside[] = {{library, dumps, 183, 231, -1, -1, -1, 0, false}};
	struct metrics busy = {.python_s = 0.6, .native_s = 0.1, .cpu_s = 0.7, .gc_s = 0.05,
			       .samples = 70};
	struct metrics native = {.native_s = 0.15, .system_s = 0.05, .cpu_s = 0.2, .samples = 20};
	struct metrics waiting = {.wait_s = 0.075, .waits_s[WAIT_SLEEP] = 0.075f, .samples = 3};
	struct metrics idle = {.idle_s = 2.0, .gil_s = 0.5, .waits_s[WAIT_LOCK] = 1.5f,
			       .samples = 60};
	struct metrics other = {.python_s = 0.025, .cpu_s = 0.025, .samples = 2};
	struct metrics startup = {.python_s = 0.0125, .cpu_s = 0.0125, .samples = 1};
	profile_book(profile, in_loop, 2, &busy, false);
	profile_book(profile, in_library, 2, &native, false);
	profile_book(profile, in_library, 1, &waiting, false);
	profile_book(profile, in_loop, 2, &idle, false);
	profile_book(profile, outside, 1, &other, false);
	profile_book(profile, outside, 1, &startup, true);
	for (int i = 0; i < 20; i++)
		profile_book_time(profile, loop, 7, 0.01 * i);
}

#define SAMPLE_MB (1024.0 * 1024.0)

/* The loop leaks 24 MB, the call churns and copies, a thread without Python
 * takes 4 MB; the peak of 40 MB comes after 0.75 s. */
static inline void profile_sample_book_memory(struct profile *profile)
{
	uint32_t loop = profile_file_index(profile, profile_sample_path, true);
	const char *module = profile_intern(profile, "<module>");
	const char *inner = profile_intern(profile, "inner");
	struct book_frame in_loop[] = {{loop, module, 1, 10, 10, 0, 8, 0, false},
				       {loop, inner, 3, 7, 7, 12, 22, 0, false}};
	struct metrics leaks = {.alloc_bytes = 32 * SAMPLE_MB, .kept_bytes = 24 * SAMPLE_MB,
				.at_peak_bytes = 28 * SAMPLE_MB};
	struct metrics churns = {.alloc_bytes = 64 * SAMPLE_MB, .copy_bytes = 9 * SAMPLE_MB + 1};
	struct metrics other = {.alloc_bytes = 4 * SAMPLE_MB, .kept_bytes = 4 * SAMPLE_MB};
	profile_book(profile, in_loop, 2, &leaks, false);
	profile_book(profile, in_loop, 1, &churns, false);
	profile_book(profile, NULL, 0, &other, false);

	struct profile_line *line = profile_memory_line(profile, loop, 7);
	line->memory = (struct memory){
		.python_bytes = 8 * SAMPLE_MB, .alloc_count = 1234, .peak_bytes = 30 * SAMPLE_MB,
		.average_bytes = 12.5 * SAMPLE_MB, .at_peak_bytes = 28 * SAMPLE_MB,
		.leak_likelihood = 0.98, .leak_bytes_per_s = 24 * SAMPLE_MB};
	struct memory inner_memory = line->memory;
	inner_memory.leak_likelihood = inner_memory.leak_bytes_per_s = 0;
	line->memory_points = mem_zalloc(3, sizeof(*line->memory_points));
	line->memory_point_count = 3;
	for (int i = 0; i < 3; i++)
		line->memory_points[i] = (struct memory_point){
			.time_s = 0.25 * i, .live_bytes = (10 * i + 0.123) * SAMPLE_MB};
	profile_memory_function(profile, loop, inner, 3)->memory = inner_memory;
	struct memory churn = {.python_bytes = 64 * SAMPLE_MB, .alloc_count = 64,
			       .peak_bytes = 1.000001 * SAMPLE_MB, .average_bytes = 0.5 * SAMPLE_MB};
	profile_memory_line(profile, loop, 10)->memory = churn;
	profile_memory_function(profile, loop, module, 1)->memory = churn;
}

static inline void profile_sample_describe_memory(struct profile *profile)
{
	profile->has_memory = true;
	profile->memory = (struct memory){
		.python_bytes = 72 * SAMPLE_MB, .alloc_count = 1300, .peak_bytes = 40 * SAMPLE_MB,
		.average_bytes = 20 * SAMPLE_MB, .at_peak_bytes = 40 * SAMPLE_MB};
	profile->peak_s = 0.75;
	profile->peak_python_bytes = 10 * SAMPLE_MB;
	profile->peak_resident_bytes = 55.5 * SAMPLE_MB;
	profile->threads_alloc_bytes = 4 * SAMPLE_MB;
	profile->alloc_samples = 777;
	profile->footprint = mem_zalloc(300, sizeof(*profile->footprint));
	profile->footprint_count = 300;
	for (int i = 0; i < 300; i++)
		profile->footprint[i] = (struct memory_point){
			.time_s = 0.0033333 * i, .live_bytes = (i == 250 ? 40 : 0.1 * i) * SAMPLE_MB,
			.resident_bytes = (20 + 0.1 * i) * SAMPLE_MB};
}

static inline void profile_sample_describe(struct profile *profile)
{
	profile->program = profile_intern(profile, profile_sample_path);
	profile->entrypoint_dir = profile_intern(profile, "/project");
	profile->arg_count = 2;
	profile->args = mem_zalloc(2, sizeof(*profile->args));
	profile->args[0] = profile_intern(profile, "loop.py");
	profile->args[1] = profile_intern(profile, "--fast \"now\"");
	profile->python_version = profile_intern(profile, "3.11.7");
	profile->machine = profile_intern(profile, "x86_64, 2 CPUs, Linux 6.1");
	profile->elapsed_s = 1.125;
	profile->suspended_s = 0.25;
	profile->start_time_epoch_s = 1700000000.25;
	profile->start_time_perf_s = 5000.5;
	profile->process_count = 1;
	profile->processes = mem_zalloc(1, sizeof(*profile->processes));
	profile->processes[0] = (struct profile_process){
		.pid = 100, .parent_pid = 99, .command = profile_intern(profile, "python3 loop.py"),
		.python = profile_intern(profile, "3.11.7"), .end_s = 1.125,
		.ended = profile_intern(profile, "exit status 0"),
		.peak_resident_bytes = 21 * 1024.0 * 1024.0,
	};
	profile->thread_count = 2;
	profile->threads = mem_zalloc(2, sizeof(*profile->threads));
	profile->threads[0] = (struct profile_thread){.tid = 100, .is_main = true,
						      .name = profile_intern(profile, "python3"),
						      .self = {.cpu_s = 0.6, .wait_s = 0.075,
							       .samples = 95}};
	profile->threads[1] = (struct profile_thread){.tid = 101, .self = {.idle_s = 2, .gil_s = 0.5}};
	profile->quality.samples = 92;
	profile->quality.wait_samples = 63;
	profile->quality.idle_samples = 60;
	profile->quality.rate_hz = 100;
	profile->quality.overhead_percent = 0.4;
	profile->quality.collector_percent = 2.5;
	profile->quality.clock = profile_intern(profile, "CPU timers");
	profile->quality.lost = mem_zalloc(1, sizeof(*profile->quality.lost));
	profile->quality.lost_count = 1;
	profile->quality.lost[0] = (struct lost_count){profile_intern(profile, "ring full"), 3};
	profile->quality.warnings = mem_zalloc(1, sizeof(*profile->quality.warnings));
	profile->quality.warning_count = 1;
	profile->quality.warnings[0] = profile_intern(profile, "few samples");
}

/* Four bins of a quarter second; the loop's node is all of the first three, and
 * the idle thread waits. */
static inline void profile_sample_describe_timeline(struct profile *profile)
{
	static const uint32_t ms[2][TIMELINE_KINDS][4] = {
		{{200, 200, 200, 25}, {50, 50, 50, 100}, {0, 0, 0, 50}, {0, 0, 0, 75}},
		{[TIMELINE_WAIT] = {500, 500, 500, 500}, [TIMELINE_GIL] = {0, 250, 0, 0}},
	};
	struct profile_timeline *timeline = &profile->timeline;
	timeline->bin_s = 0.25;
	timeline->bins = 4;
	timeline->thread_count = 2;
	timeline->threads = mem_zalloc(2, sizeof(*timeline->threads));
	for (uint32_t i = 0; i < 2; i++) {
		timeline->threads[i].thread = i;
		timeline->threads[i].ms = mem_alloc(sizeof(ms[i]));
		memcpy(timeline->threads[i].ms, ms[i], sizeof(ms[i]));
	}
	timeline->stack_count = 3;
	timeline->stacks = mem_zalloc(3, sizeof(*timeline->stacks));
	for (uint32_t i = 0; i < 3; i++)
		timeline->stacks[i] = (struct stack_part){2, i, 233333};
	profile->thread_stack_count = 1;
	profile->thread_stacks = mem_zalloc(1, sizeof(*profile->thread_stacks));
	profile->thread_stacks[0] = (struct stack_part){2, 0, 700000};
	profile->idle_stack_count = 1;
	profile->idle_stacks = mem_zalloc(1, sizeof(*profile->idle_stacks));
	profile->idle_stacks[0] = (struct stack_part){2, 1, 2000000};
}

static inline struct profile *profile_sample_finish(struct profile *profile)
{
	struct profile_file *file = &profile->files[0];
	file->source_size = sizeof(profile_sample_source) - 1;
	file->source = mem_copy_bytes(profile_sample_source, file->source_size);
	profile_finish(profile);
	return profile;
}

/* All of it, finished. */
static inline struct profile *profile_sample_new(void)
{
	struct profile *profile = profile_new();
	profile_sample_describe(profile);
	profile_sample_describe_memory(profile);
	profile_sample_book(profile);
	profile_sample_book_memory(profile);
	profile_sample_describe_timeline(profile);
	return profile_sample_finish(profile);
}

/* The same as --cpu-only makes it. */
static inline struct profile *profile_sample_without_memory(void)
{
	struct profile *profile = profile_new();
	profile_sample_describe(profile);
	profile_sample_book(profile);
	return profile_sample_finish(profile);
}

#endif
