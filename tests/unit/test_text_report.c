/* test_text_report.c - the text report: its layout at all widths, and its text
 * compared with golden files. */
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
#include "report_golden.h"
#include "report_sample.h"

static void test_golden(void **unused)
{
	struct sample sample;
	struct style style = golden_style(80);

	(void)unused;
	sample_init(&sample);
	golden_expect("80", golden_report(&sample.profile, &style, false, false));
	golden_expect("80-reduced", golden_report(&sample.profile, &style, true, false));
	style = golden_style(60);
	golden_expect("60", golden_report(&sample.profile, &style, false, false));
	style = golden_style(120);
	golden_expect("120", golden_report(&sample.profile, &style, false, false));
	golden_expect("120-seconds", golden_report(&sample.profile, &style, true, true));
	style.has_color = true;
	golden_expect("120-color", golden_report(&sample.profile, &style, false, false));
	style = golden_style(200);
	golden_expect("200", golden_report(&sample.profile, &style, false, false));
	style = golden_style(100);
	style.has_utf8 = false;
	golden_expect("100-ascii", golden_report(&sample.profile, &style, true, false));
}

/* No line of a table is wider than the terminal, and at every width the source
 * has room. */
static void test_widths(void **unused)
{
	struct sample sample;

	(void)unused;
	sample_init(&sample);
	for (uint32_t columns = STYLE_MIN_COLUMNS; columns <= 250; columns++) {
		struct style style = golden_style(columns);
		char *text = golden_report(&sample.profile, &style, false, columns % 2);
		char *table = strstr(text, "primes.py  99%");

		assert_non_null(table);
		table = strchr(table, '\n') + 1; /* the title may be wider than 20 columns */
		for (char *line = strtok(table, "\n"); line; line = strtok(NULL, "\n")) {
			if (!strstr(line, "│") && !strstr(line, "─"))
				break;
			assert_true(glyph_width(line, strlen(line), true, 1000) <= columns);
		}
		free(text);
	}
}

/* All else fits as well, whatever threads and processes are called. */
static void test_widths_of_names(void **unused)
{
	struct profile_process processes[] = {
		{.pid = 1234567, .parent_pid = 7654321, .ended = "exit status 100", .name = "ForkPoolWorker-123",
		 .command = "/usr/local/lib/a/long/way/to/python3 a_long_name.py with arguments",
		 .peak_resident_bytes = 1e9},
		{.pid = 1, .command = "/usr/local/lib/a/long/way/to/python3 a_long_name.py with arguments"},
	};
	struct profile_thread threads[] = {
		{.name = "MainThread", .is_main = true, .self = {.cpu_s = 2, .wait_s = 1}},
		{.name = "a thread that has a very long name, as some have", .self = {.cpu_s = 1}},
	};
	struct sample sample;

	(void)unused;
	sample_init(&sample);
	sample.profile.processes = processes;
	sample.profile.process_count = 2;
	sample.profile.threads = threads;
	sample.profile.thread_count = 2;
	sample.profile.suspended_s = 1;
	sample.profile.is_partial = true;
	for (uint32_t columns = 60; columns <= 150; columns++) {
		struct style style = golden_style(columns);
		char *text = golden_report(&sample.profile, &style, false, false);
		assert_true((strstr(text, "pid  parent ") != NULL) == (columns >= 76));
		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
			if (glyph_width(line, strlen(line), true, 1000) > columns)
				fail_msg("wider than %u: '%s'", columns, line);
		}
		free(text);
	}
}

/* Nor do the sections' heads and what stands below them, down to 40 columns. */
static void test_widths_of_sections(void **unused)
{
	struct gpu_device device = {.name = "NVIDIA RTX 6000 Ada Generation", .busy_s = 2, .memory_bytes = 48e9,
				    .peak_bytes = 1e9};
	struct profile_mark mark = {1.5, "a mark whose text is longer than what a terminal has cells", 1};
	struct blocking_step step = {.file = "/app/main.py", .function = "Handler.answer_everything_at_once",
				     .line = 12, .count = 3, .longest_s = 0.3344, .total_s = 1};
	struct sample sample;

	(void)unused;
	sample_init(&sample);
	sample.lines[0].async.await_s = 3;
	sample.profile.has_async = true;
	sample.profile.await_s = 3;
	sample.profile.blocking = &step;
	sample.profile.blocking_count = 1;
	sample.profile.marks = &mark;
	sample.profile.mark_count = 1;
	sample.profile.gpu = (struct profile_gpu){
		.source = "cupti", .devices = &device, .device_count = 1, .busy_s = 2, .idle_s = 1,
		.sum = {.kernel_s = 1, .copy_s = 1, .launches = 1e6, .to_device_bytes = 1e9}};
	for (uint32_t columns = 40; columns <= 150; columns++) {
		struct style style = golden_style(columns);
		char *text = golden_report(&sample.profile, &style, false, false);

		assert_non_null(strstr(text, "all)"));
		assert_non_null(strstr(text, "\nMarks"));
		assert_non_null(strstr(text, "\nGPU"));
		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
			if (glyph_width(line, strlen(line), true, 1000) > columns)
				fail_msg("wider than %u: '%s'", columns, line);
		}
		free(text);
	}
}

/* The advice to report more files stands where that helps: not for lines that a file has no
 * room for. */
static void test_where_the_rest_went(void **unused)
{
	struct style style = golden_style(160);
	struct sample sample;

	(void)unused;
	sample_init(&sample);
	for (int i = 0; i < 3; i++) {
		sample.profile.outside_s = 0.5 * sample.profile.total_s;
		sample.profile.omitted_s = 0.5 * i * sample.profile.outside_s;
		char *text = golden_report(&sample.profile, &style, false, false);
		assert_true((strstr(text, "--profile-all") != NULL) == (i < 2));
		assert_true((strstr(text, " went by on lines that are not in the profile, which has room "
					  "for the 1500 that count most.\n") != NULL) == (i > 0));
		assert_true((strstr(text, "(25%) went by outside of these files") != NULL) == (i == 1));
		free(text);
	}
}

/* Without colours, nothing but text and newlines; with them, only colours. */
static void test_no_control_characters(void **unused)
{
	struct sample sample;
	struct style style = golden_style(80);

	(void)unused;
	sample_init(&sample);
	sample.profile.program = "\033]0;title\a.py";
	sample.functions[0].name = "f\033[31m\n";
	sample.args[0] = "\x9b" "2J";
	for (int has_color = 0; has_color < 2; has_color++) {
		char *text;

		style.has_color = has_color;
		text = golden_report(&sample.profile, &style, false, false);
		for (const char *c = text; *c; c++) {
			if (has_color && strncmp(c, "\033[0", 3) == 0) {
				c += strcspn(c, "m");
				continue;
			}
			assert_true((unsigned char)*c >= 0x20 || *c == '\n');
		}
		free(text);
	}
}

/* Where lines are not cut, every character of the source is there. */
static void test_pipe_keeps_source(void **unused)
{
	struct sample sample;
	struct style style = golden_style(60);
	char *text;

	(void)unused;
	sample_init(&sample);
	style.is_cut = false;
	text = golden_report(&sample.profile, &style, false, false);
	assert_non_null(strstr(text, "-> None:\n"));
	assert_null(strstr(text, "…"));
	free(text);
}

/* Where it was asked for, files and lines below one percent are listed. */
static void test_below_one_percent(void **unused)
{
	struct sample sample;
	struct style style = golden_style(100);
	char *text;

	(void)unused;
	sample_init(&sample);
	sample.profile.total_s *= 1000;
	text = golden_report(&sample.profile, &style, false, true);
	assert_non_null(strstr(text, "Below 1%: "));
	assert_null(strstr(text, "<1% of the time"));
	free(text);
	sample.profile.shown_percent = 0;
	text = golden_report(&sample.profile, &style, false, true);
	assert_null(strstr(text, "Below 1%: "));
	assert_non_null(strstr(text, "primes.py  <1% of the time"));
	assert_non_null(strstr(text, "1.71 s  0.20 s"));
	free(text);
}

/* Lines without source: the text of single lines, or none; gaps between. */
static void test_missing_source(void **unused)
{
	struct sample sample;
	struct style style = golden_style(80);
	char *text;

	(void)unused;
	sample_init(&sample);
	sample.files[0].source = NULL;
	sample.files[0].source_size = 0;
	sample.lines[0].text = "    for n in range(2, limit):";
	text = golden_report(&sample.profile, &style, false, false);
	assert_non_null(strstr(text, "│     for n in range(2, limit):\n"));
	assert_non_null(strstr(text, "│ (no source)\n"));
	assert_non_null(strstr(text, "┊"));
	free(text);
}

/* Figures that are no numbers, lines beyond the source, columns beyond the
 * line: a damaged profile gives a poor report, never a crash. */
static void test_damaged_profile(void **unused)
{
	struct sample sample;
	struct style style = golden_style(80);

	(void)unused;
	style.has_color = true;
	sample_init(&sample);
	sample.lines[7].line = UINT32_MAX;
	sample.lines[1].columns[0] = (struct column_range){11, 1000, 2000, 2};
	sample.lines[3].columns = &(struct column_range){20, 30, -7, 2};
	sample.lines[3].column_count = 1;
	sample.lines[0].self.python_s = NAN;
	sample.profile.elapsed_s = -INFINITY;
	sample.files[1].self.python_s = 1e300;
	free(golden_report(&sample.profile, &style, false, false));
	free(golden_report(&sample.profile, &style, true, true));
	sample.profile.total_s = 0;
	free(golden_report(&sample.profile, &style, true, false));
	sample.profile = (struct profile){0};
	free(golden_report(&sample.profile, &style, false, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_widths_of_names),
		cmocka_unit_test(test_widths_of_sections),
		cmocka_unit_test(test_where_the_rest_went),
		cmocka_unit_test(test_no_control_characters),
		cmocka_unit_test(test_pipe_keeps_source),
		cmocka_unit_test(test_missing_source), cmocka_unit_test(test_below_one_percent),
		cmocka_unit_test(test_damaged_profile),
	};

	return cmocka_run_group_tests(tests, golden_locale, NULL);
}
