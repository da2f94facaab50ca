/* report_sample.h - a small profile made by hand, for the tests of the reports. */
#ifndef HEATLINE_TESTS_REPORT_SAMPLE_H
#define HEATLINE_TESTS_REPORT_SAMPLE_H

#include <string.h>

#include "profile/model.h"

static const char sample_source[] =
	"\"\"\"Count primes,\n"
	"then wait a while.\"\"\"\n"
	"import hashlib\n"
	"import time\n"
	"from functools import lru_cache\n"
	"\n"
	"\n"
	"def primes(limit):\n"
	"    found = []\n"
	"    for n in range(2, limit):\n"
	"        if all(n % p for p in found if p * p <= n):\n"
	"            found.append(n)\n"
	"    return found\n"
	"\n"
	"\n"
	"@lru_cache(maxsize=None)\n"
	"def digest(text, rounds=2_000):\n"
	"    data = text.encode()  # bytes: 日本語, caf\xc3\xa9\n"
	"    for _ in range(rounds):\n"
	"        data = hashlib.sha256(data).digest()\n"
	"    return f\"{data.hex()!r:>{80}} {'end'}\"\n"
	"\n"
	"\n"
	"class Waiter:\n"
	"\tdef wait(self, seconds: float = 0x10 / 1e3) -> None:\n"
	"\t\ttime.sleep(seconds)\n"
	"\n"
	"\n"
	"if __name__ == \"__main__\":\n"
	"    primes(60_000)\n"
	"    for i in range(100):\n"
	"        digest(str(i))\n"
	"    Waiter().wait(1.1)\n";

struct sample {
	struct profile profile;
	struct profile_file files[2];
	struct profile_line lines[8], other_lines[1];
	struct profile_function functions[4];
	struct column_range columns[2];
	struct lost_count lost[2];
	const char *warnings[1];
	const char *args[2];
};

static inline struct profile_line sample_line(uint32_t line, double python_s, double native_s,
					      double system_s, double wait_s, double inclusive_s,
					      uint64_t samples)
{
	return (struct profile_line){
		.line = line,
		.self = {.python_s = python_s,
			 .native_s = native_s,
			 .system_s = system_s,
			 .wait_s = wait_s,
			 .samples = samples},
		.inclusive_s = inclusive_s,
	};
}

/* Fills the sample; it points into itself, so it must stay where it is. */
static inline void sample_init(struct sample *sample)
{
	memset(sample, 0, sizeof *sample);
	sample->columns[0] = (struct column_range){11, 15, 49, 1.60};
	sample->columns[1] = (struct column_range){11, 19, 24, 0.31};
	sample->lines[0] = sample_line(10, 0.055, 0, 0, 0, 0.055, 52);
	sample->lines[1] = sample_line(11, 1.710, 0.203, 0.002, 0, 1.915, 1800);
	sample->lines[1].columns = sample->columns;
	sample->lines[1].column_count = 2;
	sample->lines[2] = sample_line(12, 0.004, 0, 0, 0, 0.004, 4);
	sample->lines[3] = sample_line(20, 0.121, 0.702, 0.010, 0, 0.833, 790);
	sample->lines[4] = sample_line(26, 0, 0, 0.001, 1.100, 1.101, 44);
	sample->lines[5] = sample_line(30, 0, 0, 0, 0, 1.974, 0);
	sample->lines[6] = sample_line(32, 0.041, 0.004, 0, 0, 0.878, 8);
	sample->lines[7] = sample_line(33, 0, 0, 0, 0, 1.101, 0);
	sample->functions[0] = (struct profile_function){
		.name = "primes", .first_line = 8, .self = {.python_s = 1.769, .native_s = 0.203, .system_s = 0.002}, .inclusive_s = 1.974};
	sample->functions[1] = (struct profile_function){
		.name = "digest", .first_line = 16, .self = {.python_s = 0.121, .native_s = 0.702, .system_s = 0.010}, .inclusive_s = 0.833};
	sample->functions[2] = (struct profile_function){
		.name = "Waiter.wait", .first_line = 25, .self = {.system_s = 0.001, .wait_s = 1.100}, .inclusive_s = 1.101};
	sample->functions[3] = (struct profile_function){
		.name = "<module>", .first_line = 1, .self = {.python_s = 0.041, .native_s = 0.004}, .inclusive_s = 3.953};
	sample->files[0] = (struct profile_file){
		.path = "/home/me/app/primes.py",
		.in_scope = true,
		.lines = sample->lines,
		.line_count = 8,
		.functions = sample->functions,
		.function_count = 4,
		.self = {.python_s = 1.931, .native_s = 0.909, .system_s = 0.013, .wait_s = 1.100,
			 .cpu_s = 2.85, .samples = 2698},
		.source = (char *)sample_source,
		.source_size = sizeof sample_source - 1,
	};
	sample->other_lines[0] = sample_line(3, 0.021, 0, 0, 0, 0.021, 20);
	sample->files[1] = (struct profile_file){
		.path = "/home/me/app/\033[2Jsettings.py",
		.in_scope = true,
		.lines = sample->other_lines,
		.line_count = 1,
		.self = {.python_s = 0.021, .samples = 20},
	};
	sample->lost[0] = (struct lost_count){"ring full", 3};
	sample->lost[1] = (struct lost_count){"torn frame", 1};
	sample->args[0] = "--limit";
	sample->args[1] = "60 000";
	sample->profile = (struct profile){
		.shown_percent = 1,
		.program = "/home/me/app/primes.py",
		.entrypoint_dir = "/home/me/app",
		.args = sample->args,
		.arg_count = 2,
		.python_version = "3.11.7",
		.elapsed_s = 4.031,
		.total_s = 3.998,
		.outside_s = 0.024,
		.startup_s = 0.033,
		.sum = {.python_s = 1.964, .native_s = 0.921, .system_s = 0.013, .wait_s = 1.100,
			.cpu_s = 2.89, .samples = 2722},
		.files = sample->files,
		.file_count = 2,
		.quality = {.samples = 2678,
			    .wait_samples = 44,
			    .rate_hz = 927.3,
			    .overhead_percent = 0.42,
			    .lost = sample->lost,
			    .lost_count = 2},
	};
}

#endif
