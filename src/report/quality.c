/* quality.c - how good a profile is, in a sentence. */
#include "report/quality.h"

#include <math.h>

#include "base/buf.h"
#include "base/text.h"
#include "report/figure.h"
#include "report/glyph.h"

#define MAX_SENTENCE_BYTES 4096

/* Looks at threads whose waiting is part of the total. */
static uint64_t counted_looks(const struct profile_quality *quality)
{
	return quality->wait_samples > quality->idle_samples
		       ? quality->wait_samples - quality->idle_samples
		       : 0;
}

uint64_t quality_samples(const struct profile *profile)
{
	return profile->quality.samples + counted_looks(&profile->quality);
}

bool quality_is_rough(uint64_t line_samples)
{
	return line_samples > 0 && line_samples < QUALITY_FEW_LINE_SAMPLES;
}

static void append_lost(struct buf *text, const struct profile_quality *quality)
{
	uint64_t lost = 0;
	const char *gap = " (";

	for (uint32_t i = 0; i < quality->lost_count; i++)
		lost += quality->lost[i].count;
	if (lost == 0) {
		buf_text(text, ", none lost");
		return;
	}
	buf_printf(text, ", lost %s", figure_count(lost).text);
	for (uint32_t i = 0; i < quality->lost_count; i++) {
		const struct lost_count *entry = &quality->lost[i];

		if (entry->count == 0)
			continue;
		buf_printf(text, "%s%s %s", gap, entry->reason, figure_count(entry->count).text);
		gap = ", ";
	}
	buf_char(text, ')');
}

/* Of a process that was looked at from outside: nothing ran in it. */
static void append_looks(struct buf *text, const struct profile_quality *quality)
{
	if (isfinite(quality->rate_hz) && quality->rate_hz >= 1)
		buf_printf(text, " (%.0f looks a second)", fmin(quality->rate_hz, 1e6));
	if (isfinite(quality->overhead_percent))
		buf_printf(text, ", taken with %.1f%% of a CPU", fmin(quality->overhead_percent, 1e4));
}

/* Of a program that hardly computes, percents of its CPU time would say little: a service that waits
 * had 70 of them. */
#define BESIDE_MUCH 10.0

static void append_collector(struct buf *text, const struct profile *profile)
{
	const struct profile_quality *quality = &profile->quality;
	double percent = quality->collector_percent;
	double cpu_s = (double)quality->samples / quality->rate_hz;

	if (!isfinite(percent) || percent < 0.05)
		return;
	if (percent >= BESIDE_MUCH && isfinite(cpu_s) && profile->elapsed_s > cpu_s)
		buf_printf(text, " and %.1f%% of a CPU beside it",
			   fmin(percent * cpu_s / profile->elapsed_s, 1e4));
	else
		buf_printf(text, " and %.1f%% beside it", fmin(percent, 1e4));
}

static void append_samples(struct buf *text, const struct profile *profile)
{
	const struct profile_quality *quality = &profile->quality;
	uint64_t samples = quality_samples(profile);

	buf_printf(text, "%s sample%s", figure_count(samples).text, samples == 1 ? "" : "s");
	if (profile->from_scalene) /* whose profiles say no more */
		return;
	if (quality->clock != NULL && text_starts_with(quality->clock, "looks from outside")) {
		append_looks(text, quality);
		append_lost(text, quality);
		return;
	}
	if (counted_looks(quality) > quality->samples)
		buf_printf(text, " (%s of them looks at a thread that waited)",
			   figure_count(counted_looks(quality)).text);
	else if (isfinite(quality->rate_hz) && quality->rate_hz >= 1)
		buf_printf(text, " (%.0f/s of CPU time)", fmin(quality->rate_hz, 1e6));
	if (isfinite(quality->overhead_percent) && quality->overhead_percent >= 0.05)
		buf_printf(text, ", overhead about %.1f%%", fmin(quality->overhead_percent, 1e4));
	else
		buf_text(text, ", overhead below 0.1%");
	append_collector(text, profile);
	append_lost(text, quality);
}

static void print_sentence(FILE *out, const struct style *style, enum paint paint,
			   const char *sentence, uint32_t indent)
{
	fprintf(out, "%*s", (int)indent, "");
	if (paint != PAINT_NONE)
		style_put(out, style, paint);
	glyph_put_wrapped(out, style, sentence, indent);
	if (paint != PAINT_NONE)
		style_put(out, style, PAINT_NONE);
}

void quality_print(FILE *out, const struct style *style, const struct profile *profile,
		   uint32_t indent)
{
	uint64_t samples = quality_samples(profile);
	struct buf text;

	if (samples > 0) {
		buf_init(&text, MAX_SENTENCE_BYTES);
		append_samples(&text, profile);
		print_sentence(out, style, PAINT_NONE, text.data, indent);
		buf_fini(&text);
	}
	if (samples > 0 && samples < QUALITY_FEW_SAMPLES)
		print_sentence(out, style, PAINT_WARNING,
			       "Few samples: take the shares as a hint; a longer run says more.",
			       indent);
	for (uint32_t i = 0; i < profile->quality.warning_count; i++)
		print_sentence(out, style, PAINT_WARNING, profile->quality.warnings[i], indent);
}
