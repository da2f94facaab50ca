/* test_summary.c - what `heatline run` says at its end. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/glyph.h"
#include "report/summary.h"
#include "report_sample.h"

static struct style plain = {.has_utf8 = true, .columns = 80, .folder = "/home/me/app"};

static struct style wide = {.has_utf8 = true, .columns = 120, .folder = "/home/me/app"};

static char *summary(const struct profile *profile, const char *path, const struct style *style)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	summary_print(out, profile, path, false, style);
	fclose(out);
	return text;
}

static void expect_in(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}

static void test_summary(void **unused)
{
	struct sample sample;
	char *text;

	(void)unused;
	sample_init(&sample);
	text = summary(&sample.profile, "heatline-profile.json", &plain);
	assert_string_equal(
		text,
		"\n"
		"heatline  primes.py  ran 4.03 s\n"
		"  █ Python 1.96 s (49%)  ▓ native 0.92 s (23%)  ▒ system 13 ms (<1%)\n"
		"  ░ waiting 1.10 s (28%)\n"
		"\n"
		"   48% 1.92 s  primes.py:11  if all(n % p for p in found if p * p <= n):\n"
		"   28% 1.10 s  primes.py:26  time.sleep(seconds)\n"
		"   21% 0.83 s  primes.py:20  data = hashlib.sha256(data).digest()\n"
		"    1%  55 ms  primes.py:10  for n in range(2, limit):\n"
		"    1%  45 ms  primes.py:32  digest(str(i))\n"
		"\n"
		"  2,722 samples (927/s of CPU time), overhead about 0.4%, lost 4 (ring full 3,\n"
		"  torn frame 1)\n"
		"  Saved to heatline-profile.json.  To look further:\n"
		"  heatline view      every line of the program, in the browser\n"
		"  heatline view -r   in the terminal, the lines that took time\n");
	free(text);
}

/* Else nobody knows why the figures are so much less than what it ran. */
static void test_long_start(void **unused)
{
	static const char words[] = " of it before its first line and after its last";
	struct sample sample;
	char *text;

	(void)unused;
	sample_init(&sample);
	sample.profile.startup_s = 1.2;
	text = summary(&sample.profile, NULL, &wide);
	expect_in(text, "ran 4.03 s, 1.20 s of it before its first line and after its last\n");
	free(text);
	sample.profile.startup_s = 0.7; /* not worth a word */
	text = summary(&sample.profile, NULL, &wide);
	assert_null(strstr(text, words));
	free(text);
	/* What a shell in front of Python took is before the first line as well. */
	struct profile_process process = {.pid = 7, .start_s = 0.4};
	sample.profile.processes = &process;
	sample.profile.process_count = 1;
	text = summary(&sample.profile, NULL, &wide);
	expect_in(text, "ran 4.03 s, 1.10 s of it before its first line and after its last\n");
	free(text);
	sample.profile.startup_s = 9; /* of several processes together */
	sample.profile.process_count = 5;
	text = summary(&sample.profile, NULL, &wide);
	assert_null(strstr(text, words));
	free(text);
}

/* No terminal has to break a line, in the middle of a word. */
static void test_widths(void **unused)
{
	struct sample sample;
	struct style style = plain;
	char *text;

	(void)unused;
	style.is_cut = true;
	setlocale(LC_CTYPE, "C.UTF-8");
	for (style.columns = 54; style.columns < 130; style.columns++) {
		for (int is_empty = 0; is_empty < 2; is_empty++) {
			char *rest, *line;

			sample_init(&sample);
			sample.profile.startup_s = 1.2;
			sample.profile.suspended_s = 1;
			sample.profile.has_memory = true;
			if (is_empty)
				sample.profile.file_count = 0;
			text = summary(&sample.profile, "build/demo-profile.json", &style);
			rest = text;
			while ((line = strsep(&rest, "\n")) != NULL) {
				if (glyph_width(line, strlen(line), true, 1000) > style.columns)
					fail_msg("wider than %u: '%s'", style.columns, line);
			}
			free(text);
		}
	}
	style.columns = 80;
	sample.profile.file_count = 1;
	text = summary(&sample.profile, "build/demo-profile.json", &style);
	expect_in(text, "  heatline view build/demo-profile.json\n"
			"      every line of the program, in the browser\n"
			"  heatline view -r build/demo-profile.json\n"
			"      in the terminal, the lines that took time or memory\n");
	free(text);
}

/* The command can be pasted into a shell, whatever the file is called. */
static void test_file_names(void **unused)
{
	struct sample sample;
	char *text;

	(void)unused;
	sample_init(&sample);
	text = summary(&sample.profile, "out/p-1.json", &plain);
	expect_in(text, "heatline view out/p-1.json ");
	free(text);
	text = summary(&sample.profile, "it's $(it).json", &plain);
	expect_in(text, "heatline view 'it'\\''s $(it).json' ");
	free(text);
	text = summary(&sample.profile, NULL, &plain);
	assert_null(strstr(text, "Saved"));
	free(text);
}

static void test_few_samples(void **unused)
{
	struct sample sample;
	char *text;

	(void)unused;
	sample_init(&sample);
	sample.profile.quality = (struct profile_quality){.samples = 12};
	text = summary(&sample.profile, NULL, &plain);
	expect_in(text, "12 samples, overhead below 0.1%, none lost\n");
	expect_in(text, "Few samples");
	free(text);
	/* Looks at threads whose waiting does not count tell nothing of the shares. */
	sample.profile.quality = (struct profile_quality){
		.samples = 12, .wait_samples = 480, .idle_samples = 400, .rate_hz = 240};
	text = summary(&sample.profile, NULL, &plain);
	expect_in(text, "92 samples (80 of them looks at a thread that waited), overhead");
	expect_in(text, "Few samples");
	free(text);
	sample.profile.quality.idle_samples = 0;
	text = summary(&sample.profile, NULL, &plain);
	expect_in(text, "492 samples (480 of them looks");
	assert_null(strstr(text, "Few samples"));
	free(text);
}

/* The collector's share: of the program's CPU time, unless it hardly used any. */
static void test_what_it_took(void **unused)
{
	struct sample sample;
	char *text;

	(void)unused;
	sample_init(&sample);
	sample.profile.elapsed_s = 100;
	sample.profile.quality = (struct profile_quality){
		.samples = 400, .rate_hz = 200, .overhead_percent = 2.1, .collector_percent = 70};
	text = summary(&sample.profile, NULL, &plain);
	expect_in(text, "overhead about 2.1% and 1.4% of a CPU beside\n  it, none lost");
	free(text);
	sample.profile.quality.collector_percent = 0.7;
	text = summary(&sample.profile, NULL, &plain);
	expect_in(text, "overhead about 2.1% and 0.7% beside it, none\n  lost");
	free(text);
}

static void test_nothing_hot(void **unused)
{
	struct sample sample;
	char *text;

	(void)unused;
	sample_init(&sample);
	sample.profile.file_count = 0;
	text = summary(&sample.profile, NULL, &plain);
	expect_in(text, "  None of the time was spent in the files that are reported; --profile-all shows\n  where it went");
	free(text);
	sample.profile = (struct profile){.program = "x.py", .elapsed_s = 0.02};
	text = summary(&sample.profile, NULL, &plain);
	expect_in(text, "x.py  ran 20 ms\n");
	expect_in(text, "ended before one of its lines could be sampled");
	free(text);
}

/* What is on no line of the program is said, and where most of it was. */
static void test_outside(void **unused)
{
	struct profile_line lines[1] = {sample_line(3, 2, 0, 0, 0, 2, 200)};
	struct profile_file files[3] = {
		{.path = "/app/a.py", .in_scope = true, .lines = lines, .line_count = 1},
		{.path = "/usr/lib/python3.13/json/encoder.py"},
		{.path = "/venv/lib/python3.13/site-packages/solver/core.py"},
	};
	struct stack_node stacks[] = {
		{.file = UINT32_MAX},
		{.parent = 0, .file = 0, .function = "main", .line = 3, .self = {.python_s = 1}},
		{.parent = 1, .file = 1, .function = "dumps", .line = 9, .self = {.python_s = 1}},
		{.parent = 0, .file = 1, .function = "dumps", .line = 9, .self = {.python_s = 0.5}},
		{.parent = 3, .file = 2, .function = "solve", .line = 7, .self = {.native_s = 5.5}},
	};
	struct profile profile = {.program = "a.py", .files = files, .file_count = 3, .stacks = stacks,
				  .stack_count = 5, .total_s = 8, .elapsed_s = 8, .outside_s = 6};
	char *text;

	(void)unused;
	text = summary(&profile, NULL, &plain);
	expect_in(text, "   25% 2.00 s  /app/a.py:3\n"
			"   75% 6.00 s  outside of the reported files, most in solver/core.py\n");
	free(text);
	text = summary(&profile, NULL, &wide);
	expect_in(text, "most in solver/core.py (--profile-all)\n");
	free(text);
	files[2].path = "<frozen importlib._bootstrap_external>";
	text = summary(&profile, NULL, &plain);
	expect_in(text, "outside of the reported files, most in imports (--profile-all)\n");
	free(text);
	profile.outside_s = 0.3;
	text = summary(&profile, NULL, &plain);
	assert_null(strstr(text, "outside"));
	free(text);
}

/* The five hottest of many, in order, from all files. */
static void test_order(void **unused)
{
	struct profile_line lines[50];
	struct profile_file files[2] = {
		{.path = "/a.py", .lines = lines, .line_count = 25},
		{.path = "/b.py", .lines = lines + 25, .line_count = 25},
	};
	struct profile profile = {
		.program = "a.py", .files = files, .file_count = 2, .total_s = 50, .elapsed_s = 50};
	char *text, *at;

	(void)unused;
	for (uint32_t i = 0; i < 50; i++)
		lines[i] = sample_line(i, (i * 37) % 50 + 0.5, 0, 0, 0, 0, 100);
	text = summary(&profile, NULL, &plain);
	at = text;
	for (int expected = 49; expected > 44; expected--) {
		char figure[20];

		snprintf(figure, sizeof figure, "%d.5 s", expected);
		at = strstr(at, figure);
		assert_non_null(at);
	}
	assert_null(strstr(text, "44.5 s"));
	free(text);
}

/* A server that had little to do: its waiting does not hide what it worked at. */
static void test_mostly_waiting(void **unused)
{
	struct profile_line lines[] = {
		sample_line(1, 0, 0, 0, 600, 600, 9000),
		sample_line(2, 1.4, 0, 0, 0, 1.4, 140),
		sample_line(3, 0, 0.6, 0, 0, 0.6, 60),
		sample_line(4, 0.05, 0, 0, 0, 0.05, 5),
	};
	struct profile_file file = {.path = "/a.py", .lines = lines, .line_count = 4};
	struct profile profile = {
		.program = "a.py", .files = &file, .file_count = 1, .total_s = 602.05, .elapsed_s = 600,
		.sum = {.python_s = 1.45, .native_s = 0.6, .wait_s = 600}};
	char *text;

	(void)unused;
	text = summary(&profile, NULL, &plain);
	expect_in(text, "  <1% 1.40 s  /a.py:2\n   <1% 0.60 s  /a.py:3\n");
	assert_null(strstr(text, "a.py:4"));
	free(text);
}

/* Four hundred lines that are all the same: some of them, and what the others are. */
static void test_flat(void **unused)
{
	struct profile_line lines[401];
	struct profile_file files[2] = {
		{.path = "/a.py", .lines = lines, .line_count = 200},
		{.path = "/b.py", .lines = lines + 200, .line_count = 201},
	};
	struct profile profile = {
		.program = "a.py", .files = files, .file_count = 2, .total_s = 40, .elapsed_s = 40};
	char *text;

	(void)unused;
	for (uint32_t i = 0; i < 400; i++)
		lines[i] = sample_line(i + 1, 0.1, 0, 0, 0, 0.1, 10);
	lines[400] = sample_line(401, 0, 0, 0, 0, 40, 0); /* only calls */
	text = summary(&profile, NULL, &plain);
	expect_in(text, "  <1% 0.10 s  /a.py:5\n   99% 39.5 s  395 other lines of 2 files\n");
	free(text);
}

static void test_colors(void **unused)
{
	struct sample sample;
	struct style style = plain;
	char *text;

	(void)unused;
	sample_init(&sample);
	text = summary(&sample.profile, "p.json", &style);
	assert_null(strchr(text, '\033'));
	free(text);
	style.has_color = true;
	text = summary(&sample.profile, "p.json", &style);
	expect_in(text, "\033[0;1;31m   48%\033[0m");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_summary), cmocka_unit_test(test_long_start),     cmocka_unit_test(test_file_names),
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_few_samples), cmocka_unit_test(test_nothing_hot),
		cmocka_unit_test(test_what_it_took),
		cmocka_unit_test(test_outside),     cmocka_unit_test(test_mostly_waiting),
		cmocka_unit_test(test_order),       cmocka_unit_test(test_colors),
		cmocka_unit_test(test_flat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
