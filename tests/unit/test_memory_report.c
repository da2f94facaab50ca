/* test_memory_report.c - memory in the text report and in the summary. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/glyph.h"
#include "report/memory.h"
#include "memory_sample.h"
#include "report_golden.h"

static void test_golden(void **unused)
{
	struct memory_sample sample;
	struct style style = golden_style(80);

	(void)unused;
	memory_sample_init(&sample);
	golden_expect("memory-80", golden_report(&sample.profile, &style, false, false));
	style = golden_style(60);
	golden_expect("memory-60", golden_report(&sample.profile, &style, true, false));
	style = golden_style(120);
	golden_expect("memory-120", golden_report(&sample.profile, &style, false, false));
	style.has_color = true;
	golden_expect("memory-120-color", golden_report(&sample.profile, &style, true, false));
	style = golden_style(200);
	golden_expect("memory-200", golden_report(&sample.profile, &style, false, false));
	golden_expect("memory-200-seconds", golden_report(&sample.profile, &style, true, true));
	style = golden_style(130);
	style.has_utf8 = false;
	golden_expect("memory-130-ascii", golden_report(&sample.profile, &style, true, false));
}

/* No row is wider than the terminal. */
static void test_widths(void **unused)
{
	struct memory_sample sample;

	(void)unused;
	memory_sample_init(&sample);
	for (uint32_t columns = 40; columns <= 250; columns++) {
		struct style style = golden_style(columns);
		char *text = golden_report(&sample.profile, &style, false, columns % 2);

		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
			if (glyph_width(line, strlen(line), true, 1000) > columns)
				fail_msg("wider than %u: '%s'", columns, line);
		}
		free(text);
	}
}

static void expect_parts(const struct profile *profile, const char *present, const char *absent)
{
	struct style style = golden_style(160);
	char *text = golden_report(profile, &style, false, false);

	if (present && !strstr(text, present))
		fail_msg("'%s' is not in:\n%s", present, text);
	if (absent && strstr(text, absent))
		fail_msg("'%s' is in:\n%s", absent, text);
	free(text);
}

/* A profile without memory has not a word of it. */
static void test_not_measured(void **unused)
{
	struct memory_sample sample;

	(void)unused;
	memory_sample_init(&sample);
	sample.profile.has_memory = false;
	expect_parts(&sample.profile, "grid.py", "emory");
	expect_parts(&sample.profile, "grid.py", "peak");
	expect_parts(&sample.profile, "grid.py", "MB");
	expect_parts(&sample.profile, "grid.py", "alloc");
}

/* Sections without lines are not there, nor is a heading without sections. */
static void test_absent_sections(void **unused)
{
	struct memory_sample sample;

	(void)unused;
	memory_sample_init(&sample);
	sample.lines[3].memory.leak_likelihood = 0.5;
	expect_parts(&sample.profile, "Temporary churn", "leak");
	sample.lines[2].self.alloc_bytes = 0;
	expect_parts(&sample.profile, "Copied most", "churn");
	sample.lines[4].self.copy_bytes = 0;
	expect_parts(&sample.profile, "Made up the peak", "Copied most");
	for (int i = 0; i < 7; i++)
		sample.lines[i].memory.at_peak_bytes = 0;
	expect_parts(&sample.profile, "Allocated most\n", "Made up");
	for (int i = 0; i < 7; i++)
		sample.lines[i].self.alloc_bytes = 0;
	expect_parts(&sample.profile, "Memory: peak", "\nMemory\n");
}

/* What was resident is told as far as it is known. */
static void test_resident(void **unused)
{
	struct profile_process two[] = {{.command = "a"}, {.command = "b"}};
	struct memory_sample sample;

	(void)unused;
	memory_sample_init(&sample);
	expect_parts(&sample.profile, "not live heap", "processes share");
	sample.profile.processes = two;
	sample.profile.process_count = 2;
	expect_parts(&sample.profile, "fragmentation; what processes share counts for each)", NULL);
	sample.profile.process_count = 0;
	for (int i = 0; i < SAMPLE_POINTS; i++)
		sample.footprint[i].resident_bytes = 300 * SAMPLE_MB;
	/* The looks have missed it: so much was resident at some time. */
	expect_parts(&sample.profile, "RSS: at most 2.4 GB\n", "touched");
	sample.profile.peak_resident_bytes = 300 * SAMPLE_MB;
	two[0].peak_resident_bytes = two[1].peak_resident_bytes = 1200 * SAMPLE_MB;
	sample.profile.process_count = 2;
	expect_parts(&sample.profile, "RSS: at most 300 MB\n", "touched");
	sample.profile.process_count = 0;
	expect_parts(&sample.profile, "RSS: 300 MB at the peak, less than was allocated: 1.9 GB",
		     "not live");
	for (int i = 0; i < SAMPLE_POINTS; i++)
		sample.footprint[i].live_bytes = 100 * SAMPLE_MB;
	expect_parts(&sample.profile, "RSS: at most 300 MB\n", "at the peak,");
	sample.profile.peak_resident_bytes = 0;
	expect_parts(&sample.profile, "Memory: peak", "RSS");
}

/* The other lines and the rest of the program are named when they matter. */
static void test_remainders(void **unused)
{
	struct memory_sample sample;

	(void)unused;
	memory_sample_init(&sample);
	sample.lines[1].memory.at_peak_bytes = 20 * SAMPLE_MB;
	expect_parts(&sample.profile, "33% 776 MB  outside of these files\n", "other lines");
}

/* Without stacks nobody is called the caller; damaged ones end the search. */
static void test_callers(void **unused)
{
	struct memory_sample sample;

	(void)unused;
	memory_sample_init(&sample);
	expect_parts(&sample.profile, "called from main (grid.py:25), grid.py:29\n", "listcomp");
	sample.stacks[3].parent = 4;
	sample.stacks[2].file = 77;
	expect_parts(&sample.profile, "Likely leaks", "main (grid.py:25)");
	sample.profile.stack_count = 0;
	expect_parts(&sample.profile, "Likely leaks", "called from");
}

static void test_damaged_profile(void **unused)
{
	static const double wrong[] = {NAN, INFINITY, -INFINITY, -1, 1e300};
	struct style style = golden_style(160);

	(void)unused;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct memory_sample sample;

		memory_sample_init(&sample);
		for (int k = 0; k < 7; k++) {
			sample.lines[k].self.alloc_bytes = wrong[i];
			sample.lines[k].self.kept_bytes = wrong[i];
			sample.lines[k].self.copy_bytes = wrong[i];
			sample.lines[k].memory = (struct memory){wrong[i], wrong[i], wrong[i], wrong[i],
								 wrong[i], wrong[i], wrong[i]};
			sample.points[k % 4][k].live_bytes = wrong[i];
			sample.footprint[k].live_bytes = wrong[i];
			sample.footprint[k].resident_bytes = wrong[i];
		}
		free(golden_report(&sample.profile, &style, false, false));
		sample.profile.elapsed_s = wrong[i];
		sample.profile.peak_s = wrong[i];
		free(golden_report(&sample.profile, &style, true, true));
		sample.profile.memory.peak_bytes = wrong[i];
		sample.profile.peak_resident_bytes = wrong[i];
		sample.profile.sum.alloc_bytes = wrong[i];
		free(golden_report(&sample.profile, &style, false, false));
	}
}

static void expect_summary(const struct profile *profile, const char *expected)
{
	struct style style = golden_style(70);
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	memory_print_summary(out, &style, profile, 2);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void test_summary(void **unused)
{
	struct memory_sample sample;

	(void)unused;
	memory_sample_init(&sample);
	expect_summary(&sample.profile,
		       "  Memory peak 2.3 GB, 49% of it from grid.py:17  CACHE[key] = [str(ro…\n"
		       "  Likely leak grid.py:17 grows 255 MB/s (likelihood 99%)  CACHE[key] …\n");
	sample.lines[3].memory.leak_likelihood = 0;
	sample.lines[3].memory.at_peak_bytes = 0;
	expect_summary(&sample.profile,
		       "  Memory peak 2.3 GB, 33% of it from grid.py:7  return np.ones(size)\n");
	sample.profile.file_count = 0;
	expect_summary(&sample.profile, "  Memory peak 2.3 GB\n");
	sample.profile.has_memory = false;
	expect_summary(&sample.profile, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_not_measured),
		cmocka_unit_test(test_absent_sections),
		cmocka_unit_test(test_resident),
		cmocka_unit_test(test_remainders),
		cmocka_unit_test(test_callers),
		cmocka_unit_test(test_damaged_profile),
		cmocka_unit_test(test_summary),
	};

	return cmocka_run_group_tests(tests, golden_locale, NULL);
}
