/* summary.c - what `heatline run` says at its end. */
#include "report/summary.h"

#include <string.h>

#include "base/text.h"
#include "profile/read.h"
#include "report/advice.h"
#include "report/export/frames.h"
#include "report/figure.h"
#include "report/glyph.h"
#include "report/gpu.h"
#include "report/memory.h"
#include "report/outside.h"
#include "report/quality.h"
#include "report/rank.h"
#include "report/threads.h"

#define BAR_CELLS 12
#define BAR_NEEDS_COLUMNS 90 /* in less, the place is better given to the source */
#define LINE_SHARE 0.01
#define WORK_SHARE 0.05
#define REST_SHARE 0.3  /* that the lines shown leave open: then others are shown, and counted */
#define OUTSIDE_SHARE 0.05 /* less is not worth a line */
#define FIGURE_CELLS 15 /* indent, percent, seconds, gaps */
#define MEANING_INDENT 6

/* The interpreter's start and end are mentioned when they are so long, and such a part. */
#define STARTUP_S 0.1
#define STARTUP_SHARE 0.2

static double self_time(const struct profile *profile, const struct profile_line *line)
{
	(void)profile;
	return figure_total(&line->self);
}

/* Less than a percent interests nobody; but in a program that waits most of the time, as
 * a server does, what it works at is found by its share of the work. */
static bool is_worth_a_line(const struct profile *profile, const struct ranked_line *hot)
{
	double work_s = hot->value - hot->line->self.wait_s;
	double all_work_s = figure_total(&profile->sum) - profile->sum.wait_s;

	return hot->value >= LINE_SHARE * profile->total_s || work_s >= WORK_SHARE * all_work_s;
}

/* What the first of the hottest lines leave of the time on lines. */
static double rest_of(const struct profile *profile, const struct ranked_line *hottest, uint32_t count)
{
	double rest_s = profile->total_s - profile->outside_s;

	for (uint32_t i = 0; i < count; i++)
		rest_s -= hottest[i].value;
	return rest_s;
}

static uint32_t find_hottest(const struct profile *profile, struct ranked_line *hottest)
{
	uint32_t count = rank_lines(profile, self_time, hottest, SUMMARY_LINES);

	while (count > 1 && rest_of(profile, hottest, count - 1) < REST_SHARE * profile->total_s &&
	       !is_worth_a_line(profile, &hottest[count - 1]))
		count--;
	return count;
}

/* Percent, seconds and bar; returns the cells that they take. */
static uint32_t print_time(FILE *out, const struct style *style, const struct profile *profile,
			   double seconds, const struct metrics *kinds, double full_s)
{
	bool has_bar = style->columns >= BAR_NEEDS_COLUMNS;
	double share = profile->total_s > 0 ? seconds / profile->total_s : 0;
	char percent[40];

	snprintf(percent, sizeof percent, "  %4s",
		 figure_percent(seconds, profile->total_s).text);
	style_print(out, style, figure_heat(share), percent);
	fprintf(out, " %6s  ", figure_seconds(seconds).text);
	if (!has_bar)
		return FIGURE_CELLS;
	figure_bar(out, style, kinds, full_s, BAR_CELLS);
	fputs("  ", out);
	return FIGURE_CELLS + BAR_CELLS + 2;
}

static void print_line(FILE *out, const struct style *style, const struct profile *profile,
		       const struct ranked_line *hot, double full_s, uint32_t place_cells)
{
	uint32_t used = print_time(out, style, profile, hot->value, &hot->line->self, full_s);

	rank_put_place(out, style, hot, place_cells);
	rank_put_source(out, style, hot, used + place_cells);
	fputc('\n', out);
}

/* The program's lines that are not among the hottest. */
struct rest {
	struct metrics sum;
	uint32_t lines, files;
	bool is_worth_a_line; /* no line stands out */
};

static bool is_among(const struct profile_line *line, const struct ranked_line *hottest, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (hottest[i].line == line)
			return true;
	}
	return false;
}

static struct rest find_rest(const struct profile *profile, const struct ranked_line *hottest,
			     uint32_t count)
{
	struct rest rest = {.lines = 0};

	for (uint32_t f = 0; f < profile->file_count; f++) {
		const struct profile_file *file = &profile->files[f];
		uint32_t before = rest.lines;

		for (uint32_t i = 0; i < file->line_count; i++) {
			const struct metrics *self = &file->lines[i].self;

			if (figure_total(self) <= 0 || is_among(&file->lines[i], hottest, count))
				continue;
			metrics_add(&rest.sum, self);
			rest.lines++;
		}
		rest.files += rest.lines != before;
	}
	rest.is_worth_a_line = rest.lines != 0 &&
			       figure_total(&rest.sum) >= REST_SHARE * profile->total_s;
	return rest;
}

static void print_rest(FILE *out, const struct style *style, const struct profile *profile,
		       const struct rest *rest, double full_s)
{
	char text[120];
	int size = snprintf(text, sizeof text, "%u other %s of %u %s", rest->lines,
			    rest->lines == 1 ? "line" : "lines", rest->files,
			    rest->files == 1 ? "file" : "files");
	uint32_t used = print_time(out, style, profile, figure_total(&rest->sum), &rest->sum, full_s);

	glyph_put(out, style, text, (size_t)size, style->columns > used ? style->columns - used : 1);
	fputc('\n', out);
}

/* What the file is called; the import system's own says nothing by its name. */
static const char *outside_name(const struct profile *profile, const struct profile_file *file)
{
	return text_starts_with(file->path, "<frozen importlib") ? "imports"
								 : export_short_path(profile, file->path);
}

/* The time on none of the program's lines: a library in a process of its own, say. */
static void print_outside(FILE *out, const struct style *style, const struct profile *profile,
			  double full_s)
{
	struct outside outside = outside_find(profile);
	static const char hint[] = " (--profile-all)";
	char text[400];
	uint32_t used = print_time(out, style, profile, profile->outside_s, &outside.sum, full_s);
	uint32_t room = style->columns > used ? style->columns - used : 1;

	snprintf(text, sizeof text, "outside of the reported files%s%s", outside.most ? ", most in " : "",
		 outside.most ? outside_name(profile, outside.most) : "");
	used = glyph_put(out, style, text, strlen(text), room);
	if (used + sizeof hint - 1 <= room)
		fputs(hint, out);
	fputc('\n', out);
}

/* Of several processes it is their sum, which is no part of the time that the program ran. */
static double start_of(const struct profile *profile)
{
	return profile->process_count > 1 ? 0 : profile->startup_s + outside_before_python(profile);
}

static void print_heading(FILE *out, const struct style *style, const struct profile *profile)
{
	const char *program = profile->program ? profile->program : "";
	double start_s = start_of(profile);
	uint32_t used = sizeof "heatline  " - 1 + 2;
	char text[200];
	int size;

	style_print(out, style, PAINT_STRONG, "heatline");
	fputs("  ", out);
	used += glyph_put_tail(out, style, glyph_short_path(style, program), style->columns / 2);
	fputs("  ", out);
	size = snprintf(text, sizeof text, "ran %s", figure_seconds(profile->elapsed_s).text);
	if (start_s >= STARTUP_S && start_s >= STARTUP_SHARE * profile->elapsed_s)
		size += snprintf(text + size, sizeof text - (size_t)size,
				 ", %s of it before its first line and after its last",
				 figure_seconds(start_s).text);
	if (profile->suspended_s > 0)
		snprintf(text + size, sizeof text - (size_t)size, ", suspended for %s of it",
			 figure_seconds(profile->suspended_s).text);
	glyph_put_wrapped(out, style, text, used);
	figure_legend(out, style, &profile->sum, profile->total_s, 2);
}

static void print_nothing_hot(FILE *out, const struct style *style, const struct profile *profile)
{
	const char *sentence = "The program ended before one of its lines could be sampled.";

	if (profile->suspended_s > 0 && profile->sum.samples == 0)
		sentence = "Nothing was measured: profiling was suspended, and 'heatline on' came too late "
			   "or not at all.";
	else if (profile->outside_s > 0)
		sentence = "None of the time was spent in the files that are reported; --profile-all shows "
			   "where it went, without --profile-only and --profile-exclude.";
	fputs("  ", out);
	glyph_put_wrapped(out, style, sentence, 2);
}

/* The name as a shell takes it: quoted when it holds more than plain letters.  Returns the cells
 * that it takes. */
static uint32_t print_shell_word(FILE *out, const struct style *style, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./,:@%";
	bool is_plain = word[0] != '\0' && word[0] != '-' && word[strspn(word, plain)] == '\0';
	uint32_t cells = is_plain ? 0 : 2;

	if (!is_plain)
		fputc('\'', out);
	for (const char *c = word; *c;) {
		size_t size = strcspn(c, "'");

		cells += glyph_put(out, style, c, size, GLYPH_ANY_WIDTH);
		c += size;
		if (*c == '\'') {
			cells += (uint32_t)fprintf(out, "'\\''");
			c++;
		}
	}
	if (!is_plain)
		fputc('\'', out);
	return cells;
}

/* What it is for stands `gap` cells after it, or below it where that is too wide. */
static void print_command(FILE *out, const struct style *style, const char *options,
			  const char *profile_path, uint32_t gap, const char *meaning)
{
	uint32_t used = 2;
	bool is_below;

	fputs("  ", out);
	style_put(out, style, PAINT_STRONG);
	used += (uint32_t)fprintf(out, "heatline view%s", options);
	if (strcmp(profile_path, DEFAULT_PROFILE) != 0) {
		fputc(' ', out);
		used += 1 + print_shell_word(out, style, profile_path);
	}
	style_put(out, style, PAINT_NONE);
	is_below = style->is_cut && used + gap + strlen(meaning) > style->columns;
	style_put(out, style, PAINT_DIM);
	if (is_below) {
		fprintf(out, "\n%*s", MEANING_INDENT, "");
		glyph_put_wrapped(out, style, meaning, MEANING_INDENT);
	} else {
		fprintf(out, "%*s%s\n", (int)gap, "", meaning);
	}
	style_put(out, style, PAINT_NONE);
}

static void print_way_on(FILE *out, const struct style *style, const struct profile *profile,
			 const char *profile_path)
{
	fputs("  Saved to ", out);
	glyph_put(out, style, profile_path, strlen(profile_path), GLYPH_ANY_WIDTH);
	fputs(".  To look further:\n", out);
	print_command(out, style, "", profile_path, 6, "every line of the program, in the browser");
	print_command(out, style, " -r", profile_path, 3,
		      profile->has_memory ? "in the terminal, the lines that took time or memory" :
					    "in the terminal, the lines that took time");
}

void summary_print(FILE *out, const struct profile *profile, const char *profile_path,
		   bool is_explained, const struct style *style)
{
	struct ranked_line hottest[SUMMARY_LINES];
	uint32_t count = find_hottest(profile, hottest);
	uint32_t place_cells = rank_place_width(style, hottest, count);
	struct rest rest = find_rest(profile, hottest, count);
	bool has_outside = profile->outside_s >= OUTSIDE_SHARE * profile->total_s;
	double full_s = count ? hottest[0].value : 0;

	if (has_outside && profile->outside_s > full_s)
		full_s = profile->outside_s;
	if (rest.is_worth_a_line && figure_total(&rest.sum) > full_s)
		full_s = figure_total(&rest.sum);
	fputc('\n', out);
	print_heading(out, style, profile);
	if (count)
		fputc('\n', out);
	for (uint32_t i = 0; i < count; i++)
		print_line(out, style, profile, &hottest[i], full_s, place_cells);
	if (count && rest.is_worth_a_line)
		print_rest(out, style, profile, &rest, full_s);
	if (count && has_outside)
		print_outside(out, style, profile, full_s);
	if (!count && !is_explained)
		print_nothing_hot(out, style, profile);
	fputc('\n', out);
	threads_print_notes(out, style, profile, 2);
	memory_print_summary(out, style, profile, 2);
	gpu_print_summary(out, style, profile, 2);
	advice_print_summary(out, style, profile, 2);
	quality_print(out, style, profile, 2);
	if (profile_path)
		print_way_on(out, style, profile, profile_path);
}
