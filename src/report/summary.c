/* summary.c - what `heatline run` says at its end. */
#include "report/summary.h"

#include <string.h>

#include "profile/source.h"
#include "report/figure.h"
#include "report/glyph.h"
#include "report/quality.h"

#define DEFAULT_PROFILE "heatline-profile.json"
#define BAR_CELLS 12
#define BAR_NEEDS_COLUMNS 90 /* in less, the place is better given to the source */
#define SOURCE_NEEDS_COLUMNS 50
#define FIGURE_CELLS 15 /* indent, percent, seconds, gaps */

struct hot_line {
	const struct profile_file *file;
	const struct profile_line *line;
	double self_s;
};

/* Puts the line in its place among the hottest, if it is one of them. */
static void insert_line(struct hot_line *hottest, uint32_t *count, struct hot_line candidate)
{
	uint32_t at = *count;

	while (at > 0 && hottest[at - 1].self_s < candidate.self_s)
		at--;
	if (at == SUMMARY_LINES)
		return;
	if (*count < SUMMARY_LINES)
		++*count;
	memmove(hottest + at + 1, hottest + at, (*count - at - 1) * sizeof *hottest);
	hottest[at] = candidate;
}

static uint32_t find_hottest(const struct profile *profile, struct hot_line *hottest)
{
	uint32_t count = 0;

	for (uint32_t f = 0; f < profile->file_count; f++) {
		const struct profile_file *file = &profile->files[f];

		for (uint32_t i = 0; i < file->line_count; i++) {
			double self_s = figure_total(&file->lines[i].self);

			if (self_s > 0)
				insert_line(hottest, &count,
					    (struct hot_line){file, &file->lines[i], self_s});
		}
	}
	/* What is below a percent interests nobody, unless there is nothing else. */
	while (count > 1 && hottest[count - 1].self_s < 0.01 * profile->total_s)
		count--;
	return count;
}

static uint32_t number_width(uint32_t number)
{
	return (uint32_t)snprintf(NULL, 0, "%u", number);
}

/* Cells that "file:line" of the longest of the lines takes, within reason. */
static uint32_t place_width(const struct style *style, const struct hot_line *lines,
			    uint32_t count)
{
	uint32_t limit = style->columns / 3;
	uint32_t widest = 0;

	for (uint32_t i = 0; i < count; i++) {
		const char *path = glyph_short_path(style, lines[i].file->path);
		uint32_t width = glyph_width(path, strlen(path), style->has_utf8, limit);

		width += 1 + number_width(lines[i].line->line);
		if (width > widest)
			widest = width;
	}
	return widest > limit ? limit : widest;
}

static void print_place(FILE *out, const struct style *style, const struct hot_line *hot,
			uint32_t cells)
{
	uint32_t digits = number_width(hot->line->line) + 1;
	uint32_t room = cells > digits ? cells - digits : 0;
	uint32_t used = glyph_put_tail(out, style, glyph_short_path(style, hot->file->path), room);

	fprintf(out, ":%u%*s", hot->line->line, (int)(room - used), "");
}

static void print_line(FILE *out, const struct style *style, const struct profile *profile,
		       const struct hot_line *hot, double full_s, uint32_t place_cells)
{
	bool has_bar = style->columns >= BAR_NEEDS_COLUMNS;
	uint32_t used = FIGURE_CELLS + place_cells + 2 + (has_bar ? BAR_CELLS + 2 : 0);
	double share = profile->total_s > 0 ? hot->self_s / profile->total_s : 0;
	char percent[40];
	size_t size = 0;
	const char *source = source_file_line(hot->file, hot->line->line, &size);

	snprintf(percent, sizeof percent, "  %4s",
		 figure_percent(hot->self_s, profile->total_s).text);
	style_print(out, style, figure_heat(share), percent);
	fprintf(out, " %6s  ", figure_seconds(hot->self_s).text);
	if (has_bar) {
		figure_bar(out, style, &hot->line->self, full_s, BAR_CELLS);
		fputs("  ", out);
	}
	print_place(out, style, hot, place_cells);
	glyph_trim(&source, &size);
	if (size && style->columns >= SOURCE_NEEDS_COLUMNS && used < style->columns) {
		fputs("  ", out);
		glyph_put(out, style, source, size, style->columns - used);
	}
	fputc('\n', out);
}

static void print_heading(FILE *out, const struct style *style, const struct profile *profile)
{
	const char *program = profile->program ? profile->program : "";

	style_print(out, style, PAINT_STRONG, "heatline");
	fputs("  ", out);
	glyph_put_tail(out, style, glyph_short_path(style, program), style->columns / 2);
	fprintf(out, "  ran %s\n", figure_seconds(profile->elapsed_s).text);
	figure_legend(out, style, &profile->sum, profile->total_s, 2);
}

static void print_nothing_hot(FILE *out, const struct profile *profile)
{
	if (profile->outside_s > 0)
		fputs("  None of the time was spent in the program's own files; "
		      "--profile-all shows where it went.\n",
		      out);
	else
		fputs("  The program ended before a sample could be taken.\n", out);
}

/* The name as a shell takes it: quoted when it holds more than plain letters. */
static void print_shell_word(FILE *out, const struct style *style, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./,:@%";
	bool is_plain = word[0] != '\0' && word[0] != '-' && word[strspn(word, plain)] == '\0';

	if (!is_plain)
		fputc('\'', out);
	for (const char *c = word; *c;) {
		size_t size = strcspn(c, "'");

		glyph_put(out, style, c, size, GLYPH_ANY_WIDTH);
		c += size;
		if (*c == '\'') {
			fputs("'\\''", out);
			c++;
		}
	}
	if (!is_plain)
		fputc('\'', out);
}

static void print_command(FILE *out, const struct style *style, const char *options,
			  const char *profile_path, const char *meaning)
{
	fputs("  ", out);
	style_put(out, style, PAINT_STRONG);
	fprintf(out, "heatline view %s", options);
	if (strcmp(profile_path, DEFAULT_PROFILE) != 0) {
		fputc(' ', out);
		print_shell_word(out, style, profile_path);
	}
	style_put(out, style, PAINT_NONE);
	style_put(out, style, PAINT_DIM);
	fprintf(out, "   %s", meaning);
	style_put(out, style, PAINT_NONE);
	fputc('\n', out);
}

static void print_way_on(FILE *out, const struct style *style, const char *profile_path)
{
	fputs("  Saved to ", out);
	glyph_put(out, style, profile_path, strlen(profile_path), GLYPH_ANY_WIDTH);
	fputs(".  To look further:\n", out);
	print_command(out, style, "--cli", profile_path, "   every line of the program");
	print_command(out, style, "--cli -r", profile_path, "only the lines that took time");
}

void summary_print(FILE *out, const struct profile *profile, const char *profile_path,
		   const struct style *style)
{
	struct hot_line hottest[SUMMARY_LINES];
	uint32_t count = find_hottest(profile, hottest);
	uint32_t place_cells = place_width(style, hottest, count);

	fputc('\n', out);
	print_heading(out, style, profile);
	if (count)
		fputc('\n', out);
	for (uint32_t i = 0; i < count; i++)
		print_line(out, style, profile, &hottest[i], hottest[0].self_s, place_cells);
	if (!count)
		print_nothing_hot(out, profile);
	fputc('\n', out);
	quality_print(out, style, profile, 2);
	if (profile_path)
		print_way_on(out, style, profile_path);
}
