/* figure.c - numbers as a person reads them, and bars. */
#include "report/figure.h"

#include <inttypes.h>
#include <math.h>

#include "base/text.h"
#include "base/units.h"

static const char *const kind_names[] = {"Python", "native", "system", "waiting"};

/* Profiles may come from other tools or be damaged: no figure is trusted to
 * be a number, and none that is not one is shown. */
static double sane(double value)
{
	return isfinite(value) && value > 0 ? value : 0;
}

struct figure figure_percent(double part, double whole)
{
	struct figure figure = {""};
	double percent = sane(whole) > 0 ? 100 * sane(part) / whole : 0;

	if (percent >= 1)
		snprintf(figure.text, sizeof figure.text, "%.0f%%", fmin(percent, 999));
	else if (percent > 0)
		snprintf(figure.text, sizeof figure.text, "<1%%");
	return figure;
}

struct figure figure_share(double part, double whole)
{
	struct figure figure = figure_percent(part, whole);

	return figure.text[0] ? figure : (struct figure){"0%"};
}

struct figure figure_likelihood(double likelihood)
{
	struct figure figure;

	snprintf(figure.text, sizeof figure.text, "%.0f%%", fmin(100 * sane(likelihood), 99));
	return figure;
}

struct figure figure_seconds(double seconds)
{
	struct figure figure;

	text_put_seconds(figure.text, sizeof figure.text, sane(seconds));
	return figure;
}

struct figure figure_bytes(double bytes)
{
	static const char *const units[] = {"KB", "MB", "GB", "TB"};
	double value = fmin(sane(bytes), 1e18) / 1024;
	size_t unit = 0;
	struct figure figure;

	/* A thousand of a unit is written in the next one: it keeps the figures short. */
	while (value >= 999.5 && unit + 1 < sizeof units / sizeof units[0]) {
		value /= 1024;
		unit++;
	}
	if (value < 0.5 && value * 1024 >= 0.5) /* something is not nothing */
		snprintf(figure.text, sizeof figure.text, "%.0f B", value * 1024);
	else
		snprintf(figure.text, sizeof figure.text, "%.*f %s",
			 unit > 0 && value < 9.95 ? 1 : 0, value, units[unit]);
	return figure;
}

struct figure figure_megabytes(double bytes)
{
	struct figure figure;

	snprintf(figure.text, sizeof figure.text, "%.0f", fmin(sane(bytes), 1e15) / MB);
	return figure;
}

struct figure figure_count(uint64_t count)
{
	struct figure figure;
	char digits[21];
	int size = snprintf(digits, sizeof digits, "%" PRIu64, count);
	char *out = figure.text;

	for (int i = 0; i < size; i++) {
		if (i > 0 && (size - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
	return figure;
}

double figure_total(const struct metrics *metrics)
{
	double total = 0;

	for (enum kind kind = 0; kind < KIND_COUNT; kind++)
		total += figure_kind(metrics, kind);
	return total;
}

enum paint figure_heat(double share)
{
	if (share >= 0.20)
		return PAINT_HOTTEST;
	return share >= 0.05 ? PAINT_HOT : PAINT_NONE;
}

double figure_kind(const struct metrics *metrics, enum kind kind)
{
	switch (kind) {
	case KIND_PYTHON:
		return sane(metrics->python_s);
	case KIND_NATIVE:
		return sane(metrics->native_s);
	case KIND_SYSTEM:
		return sane(metrics->system_s);
	default:
		return sane(metrics->wait_s);
	}
}

static enum paint paint_of(enum kind kind)
{
	return PAINT_PYTHON + kind;
}

/* With colours all parts are solid; without, the shade tells them apart. */
static const char *kind_block(const struct style *style, enum kind kind)
{
	static const char *const shades[] = {"█", "▓", "▒", "░"};
	static const char *const ascii[] = {"#", "=", "-", "."};

	if (!style->has_utf8)
		return ascii[kind];
	return style->has_color ? shades[0] : shades[kind];
}

/* The square before a kind's name in the legend. */
static void put_mark(FILE *out, const struct style *style, enum kind kind)
{
	const char *block = style->has_color && style->has_utf8 ? "■" : kind_block(style, kind);

	style_print(out, style, paint_of(kind), block);
}

void figure_legend(FILE *out, const struct style *style, const struct metrics *metrics,
		   double whole_s, uint32_t indent)
{
	uint32_t cells = 0; /* 0: at the start of a line */

	for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
		double part_s = figure_kind(metrics, kind);
		char entry[64];
		uint32_t width;

		if (part_s <= 0)
			continue;
		width = 1 + (uint32_t)snprintf(entry, sizeof entry, " %s %s (%s)", kind_names[kind],
					       figure_seconds(part_s).text,
					       figure_percent(part_s, whole_s).text);
		if (cells && cells + 2 + width > style->columns) {
			fputc('\n', out);
			cells = 0;
		}
		fprintf(out, "%*s", cells ? 2 : (int)indent, "");
		put_mark(out, style, kind);
		fputs(entry, out);
		cells += (cells ? 2 : indent) + width;
	}
	if (cells)
		fputc('\n', out);
}

/* The kind that has most of the cell at [left, left + 1) of a bar. */
static enum kind kind_of_cell(const struct metrics *metrics, double scale, double left)
{
	enum kind best = KIND_PYTHON;
	double most = 0, end = 0;

	for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
		double start = end;
		double part;

		end += figure_kind(metrics, kind) * scale;
		part = fmin(end, left + 1) - fmax(start, left);
		if (part > most) {
			most = part;
			best = kind;
		}
	}
	return best;
}

void figure_bar(FILE *out, const struct style *style, const struct metrics *metrics,
		double full_s, uint32_t cells)
{
	double scale = sane(full_s) > 0 ? cells / full_s : 0;
	double total_s = figure_total(metrics);
	uint32_t filled = (uint32_t)fmin(round(total_s * scale), cells);
	enum kind last = KIND_COUNT;

	for (uint32_t i = 0; i < filled; i++) {
		enum kind kind = kind_of_cell(metrics, scale, i);

		if (kind != last)
			style_put(out, style, paint_of(kind));
		fputs(kind_block(style, kind), out);
		last = kind;
	}
	if (filled)
		style_put(out, style, PAINT_NONE);
	if (!filled && total_s > 0 && cells) {
		style_print(out, style, PAINT_DIM, style->has_utf8 ? "▏" : ".");
		filled = 1;
	}
	fprintf(out, "%*s", (int)(cells - filled), "");
}
