/* memory_sections.c - what stands out in a program's memory: rankings of lines. */
#include <stdlib.h>
#include <string.h>

#include "report/callers.h"
#include "report/figure.h"
#include "report/glyph.h"
#include "report/memory.h"
#include "report/rank.h"
#include "report/worth.h"

#define MAX_LINES 5
#define FIGURE_CELLS 15 /* indent, percent, bytes, gaps */
#define MAX_CALLERS_BYTES 1000

/* One line of a ranking, ready to print. */
struct entry {
	struct ranked_line ranked;
	struct figure share, amount;
	char detail[100]; /* behind the place; "" for none */
};

/* A ranking: what lines are in it, and what is said of each. */
struct section {
	rank_value *value;
	void (*describe)(const struct profile *profile, struct entry *entry);
	bool has_callers;
};

/* ---- what is said of a line ---- */

static void describe_peak(const struct profile *profile, struct entry *entry)
{
	entry->share = figure_percent(entry->ranked.value, profile->memory.peak_bytes);
	entry->amount = figure_bytes(entry->ranked.value);
}

static void describe_leak(const struct profile *profile, struct entry *entry)
{
	const struct memory *memory = &entry->ranked.line->memory;

	(void)profile;
	entry->amount = figure_bytes(entry->ranked.line->self.kept_bytes);
	snprintf(entry->detail, sizeof entry->detail, "grows %s/s, likelihood %s",
		 figure_bytes(memory->leak_bytes_per_s).text,
		 figure_likelihood(memory->leak_likelihood).text);
}

static void describe_volume(const struct profile *profile, struct entry *entry)
{
	double kept = entry->ranked.line->self.kept_bytes;

	entry->share = figure_percent(entry->ranked.value, profile->sum.alloc_bytes);
	entry->amount = figure_bytes(entry->ranked.value);
	if (worth_showing(kept))
		snprintf(entry->detail, sizeof entry->detail, "kept %s", figure_bytes(kept).text);
}

static void describe_churn(const struct profile *profile, struct entry *entry)
{
	entry->share = figure_percent(entry->ranked.value, profile->sum.alloc_bytes);
	entry->amount = figure_bytes(entry->ranked.value);
	snprintf(entry->detail, sizeof entry->detail, "at most %s at a time",
		 figure_bytes(entry->ranked.line->memory.peak_bytes).text);
}

static void describe_copies(const struct profile *profile, struct entry *entry)
{
	entry->share = figure_percent(entry->ranked.value, profile->sum.copy_bytes);
	entry->amount = figure_bytes(entry->ranked.value);
	if (profile->elapsed_s > 0)
		snprintf(entry->detail, sizeof entry->detail, "%s/s",
			 figure_bytes(entry->ranked.value / profile->elapsed_s).text);
}

/* ---- rows ---- */

static void put_figures(FILE *out, const struct figure *share, const struct figure *amount)
{
	fprintf(out, "  %4s %6s  ", share->text, amount->text);
}

static void put_callers(FILE *out, const struct style *style, const struct profile *profile,
			const struct ranked_line *ranked)
{
	struct buf text;

	buf_init(&text, MAX_CALLERS_BYTES);
	callers_append(&text, style, profile, ranked->file, ranked->line);
	if (text.size) {
		fprintf(out, "%*s", FIGURE_CELLS, "");
		style_put(out, style, PAINT_DIM);
		fputs("called from ", out);
		glyph_put_wrapped(out, style, text.data, FIGURE_CELLS + 12);
		style_put(out, style, PAINT_NONE);
	}
	buf_fini(&text);
}

static void put_entry(FILE *out, const struct style *style, const struct entry *entry,
		      uint32_t place_cells, uint32_t detail_cells)
{
	uint32_t used = FIGURE_CELLS + place_cells;

	put_figures(out, &entry->share, &entry->amount);
	rank_put_place(out, style, &entry->ranked, place_cells);
	if (detail_cells && used + 2 + detail_cells <= style->columns) {
		fprintf(out, "  %-*s", (int)detail_cells, entry->detail);
		used += 2 + detail_cells;
	}
	rank_put_source(out, style, &entry->ranked, used);
	fputc('\n', out);
}

/* Writes the section under its title.  Returns what its lines have together;
 * 0 when there are none, and nothing was written. */
static double put_section(FILE *out, const struct style *style, const struct profile *profile,
			  const char *title, const struct section *section)
{
	struct ranked_line lines[MAX_LINES];
	uint32_t count = rank_lines(profile, section->value, lines, MAX_LINES);
	uint32_t place_cells = rank_place_width(style, lines, count);
	struct entry entries[MAX_LINES];
	uint32_t detail_cells = 0;
	double sum = 0;

	for (uint32_t i = 0; i < count; i++) {
		entries[i] = (struct entry){.ranked = lines[i]};
		section->describe(profile, &entries[i]);
		if (strlen(entries[i].detail) > detail_cells)
			detail_cells = (uint32_t)strlen(entries[i].detail);
	}
	if (count) {
		fputs("\n  ", out);
		style_put(out, style, PAINT_MEMORY);
		glyph_put_wrapped(out, style, title, 2);
		style_put(out, style, PAINT_NONE);
	}
	for (uint32_t i = 0; i < count; i++) {
		put_entry(out, style, &entries[i], place_cells, detail_cells);
		if (section->has_callers)
			put_callers(out, style, profile, &lines[i]);
		sum += lines[i].value;
	}
	return sum;
}

/* ---- the peak ---- */

static void put_remainder(FILE *out, const struct style *style, double bytes, double whole,
			  const char *name)
{
	struct figure share = figure_percent(bytes, whole), amount = figure_bytes(bytes);

	if (!worth_reading(bytes, whole))
		return;
	style_put(out, style, PAINT_DIM);
	put_figures(out, &share, &amount);
	fprintf(out, "%s\n", name);
	style_put(out, style, PAINT_NONE);
}

static void put_peak(FILE *out, const struct style *style, const struct profile *profile)
{
	static const struct section section = {worth_at_peak, describe_peak, false};
	double peak = profile->memory.peak_bytes;
	double shown, lines = 0;
	char title[100];

	for (uint32_t f = 0; f < profile->file_count; f++) {
		for (uint32_t i = 0; i < profile->files[f].line_count; i++)
			lines += profile->files[f].lines[i].memory.at_peak_bytes;
	}
	snprintf(title, sizeof title, "Made up the peak of %s at %s", figure_bytes(peak).text,
		 figure_seconds(profile->peak_s).text);
	shown = put_section(out, style, profile, title, &section);
	if (shown > 0) {
		put_remainder(out, style, lines - shown, peak, "other lines");
		put_remainder(out, style, peak - lines, peak,
			      profile->omitted_s > 0 ? "elsewhere" : "outside of these files");
	}
}

/* ---- all of them ---- */

static void put_sections(FILE *out, const struct style *style, const struct profile *profile)
{
	static const struct section leaks = {worth_as_leak, describe_leak, true};
	static const struct section churn = {worth_as_churn, describe_churn, false};
	static const struct section volume = {worth_as_volume, describe_volume, false};
	static const struct section copies = {worth_as_copies, describe_copies, false};
	bool has_churn;

	put_peak(out, style, profile);
	put_section(out, style, profile, "Likely leaks", &leaks);
	has_churn = put_section(out, style, profile,
				"Temporary churn: allocated again and again, nothing kept",
				&churn) > 0;
	put_section(out, style, profile,
		    has_churn ? "Allocated most besides" : "Allocated most", &volume);
	put_section(out, style, profile, "Copied most", &copies);
}

void memory_print_sections(FILE *out, const struct style *style, const struct profile *profile)
{
	char *text = NULL;
	size_t size = 0;
	FILE *sections;

	if (!profile->has_memory || !(sections = open_memstream(&text, &size)))
		return;
	put_sections(sections, style, profile);
	fclose(sections);
	if (size) {
		fputc('\n', out);
		style_print(out, style, PAINT_STRONG, "Memory");
		fputc('\n', out);
		fwrite(text + 1, 1, size - 1, out); /* no empty line below the heading */
	}
	free(text);
}
