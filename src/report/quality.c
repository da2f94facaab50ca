/* quality.c - how good a profile is, in a sentence. */
#include "report/quality.h"

#include <math.h>
#include <string.h>

#include "report/figure.h"
#include "report/glyph.h"

#define MAX_REASON_CELLS 60

uint64_t quality_samples(const struct profile *profile)
{
	return profile->quality.samples + profile->quality.wait_samples;
}

bool quality_is_rough(uint64_t line_samples)
{
	return line_samples > 0 && line_samples < QUALITY_FEW_LINE_SAMPLES;
}

static void print_lost(FILE *out, const struct style *style, const struct profile_quality *quality)
{
	uint64_t lost = 0;
	const char *gap = " (";

	for (uint32_t i = 0; i < quality->lost_count; i++)
		lost += quality->lost[i].count;
	if (lost == 0) {
		fputs(", none lost", out);
		return;
	}
	fprintf(out, ", lost %s", figure_count(lost).text);
	for (uint32_t i = 0; i < quality->lost_count; i++) {
		const struct lost_count *entry = &quality->lost[i];

		if (entry->count == 0)
			continue;
		fputs(gap, out);
		glyph_put(out, style, entry->reason, strlen(entry->reason), MAX_REASON_CELLS);
		fprintf(out, " %s", figure_count(entry->count).text);
		gap = ", ";
	}
	fputc(')', out);
}

bool quality_print(FILE *out, const struct style *style, const struct profile *profile)
{
	const struct profile_quality *quality = &profile->quality;
	uint64_t samples = quality_samples(profile);

	if (samples == 0)
		return false;
	fprintf(out, "%s sample%s", figure_count(samples).text, samples == 1 ? "" : "s");
	if (isfinite(quality->rate_hz) && quality->rate_hz >= 1)
		fprintf(out, ", %.0f a second of CPU time", fmin(quality->rate_hz, 1e6));
	if (isfinite(quality->overhead_percent) && quality->overhead_percent >= 0.05)
		fprintf(out, ", overhead about %.1f%%", fmin(quality->overhead_percent, 1e4));
	else
		fputs(", overhead below 0.1%", out);
	print_lost(out, style, quality);
	return true;
}
