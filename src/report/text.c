/* text.c - a profile as text: the run as a whole, then file by file. */
#include "report/text.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "report/advice.h"
#include "report/figure.h"
#include "report/glyph.h"
#include "report/gpu.h"
#include "report/listing.h"
#include "report/marks.h"
#include "report/memory.h"
#include "report/outside.h"
#include "report/processes.h"
#include "report/quality.h"
#include "report/tasks.h"
#include "report/threads.h"

#define MAX_BAR_CELLS 100
#define MAX_NAMED_FILES 5
#define MAX_FACTS_BYTES 500
#define BEFORE_S 0.1 /* less before the interpreter was started is not told */
#define MAX_ARGUMENT_CELLS 200 /* of the program's arguments together */

/* ---- the run ---- */

static void put_program(FILE *out, const struct style *style, const struct profile *profile)
{
	const char *program = profile->program ? profile->program : "(unknown program)";
	uint32_t used = 0;

	style_print(out, style, PAINT_STRONG, "heatline");
	fputs("  ", out);
	glyph_put_tail(out, style, glyph_short_path(style, program),
		       style->is_cut ? style->columns - 10 : GLYPH_ANY_WIDTH);
	for (uint32_t i = 0; i < profile->arg_count && used < MAX_ARGUMENT_CELLS; i++) {
		fputc(' ', out);
		used += 1 + glyph_put(out, style, profile->args[i], strlen(profile->args[i]),
				      MAX_ARGUMENT_CELLS - used);
	}
	fputc('\n', out);
}

static void put_facts(FILE *out, const struct style *style, const struct profile *profile)
{
	struct buf text;

	buf_init(&text, MAX_FACTS_BYTES);
	buf_printf(&text, "%s elapsed, %s profiled", figure_seconds(profile->elapsed_s).text,
		   figure_seconds(profile->total_s).text);
	if (profile->python_version)
		buf_printf(&text, ", Python %.40s", profile->python_version);
	if (profile->process_count > 1)
		buf_printf(&text, ", %u processes", profile->process_count);
	if (profile->thread_count > 1)
		buf_printf(&text, ", %s threads", figure_count(profile_count_threads(profile)).text);
	if (profile->from_scalene)
		buf_text(&text, ", measured by Scalene");
	if (profile->suspended_s > 0)
		buf_printf(&text, ", suspended for %s", figure_seconds(profile->suspended_s).text);
	if (profile->is_partial)
		buf_text(&text, ", written while the program still ran");
	glyph_put_wrapped(out, style, text.data, 0);
	buf_fini(&text);
	quality_print(out, style, profile, 0);
}

static void put_overview(FILE *out, const struct style *style, const struct profile *profile)
{
	uint32_t cells = style->columns < MAX_BAR_CELLS ? style->columns : MAX_BAR_CELLS;

	if (figure_total(&profile->sum) > 0) {
		fputc('\n', out);
		figure_bar(out, style, &profile->sum, figure_total(&profile->sum), cells);
		fputc('\n', out);
		figure_legend(out, style, &profile->sum, profile->total_s, 0);
		threads_print_waits(out, style, profile);
		threads_print_notes(out, style, profile, 0);
	}
	memory_print_overview(out, style, profile, cells);
}

/* ---- the files ---- */

static int by_self_time(const void *a, const void *b)
{
	const struct profile_file *const *left = a, *const *right = b;
	double left_s = figure_total(&(*left)->self), right_s = figure_total(&(*right)->self);

	if (left_s != right_s)
		return left_s < right_s ? 1 : -1;
	return strcmp((*left)->path, (*right)->path);
}

static const struct profile_file **sort_files(const struct profile *profile)
{
	const struct profile_file **files = mem_alloc(profile->file_count * sizeof *files);

	for (uint32_t i = 0; i < profile->file_count; i++)
		files[i] = &profile->files[i];
	qsort(files, profile->file_count, sizeof *files, by_self_time);
	return files;
}

static double hottest_line(const struct profile *profile)
{
	double hottest_s = 0;

	for (uint32_t f = 0; f < profile->file_count; f++) {
		for (uint32_t i = 0; i < profile->files[f].line_count; i++) {
			double self_s = figure_total(&profile->files[f].lines[i].self);

			hottest_s = self_s > hottest_s ? self_s : hottest_s;
		}
	}
	return hottest_s;
}

/* The files that took some time, but too little for a listing. */
static void put_small_files(FILE *out, const struct style *style, const struct profile *profile,
			    const struct profile_file **files)
{
	const char *gap = "Below 1%: ";
	uint32_t count = 0;
	char *text = NULL;
	size_t size = 0;
	FILE *list = open_memstream(&text, &size);

	if (!list)
		return;
	for (uint32_t i = 0; i < profile->file_count; i++) {
		double self_s = figure_total(&files[i]->self);

		if (self_s <= 0 || listing_is_worth(profile, files[i]))
			continue;
		if (++count > MAX_NAMED_FILES)
			continue;
		fputs(gap, list);
		glyph_put_tail(list, style, glyph_short_path(style, files[i]->path), 50);
		fprintf(list, " %s", figure_seconds(self_s).text);
		gap = ", ";
	}
	if (count > MAX_NAMED_FILES)
		fprintf(list, " and %u more files", count - MAX_NAMED_FILES);
	fclose(list);
	if (count)
		glyph_put_wrapped(out, style, text, 0);
	free(text);
}

/* ---- what the figures leave out, and what the marks mean ---- */

static void put_dim(FILE *out, const struct style *style, const char *sentence)
{
	style_put(out, style, PAINT_DIM);
	glyph_put_wrapped(out, style, sentence, 0);
	style_put(out, style, PAINT_NONE);
}

static void put_omissions(FILE *out, const struct style *style, const struct profile *profile)
{
	double before_s = outside_before_python(profile);
	double elsewhere_s = outside_elsewhere(profile);
	char text[200];

	if (profile->total_s > 0 && elsewhere_s >= 0.01 * profile->total_s) {
		snprintf(text, sizeof text,
			 "%s (%s) went by outside of these files; run --profile-all --cpu-percent-threshold 0 lists all.",
			 figure_seconds(elsewhere_s).text,
			 figure_percent(elsewhere_s, profile->total_s).text);
		put_dim(out, style, text);
	}
	if (profile->total_s > 0 && profile->omitted_s >= 0.01 * profile->total_s) {
		snprintf(text, sizeof text,
			 "%s (%s) went by on lines that are not in the profile, which has room for the %u that count most.",
			 figure_seconds(profile->omitted_s).text,
			 figure_percent(profile->omitted_s, profile->total_s).text, PROFILE_LINES_MAX);
		put_dim(out, style, text);
	}
	if (profile->startup_s >= 0.001) {
		int size = snprintf(text, sizeof text,
				    "Not counted: %s in which the interpreter started and ended",
				    figure_seconds(profile->startup_s).text);

		if (before_s >= BEFORE_S)
			size += snprintf(text + size, sizeof text - (size_t)size,
					 ", and %s until it was started",
					 figure_seconds(before_s).text);
		snprintf(text + size, sizeof text - (size_t)size, ".");
		put_dim(out, style, text);
	}
}

static void put_legend(FILE *out, const struct style *style, const struct listing_marks *marks)
{
	char text[80];

	if (marks->has_rough) {
		snprintf(text, sizeof text, "~ rests on fewer than %d samples.\n",
			 QUALITY_FEW_LINE_SAMPLES);
		style_print(out, style, PAINT_DIM, text);
	}
	if (marks->has_underlined) {
		style_put_underlined(out, style, PAINT_DIM);
		fputs("underlined", out);
		style_print(out, style, PAINT_DIM, ": the hottest part of the line.\n");
	}
}

/* Everything that stands below the files, after an empty line if there is any. */
static void put_footer(FILE *out, const struct style *style, const struct profile *profile,
		       const struct profile_file **files, const struct listing_marks *marks)
{
	char *text = NULL;
	size_t size = 0;
	FILE *footer = open_memstream(&text, &size);

	if (!footer)
		return;
	put_small_files(footer, style, profile, files);
	put_omissions(footer, style, profile);
	put_legend(footer, style, marks);
	fclose(footer);
	if (size) {
		fputc('\n', out);
		fwrite(text, 1, size, out);
	}
	free(text);
}

void text_report_print(FILE *out, const struct profile *profile,
		       const struct text_options *options, const struct style *style)
{
	const struct profile_file **files = sort_files(profile);
	struct listing_marks marks = {false, false};
	struct table_needs needs = {
		.columns = {.in_seconds = options->in_seconds,
			    .has_gil = threads_has_gil_worth(profile),
			    .has_gc = threads_has_gc_worth(profile)},
		.total_s = profile->total_s,
		.shown_percent = profile->shown_percent,
		.await_s = profile->await_s,
		.gpu_s = profile->gpu.source ? profile->sum.gpu_s : 0,
		.hottest_s = hottest_line(profile),
		.memory = worth_scale_of(profile),
	};

	put_program(out, style, profile);
	put_facts(out, style, profile);
	put_overview(out, style, profile);
	for (uint32_t i = 0; i < profile->file_count; i++) {
		if (!listing_is_worth(profile, files[i]))
			continue;
		fputc('\n', out);
		listing_print(out, style, profile, files[i], needs, options->is_reduced, &marks);
	}
	advice_print(out, style, profile);
	marks_print(out, style, profile);
	threads_print_idle(out, style, profile);
	threads_print_table(out, style, profile);
	tasks_print(out, style, profile);
	gpu_print_section(out, style, profile);
	memory_print_sections(out, style, profile);
	processes_print(out, style, profile);
	put_footer(out, style, profile, files, &marks);
	free(files);
}
