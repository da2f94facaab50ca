/* rank.c - the lines of a profile that have most of something. */
#include "report/rank.h"

#include <string.h>

#include "profile/source.h"
#include "report/glyph.h"

#define SOURCE_NEEDS_COLUMNS 50
#define MIN_SOURCE_CELLS 8 /* less is not worth reading */

/* Puts the line in its place among the best, if it is one of them. */
static void insert_line(struct ranked_line *best, uint32_t *count, uint32_t room,
			struct ranked_line candidate)
{
	uint32_t at = *count;

	while (at > 0 && best[at - 1].value < candidate.value)
		at--;
	if (at == room)
		return;
	if (*count < room)
		++*count;
	memmove(best + at + 1, best + at, (*count - at - 1) * sizeof *best);
	best[at] = candidate;
}

uint32_t rank_lines(const struct profile *profile, rank_value *value, struct ranked_line *best,
		    uint32_t room)
{
	uint32_t count = 0;

	for (uint32_t f = 0; f < profile->file_count; f++) {
		const struct profile_file *file = &profile->files[f];

		for (uint32_t i = 0; i < file->line_count; i++) {
			struct ranked_line line = {file, &file->lines[i],
						   value(profile, &file->lines[i])};

			if (line.value > 0)
				insert_line(best, &count, room, line);
		}
	}
	return count;
}

static uint32_t number_width(uint32_t number)
{
	return (uint32_t)snprintf(NULL, 0, "%u", number);
}

uint32_t rank_place_width(const struct style *style, const struct ranked_line *lines,
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

void rank_put_place(FILE *out, const struct style *style, const struct ranked_line *ranked,
		    uint32_t cells)
{
	uint32_t digits = number_width(ranked->line->line) + 1;
	uint32_t room = cells > digits ? cells - digits : 0;
	const char *path = glyph_short_path(style, ranked->file->path);
	uint32_t used = glyph_put_tail(out, style, path, room);

	fprintf(out, ":%u%*s", ranked->line->line, (int)(room - used), "");
}

void rank_put_source(FILE *out, const struct style *style, const struct ranked_line *ranked,
		     uint32_t used)
{
	size_t size = 0;
	const char *source = source_file_line(ranked->file, ranked->line->line, &size);

	glyph_trim(&source, &size);
	if (size && style->columns >= SOURCE_NEEDS_COLUMNS &&
	    used + 2 + MIN_SOURCE_CELLS <= style->columns) {
		fputs("  ", out);
		glyph_put(out, style, source, size, style->columns - used - 2);
	}
}

void rank_put_most(FILE *out, const struct style *style, const struct ranked_line *ranked,
		   uint32_t used, uint32_t indent)
{
	static const char lead[] = "most at ";
	uint32_t place = rank_place_width(style, ranked, 1);
	uint32_t cells = (uint32_t)strlen(lead) + place;

	if (style->is_cut && used + 1 + cells > style->columns) {
		fprintf(out, "\n%*s", (int)indent, "");
		used = indent;
	} else {
		fputc(' ', out);
		used++;
	}
	fputs(lead, out);
	rank_put_place(out, style, ranked, place);
	rank_put_source(out, style, ranked, used + cells);
}
