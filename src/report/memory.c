/* memory.c - the memory of the whole program: header and summary. */
#include "report/memory.h"

#include <string.h>

#include "base/buf.h"
#include "report/figure.h"
#include "report/glyph.h"
#include "report/rank.h"
#include "report/spark.h"
#include "report/worth.h"

#define MAX_SENTENCE_BYTES 1024
#define MUCH_MORE 1.05
#define NEAR_PEAK 0.95 /* of the peak; what was resident at a lower point says nothing of it */

/* ---- the header of the report ---- */

static void append_peak(struct buf *text, const struct profile *profile)
{
	double peak = profile->memory.peak_bytes;

	buf_printf(text, "Memory: peak %s", figure_bytes(peak).text);
	if (profile->peak_s > 0)
		buf_printf(text, " at %s", figure_seconds(profile->peak_s).text);
	buf_printf(text, " (%s Python objects)",
		   figure_share(profile->peak_python_bytes, peak).text);
	if (worth_showing(profile->sum.alloc_bytes))
		buf_printf(text, ", allocated %s in all",
			   figure_bytes(profile->sum.alloc_bytes).text);
	if (worth_showing(profile->sum.copy_bytes))
		buf_printf(text, ", copied %s", figure_bytes(profile->sum.copy_bytes).text);
}

/* The moment near the peak at which most was resident; NULL when the timeline
 * missed the peak.  What is live is heard of a little later than what is
 * resident is looked at, so at the very peak memory may be gone already. */
static const struct memory_point *find_peak_point(const struct profile *profile)
{
	const struct memory_point *best = NULL;

	for (uint32_t i = 0; i < profile->footprint_count; i++) {
		const struct memory_point *point = &profile->footprint[i];

		if (point->live_bytes >= NEAR_PEAK * profile->memory.peak_bytes &&
		    point->resident_bytes > (best ? best->resident_bytes : 0))
			best = point;
	}
	return best;
}

/* Whether less was resident than was live when it was looked at, but as much can have been at
 * another time: then the looks have missed the peak. */
static bool has_missed(const struct profile *profile, const struct memory_point *point)
{
	double most = 0;

	for (uint32_t i = 0; i < profile->process_count; i++)
		most += profile->processes[i].peak_resident_bytes;
	if (most < profile->peak_resident_bytes)
		most = profile->peak_resident_bytes;
	return point->resident_bytes < point->live_bytes && most >= point->live_bytes;
}

/* What was resident, and how much of it no live block accounts for. */
static void append_resident(struct buf *text, const struct profile *profile)
{
	const struct memory_point *point = find_peak_point(profile);
	double other;

	if (!point || has_missed(profile, point)) {
		if (profile->peak_resident_bytes > 0)
			buf_printf(text, "RSS: at most %s",
				   figure_bytes(profile->peak_resident_bytes).text);
		return;
	}
	other = point->resident_bytes - point->live_bytes;
	buf_printf(text, "RSS: %s at the peak", figure_bytes(point->resident_bytes).text);
	if (worth_showing(other))
		buf_printf(text,
			   ", %s of it not live heap (the interpreter itself, caches, "
			   "fragmentation%s)",
			   figure_bytes(other).text,
			   profile->process_count > 1 ? "; what processes share counts for each"
						      : "");
	else if (worth_showing(-other))
		buf_printf(text, ", less than was allocated: %s were not touched, or swapped out",
			   figure_bytes(-other).text);
	if (profile->peak_resident_bytes > MUCH_MORE * point->resident_bytes)
		buf_printf(text, "; at most %s", figure_bytes(profile->peak_resident_bytes).text);
}

static void print_sentence(FILE *out, const struct style *style, const struct profile *profile,
			   void (*append)(struct buf *, const struct profile *))
{
	struct buf text;

	buf_init(&text, MAX_SENTENCE_BYTES);
	append(&text, profile);
	if (text.size)
		glyph_put_wrapped(out, style, text.data, 0);
	buf_fini(&text);
}

void memory_print_overview(FILE *out, const struct style *style, const struct profile *profile,
			   uint32_t cells)
{
	if (!profile->has_memory || !(profile->memory.peak_bytes > 0))
		return;
	fputc('\n', out);
	if (profile->footprint_count) {
		style_put(out, style, PAINT_MEMORY);
		spark_put(out, style, profile->footprint, profile->footprint_count,
			  profile->elapsed_s, profile->memory.peak_bytes, cells);
		style_put(out, style, PAINT_NONE);
		fputc('\n', out);
	}
	print_sentence(out, style, profile, append_peak);
	print_sentence(out, style, profile, append_resident);
}

/* ---- the end of a run ---- */

/* Indented text of its own, then a place and its source; all in one line. */
static void print_place_line(FILE *out, const struct style *style, const char *before,
			     const struct ranked_line *ranked, const char *after, uint32_t indent)
{
	uint32_t place = rank_place_width(style, ranked, 1);
	uint32_t used = indent + (uint32_t)strlen(before) + place + (uint32_t)strlen(after);

	fprintf(out, "%*s%s", (int)indent, "", before);
	rank_put_place(out, style, ranked, place);
	fputs(after, out);
	rank_put_source(out, style, ranked, used);
	fputc('\n', out);
}

static void print_peak_line(FILE *out, const struct style *style, const struct profile *profile,
			    uint32_t indent)
{
	double peak = profile->memory.peak_bytes;
	struct ranked_line most;
	char before[100];

	if (rank_lines(profile, worth_at_peak, &most, 1)) {
		snprintf(before, sizeof before, "Memory peak %s, %s of it from ",
			 figure_bytes(peak).text, figure_percent(most.value, peak).text);
		print_place_line(out, style, before, &most, "", indent);
	} else {
		fprintf(out, "%*sMemory peak %s\n", (int)indent, "", figure_bytes(peak).text);
	}
}

static void print_leak_line(FILE *out, const struct style *style, const struct profile *profile,
			    uint32_t indent)
{
	struct ranked_line worst;
	char after[100];

	if (!rank_lines(profile, worth_as_leak, &worst, 1))
		return;
	snprintf(after, sizeof after, " grows %s/s (likelihood %s)",
		 figure_bytes(worst.line->memory.leak_bytes_per_s).text,
		 figure_likelihood(worst.line->memory.leak_likelihood).text);
	style_put(out, style, PAINT_WARNING);
	print_place_line(out, style, "Likely leak ", &worst, after, indent);
	style_put(out, style, PAINT_NONE);
}

void memory_print_summary(FILE *out, const struct style *style, const struct profile *profile,
			  uint32_t indent)
{
	if (!profile->has_memory || !(profile->memory.peak_bytes > 0))
		return;
	print_peak_line(out, style, profile, indent);
	print_leak_line(out, style, profile, indent);
}
