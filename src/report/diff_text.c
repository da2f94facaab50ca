/* diff_text.c - two profiles compared, as text. */
#include "report/diff_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "profile/source.h"
#include "report/figure.h"
#include "report/glyph.h"

#define MAX_ROWS 15u        /* of each list */
#define MAX_PLACE_CELLS 40u
#define MIN_SOURCE_CELLS 8u
#define NARROW_COLUMNS 60u /* in less, only the change itself is shown */
#define LEAST_SHARE 0.001   /* of the time: less is not worth a row */

typedef struct figure figure_of(double value);

static const char *arrow(const struct style *style)
{
	return style->has_utf8 ? "→" : "->";
}

/* "+32%", "-50%", "new" where there was nothing, "" where nothing changed. */
static struct figure relative(const struct diff_value *value)
{
	struct figure figure = {""};
	double change = diff_change(value);
	if (change == 0)
		return figure;
	if (!(value->before > 0))
		return (struct figure){"new"};
	double percent = fmin(100 * change / value->before, 99999);
	snprintf(figure.text, sizeof(figure.text), "%+.0f%%", percent);
	return figure;
}

/* ---- the verdict ---- */

/* "2.2 times as long", "1.8 times as fast", "+12%". */
static void put_ratio(FILE *out, const struct diff_value *total)
{
	bool is_slower = total->after > total->before;
	double low = fmin(total->before, total->after), high = fmax(total->before, total->after);
	if (low > 0 && high >= 1.5 * low)
		fprintf(out, "%.1f times as %s", fmin(high / low, 9999),
			is_slower ? "long" : "fast");
	else
		fputs(relative(total).text, out);
}

static void put_lines(FILE *out, const struct profile_diff *diff)
{
	if (diff->slower)
		fprintf(out, "; %u line%s got slower", diff->slower, diff->slower > 1 ? "s" : "");
	if (diff->faster)
		fprintf(out, "; %u line%s got faster", diff->faster, diff->faster > 1 ? "s" : "");
}

static void put_memory(FILE *out, const struct profile_diff *diff)
{
	double change = diff_change(&diff->peak_bytes);
	if (diff->peak_bytes.is_real)
		fprintf(out, "; peak memory %s %s", figure_bytes(fabs(change)).text,
			change > 0 ? "more" : "less");
}

static void print_verdict(FILE *out, const struct profile_diff *diff)
{
	const struct diff_value *total = &diff->total_s;
	bool is_slower = total->after > total->before;
	if (total->is_real) {
		fprintf(out, "%s: %s instead of ", is_slower ? "Slower" : "Faster",
			figure_seconds(total->after).text);
		fprintf(out, "%s (", figure_seconds(total->before).text);
		put_ratio(out, total);
		fputc(')', out);
	} else {
		fprintf(out, "No difference in time beyond noise: %s instead of ",
			figure_seconds(total->after).text);
		fputs(figure_seconds(total->before).text, out);
	}
	put_memory(out, diff);
	put_lines(out, diff);
}

char *diff_verdict_text(const struct profile_diff *diff)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	if (!stream)
		mem_exhausted(0);
	print_verdict(stream, diff);
	if (fclose(stream) != 0)
		mem_exhausted(size);
	return text;
}

static void put_verdict(FILE *out, const struct style *style, const struct profile_diff *diff)
{
	char *verdict = diff_verdict_text(diff);
	char text[400];
	snprintf(text, sizeof(text), "%s.", verdict);
	free(verdict);
	style_put(out, style, PAINT_STRONG);
	glyph_put_wrapped(out, style, text, 0);
	style_put(out, style, PAINT_NONE);
}

/* ---- the totals ---- */

static void put_total(FILE *out, const struct style *style, const char *name,
		      const struct diff_value *value, figure_of *figure)
{
	bool is_worse = diff_change(value) > 0;
	enum paint paint = !value->is_real ? PAINT_DIM : is_worse ? PAINT_HOT : PAINT_STRING;
	if (!(value->before > 0) && !(value->after > 0))
		return;
	fprintf(out, "  %-14s%9s%9s  ", name, figure(value->before).text,
		figure(value->after).text);
	style_put(out, style, paint);
	fprintf(out, "%7s%s", relative(value).text,
		value->is_real || diff_change(value) == 0 ? "" : "  within noise");
	style_put(out, style, PAINT_NONE);
	fputc('\n', out);
}

static void put_totals(FILE *out, const struct style *style, const struct profile_diff *diff)
{
	style_put(out, style, PAINT_DIM);
	fprintf(out, "  %-14s%9s%9s  %7s\n", "", "before", "after", "change");
	style_put(out, style, PAINT_NONE);
	put_total(out, style, "time", &diff->total_s, figure_seconds);
	put_total(out, style, "  on a CPU", &diff->cpu_s, figure_seconds);
	put_total(out, style, "  Python", &diff->python_s, figure_seconds);
	put_total(out, style, "  native", &diff->native_s, figure_seconds);
	put_total(out, style, "  system", &diff->system_s, figure_seconds);
	put_total(out, style, "  waiting", &diff->wait_s, figure_seconds);
	if (diff->has_gpu)
		put_total(out, style, "GPU time", &diff->gpu_s, figure_seconds);
	if (!diff->has_memory)
		return;
	put_total(out, style, "peak memory", &diff->peak_bytes, figure_bytes);
	put_total(out, style, "allocated", &diff->alloc_bytes, figure_bytes);
	put_total(out, style, "copied", &diff->copy_bytes, figure_bytes);
}

/* ---- lines and functions ---- */

/* "+1.20 s  1.46 s → 2.66 s  "; how many cells that took. */
static uint32_t put_change(FILE *out, const struct style *style, const struct diff_value *value,
			   figure_of *figure)
{
	double change = diff_change(value);
	char text[80];
	snprintf(text, sizeof(text), "%s%s", change < 0 ? "-" : "+", figure(fabs(change)).text);
	fputs("  ", out);
	style_put(out, style, change > 0 ? PAINT_HOT : PAINT_STRING);
	fprintf(out, "%8s", text);
	style_put(out, style, PAINT_NONE);
	if (style->is_cut && style->columns < NARROW_COLUMNS) {
		fputs("  ", out);
		return 2 + 8 + 2;
	}
	fprintf(out, "  %7s %s %-7s  ", figure(value->before).text, arrow(style),
		figure(value->after).text);
	return 2 + 8 + 2 + 7 + 1 + (style->has_utf8 ? 1 : 2) + 1 + 7 + 2;
}

/* ":11" and what became of the line: " (was 9)". */
static struct figure place_end(const struct diff_line *line)
{
	const struct profile_line *before = line->line[DIFF_BEFORE];
	const struct profile_line *after = line->line[DIFF_AFTER];
	struct figure end;
	char past[20] = "";
	if (before && after && before->line != after->line)
		snprintf(past, sizeof(past), " (was %u)", before->line);
	snprintf(end.text, sizeof(end.text), ":%u%s", diff_line_number(line),
		 !before ? " (new)" : !after ? " (gone)" : past);
	return end;
}

/* "app.py:11 (was 9)" after `used` cells, the beginning of the path cut; the cells. */
static uint32_t put_place(FILE *out, const struct style *style, const struct diff_line *line,
			  uint32_t used)
{
	const char *path = glyph_short_path(style, diff_line_file(line)->path);
	struct figure end = place_end(line);
	uint32_t end_cells = (uint32_t)strlen(end.text), room = MAX_PLACE_CELLS;
	if (style->is_cut && used + end_cells + room > style->columns)
		room = style->columns > used + end_cells ? style->columns - used - end_cells : 0;
	room = glyph_put_tail(out, style, path, room);
	fputs(end.text, out);
	return room + end_cells;
}

static void put_source(FILE *out, const struct style *style, const struct diff_line *line,
		       uint32_t used)
{
	size_t size;
	uint32_t room = style->is_cut ? style->columns : GLYPH_ANY_WIDTH;
	const char *text = source_file_line(diff_line_file(line), diff_line_number(line), &size);
	glyph_trim(&text, &size);
	if (size && used + 2 + MIN_SOURCE_CELLS <= room) {
		fputs("  ", out);
		glyph_put(out, style, text, size, style->is_cut ? room - used - 2 : room);
	}
}

static void put_line(FILE *out, const struct style *style, const struct diff_line *line,
		     const struct diff_value *value, figure_of *figure)
{
	uint32_t used = put_change(out, style, value, figure);
	used += put_place(out, style, line, used);
	put_source(out, style, line, used);
	fputc('\n', out);
}

void diff_print_line(FILE *out, const struct style *style, const struct diff_line *line)
{
	put_line(out, style, line, &line->time_s, figure_seconds);
}

void diff_print_memory_line(FILE *out, const struct style *style, const struct diff_line *line)
{
	put_line(out, style, line, &line->peak_bytes, figure_bytes);
}

/* What a list of lines shows. */
struct listing {
	const char *title;
	size_t offset; /* of the value in struct diff_line */
	figure_of *figure;
	int sign; /* 1: those that grew */
};

static const struct diff_value *value_of(const struct diff_line *line, size_t offset)
{
	return (const struct diff_value *)((const char *)line + offset);
}

static double change_of(const void *line, const void *offset)
{
	const struct diff_line *const *at = line;
	return fabs(diff_change(value_of(*at, *(const size_t *)offset)));
}

static int by_change(const void *a, const void *b, void *offset)
{
	double left = change_of(a, offset), right = change_of(b, offset);
	return (left < right) - (left > right);
}

static void put_rest(FILE *out, const struct style *style, uint32_t count)
{
	char text[64];
	if (count <= MAX_ROWS)
		return;
	snprintf(text, sizeof(text), "  and %u more\n", count - MAX_ROWS);
	style_print(out, style, PAINT_DIM, text);
}

static void put_listing(FILE *out, const struct style *style, const struct profile_diff *diff,
			const struct listing *listing)
{
	const struct diff_line **found = mem_alloc(diff->line_count * sizeof(*found));
	bool is_time = listing->figure == figure_seconds;
	double least = is_time ? LEAST_SHARE * fmax(diff->total_s.before, diff->total_s.after) : MB;
	size_t offset = listing->offset;
	uint32_t count = 0;
	for (uint32_t i = 0; i < diff->line_count; i++) {
		const struct diff_value *value = value_of(&diff->lines[i], offset);
		if (value->is_real && diff_change(value) * listing->sign >= least)
			found[count++] = &diff->lines[i];
	}
	qsort_r(found, count, sizeof(*found), by_change, &offset);
	if (count) {
		fputc('\n', out);
		style_print(out, style, PAINT_STRONG, listing->title);
		fputc('\n', out);
	}
	for (uint32_t i = 0; i < count && i < MAX_ROWS; i++)
		put_line(out, style, found[i], value_of(found[i], offset), listing->figure);
	put_rest(out, style, count);
	free(found);
}

static void put_functions(FILE *out, const struct style *style, const struct profile_diff *diff)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *at = &diff->functions[i];
		int side = at->function[DIFF_AFTER] ? DIFF_AFTER : DIFF_BEFORE;
		const char *name = at->function[side]->name;
		double change = fabs(diff_change(&at->inclusive_s));
		if (!at->inclusive_s.is_real || change < LEAST_SHARE * diff->total_s.before)
			continue;
		if (count++ >= MAX_ROWS)
			continue;
		if (count == 1) {
			fputc('\n', out);
			style_print(out, style, PAINT_STRONG, "Functions, with all they called\n");
		}
		uint32_t used = put_change(out, style, &at->inclusive_s, figure_seconds);
		uint32_t room = style->is_cut && style->columns > used ? style->columns - used : 0;
		style_put(out, style, PAINT_NAME);
		used = glyph_put(out, style, name, strlen(name), room ? room : MAX_PLACE_CELLS);
		style_put(out, style, PAINT_NONE);
		if (!style->is_cut || room > used + MAX_PLACE_CELLS + 2) {
			fputs("  ", out);
			glyph_put_tail(out, style, glyph_short_path(style, at->file[side]->path),
				       MAX_PLACE_CELLS);
		}
		fputc('\n', out);
	}
	put_rest(out, style, count);
}

/* ---- what is left out ---- */

static void put_footer(FILE *out, const struct style *style, const struct profile_diff *diff)
{
	uint32_t noise = 0;
	char text[100];
	for (uint32_t i = 0; i < diff->line_count; i++) {
		const struct diff_value *time_s = &diff->lines[i].time_s;
		noise += !time_s->is_real && diff_change(time_s) != 0;
	}
	if (!noise)
		return;
	snprintf(text, sizeof(text), "%u line%s changed by no more than the noise of sampling.", noise,
		 noise == 1 ? "" : "s");
	fputc('\n', out);
	style_put(out, style, PAINT_DIM);
	glyph_put_wrapped(out, style, text, 0);
	style_put(out, style, PAINT_NONE);
}

void diff_print(FILE *out, const struct profile_diff *diff, const struct style *style)
{
	static const struct listing listings[] = {
		{"Slower", offsetof(struct diff_line, time_s), figure_seconds, 1},
		{"Faster", offsetof(struct diff_line, time_s), figure_seconds, -1},
		{"More GPU time", offsetof(struct diff_line, gpu_s), figure_seconds, 1},
		{"Less GPU time", offsetof(struct diff_line, gpu_s), figure_seconds, -1},
		{"More memory at a line's own peak", offsetof(struct diff_line, peak_bytes),
		 figure_bytes, 1},
		{"Less memory at a line's own peak", offsetof(struct diff_line, peak_bytes),
		 figure_bytes, -1},
		{"Allocates more", offsetof(struct diff_line, alloc_bytes), figure_bytes, 1},
		{"Copies more", offsetof(struct diff_line, copy_bytes), figure_bytes, 1},
	};
	put_verdict(out, style, diff);
	fputc('\n', out);
	put_totals(out, style, diff);
	for (size_t i = 0; i < sizeof(listings) / sizeof(listings[0]); i++)
		put_listing(out, style, diff, &listings[i]);
	put_functions(out, style, diff);
	put_footer(out, style, diff);
}
