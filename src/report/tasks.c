/* tasks.c - tasks in the text report. */
#include "report/tasks.h"

#include <string.h>

#include "report/figure.h"
#include "report/glyph.h"
#include "report/rank.h"

#define MAX_LINES 8u
#define MAX_STEPS 5u
#define FIGURE_CELLS 27u /* of a line's figures and the gap after them */
#define MAX_NAME_CELLS 60u

static double await_of(const struct profile *profile, const struct profile_line *line)
{
	(void)profile;
	return line->async.await_s;
}

/* Tasks at once: "3", "3.4", "12,345". */
static struct figure tasks_figure(double tasks)
{
	struct figure figure;

	if (tasks >= 99.5)
		return figure_count((uint64_t)(tasks + 0.5));
	snprintf(figure.text, sizeof figure.text, "%.3g", tasks);
	return figure;
}

/* "long-0, long-1, …": as many names as fit. */
static void put_names(FILE *out, const struct style *style, const struct async_figures *async)
{
	char text[400] = "";
	size_t used = 0;

	for (uint32_t i = 0; i < async->name_count; i++) {
		size_t size = strlen(async->names[i]);

		if (used + size + 8 > sizeof text || used + size > MAX_NAME_CELLS) {
			memcpy(text + used, "...", 4);
			used += 3;
			break;
		}
		memcpy(text + used, async->names[i], size + 1);
		used += size;
		if (i + 1 < async->name_count) {
			memcpy(text + used, ", ", 3);
			used += 2;
		}
	}
	if (used == 0)
		return;
	style_put(out, style, PAINT_DIM);
	fprintf(out, "%*s", (int)FIGURE_CELLS, "");
	glyph_put(out, style, text, used,
		  style->columns > FIGURE_CELLS ? style->columns - FIGURE_CELLS : 1);
	style_put(out, style, PAINT_NONE);
	fputc('\n', out);
}

static void put_line(FILE *out, const struct style *style, const struct ranked_line *ranked,
		     uint32_t place)
{
	const struct async_figures *async = &ranked->line->async;

	fprintf(out, " %8s %7s %7s  ", figure_seconds(async->await_s).text,
		tasks_figure(async->concurrency_mean).text,
		tasks_figure(async->concurrency_peak).text);
	rank_put_place(out, style, ranked, place);
	rank_put_source(out, style, ranked, FIGURE_CELLS + place);
	fputc('\n', out);
	put_names(out, style, async);
}

static void put_step(FILE *out, const struct style *style, const struct blocking_step *step)
{
	const char *name = strrchr(step->file, '/');
	char text[600];
	int used = snprintf(text, sizeof text, "%s:%u %s blocks the event loop for %s",
			    name ? name + 1 : step->file, step->line, step->function,
			    figure_seconds(step->longest_s).text);

	if (step->count > 1 && used > 0 && (size_t)used < sizeof text)
		snprintf(text + used, sizeof text - (size_t)used, " (%s times, %s in all)",
			 figure_count(step->count).text, figure_seconds(step->total_s).text);
	style_put(out, style, PAINT_WARNING);
	glyph_put_wrapped(out, style, text, 0);
	style_put(out, style, PAINT_NONE);
}

void tasks_print(FILE *out, const struct style *style, const struct profile *profile)
{
	struct ranked_line lines[MAX_LINES];
	uint32_t count = rank_lines(profile, await_of, lines, MAX_LINES);
	uint32_t place = rank_place_width(style, lines, count);
	uint32_t steps = profile->blocking_count < MAX_STEPS ? profile->blocking_count : MAX_STEPS;
	const char *head = "  waiting    mean    peak  tasks at once, at";

	if (!profile->has_async || count + steps == 0)
		return;
	fputc('\n', out);
	style_print(out, style, PAINT_STRONG, "Async");
	fputc('\n', out);
	if (count > 0) {
		style_put(out, style, PAINT_DIM);
		glyph_put(out, style, head, strlen(head),
			  style->is_cut ? style->columns : GLYPH_ANY_WIDTH);
		style_put(out, style, PAINT_NONE);
		fputc('\n', out);
	}
	for (uint32_t i = 0; i < count; i++)
		put_line(out, style, &lines[i], place);
	for (uint32_t i = 0; i < steps; i++)
		put_step(out, style, &profile->blocking[i]);
}
