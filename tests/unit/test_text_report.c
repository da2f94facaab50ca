/* test_text_report.c - the text report: its layout at all widths, and its text
 * compared with golden files (written anew with HEATLINE_UPDATE_GOLDEN=1). */
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
#include "report/table.h"
#include "report/text.h"
#include "report_sample.h"

static struct style style_of(uint32_t columns)
{
	return (struct style){
		.has_utf8 = true,
		.is_cut = true,
		.columns = columns,
		.folder = "/home/me/app",
	};
}

/* The report, which the caller frees.  Not inlined: gcc 12 then takes the text
 * for a pointer to the variable that held it, and warns. */
__attribute__((noinline)) static char *report(const struct profile *profile,
					      const struct style *style, bool is_reduced,
					      bool in_seconds)
{
	struct text_options options = {is_reduced, in_seconds};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	text_report_print(out, profile, &options, style);
	fclose(out);
	return text;
}

static char *read_golden(const char *path)
{
	char *text;
	size_t size;
	FILE *in = fopen(path, "r");
	FILE *out;
	int c;

	if (!in)
		fail_msg("there is no %s; HEATLINE_UPDATE_GOLDEN=1 writes it", path);
	out = open_memstream(&text, &size);
	while ((c = getc(in)) != EOF)
		putc(c, out);
	fclose(in);
	fclose(out);
	return text;
}

static void expect_golden(const char *name, char *text)
{
	char path[1000];
	char *golden;

	snprintf(path, sizeof path, "%s/report-%s.txt", HEATLINE_GOLDEN, name);
	if (getenv("HEATLINE_UPDATE_GOLDEN")) {
		FILE *out = fopen(path, "w");

		assert_non_null(out);
		fputs(text, out);
		fclose(out);
	}
	golden = read_golden(path);
	assert_string_equal(text, golden);
	free(golden);
	free(text);
}

static void test_golden(void **unused)
{
	struct sample sample;
	struct style style = style_of(80);

	(void)unused;
	sample_init(&sample);
	expect_golden("80", report(&sample.profile, &style, false, false));
	expect_golden("80-reduced", report(&sample.profile, &style, true, false));
	style = style_of(60);
	expect_golden("60", report(&sample.profile, &style, false, false));
	style = style_of(120);
	expect_golden("120", report(&sample.profile, &style, false, false));
	expect_golden("120-seconds", report(&sample.profile, &style, true, true));
	style.has_color = true;
	expect_golden("120-color", report(&sample.profile, &style, false, false));
	style = style_of(200);
	expect_golden("200", report(&sample.profile, &style, false, false));
	style = style_of(100);
	style.has_utf8 = false;
	expect_golden("100-ascii", report(&sample.profile, &style, true, false));
}

/* No line of a table is wider than the terminal, and at every width the source
 * has room. */
static void test_widths(void **unused)
{
	struct sample sample;

	(void)unused;
	sample_init(&sample);
	for (uint32_t columns = STYLE_MIN_COLUMNS; columns <= 250; columns++) {
		struct style style = style_of(columns);
		char *text = report(&sample.profile, &style, false, columns % 2);
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

static void expect_columns(uint32_t columns, bool has_wait, bool has_memory, const char *expected,
			   uint32_t least_source)
{
	static const char letters[COLUMN_COUNT + 1] = "ltTpnswibPAMOVCR";
	struct style style = style_of(columns);
	struct table_needs needs = {
		.columns = {.last_line = 100,
			    .has_wait = has_wait,
			    .has_inclusive = true,
			    .has_memory = has_memory,
			    .has_timeline = has_memory,
			    .has_copy = has_memory},
		.total_s = 1,
	};
	char shown[COLUMN_COUNT + 1] = "";
	size_t shown_count = 0;
	struct table table;

	table_init(&table, &style, &needs);
	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (table.columns.width[i])
			shown[shown_count++] = letters[i];
	}
	assert_string_equal(shown, expected);
	assert_true(table.source_cells >= least_source);
}

static void test_columns(void **unused)
{
	(void)unused;
	expect_columns(200, true, false, "ltpnswib", 130);
	expect_columns(120, true, false, "ltpnswib", 48);
	expect_columns(100, true, false, "ltpnswi", 45);
	expect_columns(100, false, false, "ltpnsi", 50);
	expect_columns(80, true, false, "lpnswi", 32);
	expect_columns(80, false, false, "lpnsi", 40);
	expect_columns(60, true, false, "lpns", 28);
	expect_columns(50, true, false, "lT", 30);
	expect_columns(20, true, false, "lT", 3);
}

/* Without colours, nothing but text and newlines; with them, only colours. */
static void test_no_control_characters(void **unused)
{
	struct sample sample;
	struct style style = style_of(80);

	(void)unused;
	sample_init(&sample);
	sample.profile.program = "\033]0;title\a.py";
	sample.functions[0].name = "f\033[31m\n";
	sample.args[0] = "\x9b" "2J";
	for (int has_color = 0; has_color < 2; has_color++) {
		char *text;

		style.has_color = has_color;
		text = report(&sample.profile, &style, false, false);
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
	struct style style = style_of(60);
	char *text;

	(void)unused;
	sample_init(&sample);
	style.is_cut = false;
	text = report(&sample.profile, &style, false, false);
	assert_non_null(strstr(text, "-> None:\n"));
	assert_null(strstr(text, "…"));
	free(text);
}

/* Lines without source: the text of single lines, or none; gaps between. */
static void test_missing_source(void **unused)
{
	struct sample sample;
	struct style style = style_of(80);
	char *text;

	(void)unused;
	sample_init(&sample);
	sample.files[0].source = NULL;
	sample.files[0].source_size = 0;
	sample.lines[0].text = "    for n in range(2, limit):";
	text = report(&sample.profile, &style, false, false);
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
	struct style style = style_of(80);

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
	free(report(&sample.profile, &style, false, false));
	free(report(&sample.profile, &style, true, true));
	sample.profile.total_s = 0;
	free(report(&sample.profile, &style, true, false));
	sample.profile = (struct profile){0};
	free(report(&sample.profile, &style, false, false));
}

static int set_locale(void **unused)
{
	struct style style;

	(void)unused;
	setenv("LC_ALL", "C.UTF-8", 1);
	style_init(&style, -1, STYLE_COLOR_NEVER);
	return style.has_utf8 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_no_control_characters),
		cmocka_unit_test(test_pipe_keeps_source),
		cmocka_unit_test(test_missing_source),
		cmocka_unit_test(test_damaged_profile),
	};

	return cmocka_run_group_tests(tests, set_locale, NULL);
}
