/* listing.c - one file of a profile: its source with figures, its functions.
 *
 * The source is read once, in step with the file's lines, which are sorted by
 * number.  In the reduced form each source line must know whether a line with
 * figures stands near: what is near is found in the sorted lines ahead. */
#include "report/listing.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/source.h"
#include "report/figure.h"
#include "report/functions.h"
#include "report/glyph.h"
#include "report/highlight.h"

#define CONTEXT_LINES 2       /* around each line with figures, in the reduced form */
#define HOT_PART_SHARE 0.3    /* of the line's time that a part must have to be marked */
#define MAX_TITLE_FIGURES 70  /* cells that the figures beside a file's name take at most */

/* One file being printed. */
struct listing {
	FILE *out;
	const struct style *style;
	const struct profile_file *file;
	struct table table;
	struct source_lines source; /* of the file's text; none when it has no text */
	struct highlight highlight;
	uint8_t *paints; /* owned; one a byte of the line */
	size_t paint_room;
	struct listing_marks *marks;
};

static double share_of(const struct profile *profile, double seconds)
{
	return profile->total_s > 0 ? seconds / profile->total_s : 0;
}

static bool is_worth_for_time(const struct profile *profile, double seconds)
{
	return seconds > 0 && 100 * share_of(profile, seconds) >= profile->shown_percent;
}

/* A percent of all GPU time. */
static bool is_worth_for_gpu(const struct profile_line *line, double gpu_s)
{
	return gpu_s > 0 && line->self.gpu_s >= 0.01 * gpu_s;
}

bool listing_is_worth(const struct profile *profile, const struct profile_file *file)
{
	struct worth_scale scale = worth_scale_of(profile);

	if (is_worth_for_time(profile, figure_total(&file->self)))
		return true;
	for (uint32_t i = 0; i < file->line_count; i++) {
		const struct profile_line *line = &file->lines[i];

		if (is_worth_for_time(profile, line->inclusive_s) ||
		    is_worth_for_time(profile, figure_total(&line->self)) ||
		    worth_listing(&scale, &line->self, &line->memory) ||
		    is_worth_for_gpu(line, profile->gpu.source ? profile->sum.gpu_s : 0))
			return true;
	}
	return false;
}

/* ---- one line of source ---- */

/* The bytes of the line that took most of its time: [*start, *end).  False
 * when none stand out, or all of the code would. */
static bool find_hot_part(const struct listing *listing, const struct profile_line *line,
			  const char *text, size_t size, size_t *start, size_t *end)
{
	const struct column_range *range = line ? line->columns : NULL;
	const char *code = text;
	size_t code_size = size;
	size_t from, to;

	if (!range || !line->column_count || !listing->style->has_color)
		return false;
	if (!table_is_shown(&listing->table.needs, figure_total(&line->self)) ||
	    range->self_s < HOT_PART_SHARE * figure_total(&line->self))
		return false;
	if (range->column < 0 || (size_t)range->column >= size)
		return false;
	from = (size_t)range->column;
	to = size;
	if (range->line_end == (int32_t)line->line && range->column_end < (int64_t)size)
		to = range->column_end < 0 ? 0 : (size_t)range->column_end;
	glyph_trim(&code, &code_size);
	if (to <= from || to - from >= code_size)
		return false;
	*start = from;
	*end = to;
	return true;
}

static const uint8_t *paint_line(struct listing *listing, const char *text, size_t size)
{
	if (size > listing->paint_room) {
		listing->paint_room = size * 2;
		listing->paints = mem_resize(listing->paints, listing->paint_room, 1);
	}
	highlight_line(&listing->highlight, text, size, listing->paints);
	return listing->paints;
}

/* One row: figures, source with its hot part underlined.  paints: NULL for
 * text that is not source. */
static void put_row(struct listing *listing, uint32_t number, const struct profile_line *line,
		    const char *text, size_t size, const uint8_t *paints)
{
	struct table_row row = {
		.line = number,
		.self = line ? &line->self : NULL,
		.inclusive_s = line ? line->inclusive_s : 0,
		.await_s = line ? line->async.await_s : 0,
		.memory = line ? &line->memory : NULL,
		.points = line ? line->memory_points : NULL,
		.point_count = line ? line->memory_point_count : 0,
	};
	size_t start = 0, end = 0;

	table_put_figures(listing->out, &listing->table, &row);
	if (paints && find_hot_part(listing, line, text, size, &start, &end))
		listing->marks->has_underlined = true;
	if (size)
		fputc(' ', listing->out);
	glyph_put_painted(listing->out, listing->style, text, size, listing->table.source_cells,
			  paints, start, end);
	fputc('\n', listing->out);
}

/* ---- all lines ---- */

static bool has_figures(const struct listing *listing, const struct profile_line *line)
{
	return table_is_shown(&listing->table.needs, figure_total(&line->self)) ||
	       table_is_shown(&listing->table.needs, line->inclusive_s) ||
	       worth_listing(&listing->table.needs.memory, &line->self, &line->memory) ||
	       is_worth_for_gpu(line, listing->table.needs.gpu_s);
}

/* Whether a line number is one of, or near, those that a reduced listing
 * shows.  `ahead` is the index of the first line at or after number. */
static bool is_near_figures(const struct listing *listing, uint32_t number, uint32_t ahead)
{
	const struct profile_file *file = listing->file;

	for (uint32_t i = ahead; i < file->line_count; i++) {
		if (file->lines[i].line > (uint64_t)number + CONTEXT_LINES)
			break;
		if (has_figures(listing, &file->lines[i]))
			return true;
	}
	for (uint32_t i = ahead; i-- > 0;) {
		if (file->lines[i].line + (uint64_t)CONTEXT_LINES < number)
			break;
		if (has_figures(listing, &file->lines[i]))
			return true;
	}
	return false;
}

/* The same, but a single line left out between two shown is no gap: it takes
 * no more place than the mark of one. */
static bool is_in_reduced(const struct listing *listing, uint32_t number, uint32_t ahead)
{
	return is_near_figures(listing, number, ahead) ||
	       (is_near_figures(listing, number - 1, ahead) &&
		is_near_figures(listing, number + 1, ahead));
}

/* All lines of a file whose source is known.  Returns how many of the lines
 * with figures were met; the others lie beyond the end of the source. */
static uint32_t put_source_lines(struct listing *listing, bool is_reduced)
{
	const struct profile_file *file = listing->file;
	uint32_t next = 0;
	bool is_in_gap = false;

	for (uint32_t number = 1; number <= listing->source.count; number++) {
		size_t size;
		const char *text = source_line(&listing->source, number, &size);
		const uint8_t *paints = paint_line(listing, text, size);
		bool is_met = next < file->line_count && file->lines[next].line == number;
		const struct profile_line *line = is_met ? &file->lines[next] : NULL;

		if (!is_reduced || is_in_reduced(listing, number, next)) {
			put_row(listing, number, line, text, size, paints);
			is_in_gap = false;
		} else if (!is_in_gap) {
			table_put_gap(listing->out, &listing->table);
			is_in_gap = true;
		}
		next += is_met;
	}
	return next;
}

/* Lines whose source is not known, or only as the text of single lines. */
static void put_single_lines(struct listing *listing, uint32_t next, bool is_reduced)
{
	const struct profile_file *file = listing->file;
	uint32_t last = next ? file->lines[next - 1].line : 0;

	for (; next < file->line_count; next++) {
		const struct profile_line *line = &file->lines[next];
		const char *text = line->text;

		if (is_reduced && !has_figures(listing, line))
			continue;
		if (line->line > (uint64_t)last + 1)
			table_put_gap(listing->out, &listing->table);
		last = line->line;
		highlight_begin(&listing->highlight);
		if (text)
			put_row(listing, last, line, text, strlen(text),
				paint_line(listing, text, strlen(text)));
		else
			put_row(listing, last, line, "(no source)", 11, NULL);
	}
}

/* ---- the file ---- */

static double allocated_bytes(const struct profile_file *file)
{
	double sum = 0;

	for (uint32_t i = 0; i < file->line_count; i++)
		sum += file->lines[i].self.alloc_bytes;
	return sum;
}

static void put_title(struct listing *listing, const struct profile *profile)
{
	FILE *out = listing->out;
	const struct style *style = listing->style;
	double self_s = figure_total(&listing->file->self);
	double alloc_bytes = allocated_bytes(listing->file);
	const char *path = glyph_short_path(style, listing->file->path);
	uint32_t room = style->columns > 40 ? style->columns - 30 : 10;
	uint32_t used;

	style_put(out, style, PAINT_STRONG);
	used = glyph_put_tail(out, style, path, style->is_cut ? room : GLYPH_ANY_WIDTH);
	style_put(out, style, PAINT_NONE);
	if (self_s > 0)
		fprintf(out, "  %s of the time (%s)", figure_percent(self_s, profile->total_s).text,
			figure_seconds(self_s).text);
	if (worth_reading(alloc_bytes, listing->table.needs.memory.alloc_bytes) &&
	    used + MAX_TITLE_FIGURES <= style->columns)
		fprintf(out, "%s %s of what was allocated (%s)", self_s > 0 ? "," : " ",
			figure_percent(alloc_bytes, profile->sum.alloc_bytes).text,
			figure_bytes(alloc_bytes).text);
	fputs("\n", out);
}

/* Notes what the figures of a line or function need of columns. */
static void note_needs(struct table_needs *needs, const struct metrics *self, double inclusive_s,
		       const struct memory *memory)
{
	struct column_needs *columns = &needs->columns;
	const struct worth_scale *scale = &needs->memory;

	columns->has_wait |= table_is_shown(needs, figure_kind(self, KIND_WAIT));
	columns->has_inclusive |= inclusive_s > 0;
	columns->has_gpu |= needs->gpu_s > 0 && self->gpu_s >= 0.01 * needs->gpu_s;
	if (scale->peak_bytes > 0) {
		columns->has_memory |= worth_showing(memory->peak_bytes) ||
				       worth_reading(self->alloc_bytes, scale->alloc_bytes);
		columns->has_copy |= worth_showing(self->copy_bytes);
	}
}

/* What decides on the columns. */
static void complete_needs(struct table_needs *needs, const struct profile_file *file,
			   uint32_t source_lines)
{
	struct column_needs *columns = &needs->columns;

	columns->last_line = source_lines;
	for (uint32_t i = 0; i < file->line_count; i++) {
		const struct profile_line *line = &file->lines[i];

		columns->has_await |= line->async.await_s > 0;
		if (line->line > columns->last_line)
			columns->last_line = line->line;
		note_needs(needs, &line->self, line->inclusive_s, &line->memory);
		columns->has_timeline |= line->memory_point_count > 0;
	}
	for (uint32_t i = 0; i < file->function_count; i++)
		note_needs(needs, &file->functions[i].self, file->functions[i].inclusive_s,
			   &file->functions[i].memory);
	columns->has_timeline &= columns->has_memory;
}

void listing_print(FILE *out, const struct style *style, const struct profile *profile,
		   const struct profile_file *file, struct table_needs needs, bool is_reduced,
		   struct listing_marks *marks)
{
	struct listing listing = {.out = out, .style = style, .file = file, .marks = marks};

	if (file->source)
		source_lines_init(&listing.source, file->source, file->source_size);
	complete_needs(&needs, file, listing.source.count);
	table_init(&listing.table, style, &needs);
	highlight_begin(&listing.highlight);
	put_title(&listing, profile);
	table_put_head(out, &listing.table);
	put_single_lines(&listing, put_source_lines(&listing, is_reduced), is_reduced);
	functions_print(out, &listing.table, file);
	table_put_rule(out, &listing.table, true);
	marks->has_rough |= listing.table.has_rough;
	if (file->source)
		source_lines_fini(&listing.source);
	free(listing.paints);
}
