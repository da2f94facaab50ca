/* gpu.c - see gpu.h. */
#include "report/gpu.h"

#include <string.h>

#include "report/figure.h"
#include "report/glyph.h"
#include "report/rank.h"

#define MAX_LINES 5u
#define MAX_DEVICES 8u
#define FIGURE_CELLS 15u   /* indent, percent, seconds, gaps */
#define WORTH_SHARE 0.01   /* of a ranking's whole */
#define IDLE_WORTH_S 0.05  /* less idling is nobody's loss */

/* ---- what lines are ranked by ---- */

static double gpu_time(const struct profile *profile, const struct profile_line *line)
{
	double gpu_s = line->self.gpu_s;

	return gpu_s >= WORTH_SHARE * profile->sum.gpu_s ? gpu_s : 0;
}

static double idle_time(const struct profile *profile, const struct profile_line *line)
{
	double idle_s = line->gpu.idle_s;

	return idle_s >= IDLE_WORTH_S && idle_s >= WORTH_SHARE * profile->gpu.idle_s ? idle_s : 0;
}

static double wait_time(const struct profile *profile, const struct profile_line *line)
{
	double wait_s = line->gpu.wait_s;

	return wait_s >= WORTH_SHARE * profile->total_s ? wait_s : 0;
}

/* ---- what is said of a line ---- */

static void describe_work(const struct profile_line *line, char *text, size_t size)
{
	const struct gpu_figures *gpu = &line->gpu;
	size_t used = 0;

	*text = '\0';
	if (gpu->launches > 0)
		used += (size_t)snprintf(text, size, "%s kernel%s",
					 figure_count((uint64_t)gpu->launches).text,
					 gpu->launches == 1 ? "" : "s");
	if (gpu->copied_bytes > 0 && used < size)
		snprintf(text + used, size - used, "%s%s copied in %s", used ? ", " : "",
			 figure_bytes(gpu->copied_bytes).text, figure_seconds(gpu->copy_s).text);
}

static void describe_nothing(const struct profile_line *line, char *text, size_t size)
{
	(void)line;
	(void)size;
	*text = '\0';
}

static void describe_waits(const struct profile_line *line, char *text, size_t size)
{
	snprintf(text, size, "%s time%s", figure_count((uint64_t)line->gpu.waits).text,
		 line->gpu.waits == 1 ? "" : "s");
}

typedef void describe(const struct profile_line *line, char *text, size_t size);

/* Lines with most of something, below a heading; whole_s: a hundred percent. */
static void put_ranking(FILE *out, const struct style *style, const struct profile *profile,
			const char *heading, rank_value *value, describe *detail, double whole_s)
{
	struct ranked_line lines[MAX_LINES];
	uint32_t count = rank_lines(profile, value, lines, MAX_LINES);
	uint32_t place_cells = rank_place_width(style, lines, count);
	char text[MAX_LINES][80];
	uint32_t detail_cells = 0;

	if (!count)
		return;
	for (uint32_t i = 0; i < count; i++) {
		detail(lines[i].line, text[i], sizeof text[i]);
		if (strlen(text[i]) > detail_cells)
			detail_cells = (uint32_t)strlen(text[i]);
	}
	fprintf(out, "\n  %s\n", heading);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t used = FIGURE_CELLS + place_cells + (detail_cells ? detail_cells + 2 : 0);

		fprintf(out, "  %4s %6s  ", figure_percent(lines[i].value, whole_s).text,
			figure_seconds(lines[i].value).text);
		rank_put_place(out, style, &lines[i], place_cells);
		if (detail_cells)
			fprintf(out, "  %-*s", (int)detail_cells, text[i]);
		rank_put_source(out, style, &lines[i], used);
		fputc('\n', out);
	}
}

/* ---- the section ---- */

static bool is_sampled(const struct profile *profile)
{
	return strcmp(profile->gpu.source, "nvml") == 0;
}

static void put_devices(FILE *out, const struct style *style, const struct profile *profile)
{
	const struct profile_gpu *gpu = &profile->gpu;

	for (uint32_t i = 0; i < gpu->device_count && i < MAX_DEVICES; i++) {
		const struct gpu_device *device = &gpu->devices[i];
		uint32_t indent = 4;
		char text[120];
		int size = snprintf(text, sizeof text, "busy %s", figure_seconds(device->busy_s).text);

		fputs("  ", out);
		indent += glyph_put(out, style, device->name, strlen(device->name),
				    style->columns / 2);
		if (device->memory_bytes > 0)
			snprintf(text + size, sizeof text - (size_t)size,
				 ", %s of its %s in use at the peak",
				 figure_bytes(device->peak_bytes).text,
				 figure_bytes(device->memory_bytes).text);
		fputs("  ", out);
		glyph_put_wrapped(out, style, text, indent);
	}
}

static void put_facts(FILE *out, const struct style *style, const struct profile *profile)
{
	const struct profile_gpu *gpu = &profile->gpu;
	char text[300];

	if (!is_sampled(profile)) {
		snprintf(text, sizeof text,
			 "Kernels %s (%s launched), copies %s (%s to the device, %s from it)",
			 figure_seconds(gpu->sum.kernel_s).text,
			 figure_count((uint64_t)gpu->sum.launches).text,
			 figure_seconds(gpu->sum.copy_s).text,
			 figure_bytes(gpu->sum.to_device_bytes).text,
			 figure_bytes(gpu->sum.from_device_bytes).text);
		fputs("  ", out);
		glyph_put_wrapped(out, style, text, 2);
	}
	if (gpu->note) {
		snprintf(text, sizeof text, "%s: %s.",
			 is_sampled(profile) ? "Sampled, not measured" : "Not all was measured",
			 gpu->note);
		fputs("  ", out);
		style_put(out, style, PAINT_WARNING);
		glyph_put_wrapped(out, style, text, 2);
		style_put(out, style, PAINT_NONE);
	}
}

void gpu_print_section(FILE *out, const struct style *style, const struct profile *profile)
{
	const struct profile_gpu *gpu = &profile->gpu;
	char text[120];

	if (!gpu->source)
		return;
	fputc('\n', out);
	style_print(out, style, PAINT_STRONG, "GPU");
	snprintf(text, sizeof text, "busy %s of the %s from its first work to its last",
		 figure_share(gpu->busy_s, gpu->busy_s + gpu->idle_s).text,
		 figure_seconds(gpu->busy_s + gpu->idle_s).text);
	fputs("  ", out);
	glyph_put_wrapped(out, style, text, sizeof "GPU  " - 1);
	put_devices(out, style, profile);
	put_facts(out, style, profile);
	put_ranking(out, style, profile, "Kept it busy", gpu_time, describe_work,
		    profile->sum.gpu_s);
	put_ranking(out, style, profile, "Ran while it was idle", idle_time, describe_nothing,
		    gpu->idle_s);
	put_ranking(out, style, profile, "Blocked until it had finished", wait_time, describe_waits,
		    profile->total_s);
}

/* ---- the summary ---- */

void gpu_print_summary(FILE *out, const struct style *style, const struct profile *profile,
		       uint32_t indent)
{
	const struct profile_gpu *gpu = &profile->gpu;
	struct ranked_line worst;
	char text[120];
	int used;

	if (!gpu->source)
		return;
	used = snprintf(text, sizeof text, "%*sGPU busy %s, idle while Python ran %s", (int)indent,
			"", figure_share(gpu->busy_s, gpu->busy_s + gpu->idle_s).text,
			figure_seconds(gpu->idle_s).text);
	fputs(text, out);
	if (gpu->idle_s >= IDLE_WORTH_S && rank_lines(profile, idle_time, &worst, 1)) {
		fputc(':', out);
		rank_put_most(out, style, &worst, (uint32_t)used + 1, indent);
	}
	fputc('\n', out);
}
