/* check_text.c - what `heatline check` found. */
#include "report/check_text.h"

#include <math.h>

#include "base/json_out.h"
#include "report/diff_text.h"
#include "report/figure.h"
#include "report/glyph.h"

#define MAX_CULPRITS 10u

static bool is_bytes(const struct check_finding *finding)
{
	return finding->kind == CHECK_MEMORY_GROWTH || finding->kind == CHECK_PEAK;
}

static bool is_growth(const struct check_finding *finding)
{
	return finding->kind == CHECK_SLOWDOWN || finding->kind == CHECK_MEMORY_GROWTH;
}

static struct figure amount(const struct check_finding *finding, double value)
{
	return is_bytes(finding) ? figure_bytes(value) : figure_seconds(value);
}

/* "time 4.00 s before, 5.20 s after: 30% more, limit 5%" */
static void put_finding(FILE *out, const struct check_finding *finding, const struct style *style)
{
	static const char *const names[] = {
		[CHECK_SLOWDOWN] = "time",
		[CHECK_MEMORY_GROWTH] = "peak memory",
		[CHECK_TIME] = "run time",
		[CHECK_PEAK] = "peak memory",
	};
	const struct diff_value *value = &finding->value;
	style_print(out, style, finding->is_broken ? PAINT_HOTTEST : PAINT_STRING,
		    finding->is_broken ? "FAILED" : "ok");
	fprintf(out, "%s %s", finding->is_broken ? " " : "     ", names[finding->kind]);
	if (finding->line) {
		fputs(" of ", out);
		glyph_put_tail(out, style,
			       glyph_short_path(style, diff_line_file(finding->line)->path),
			       GLYPH_ANY_WIDTH);
		fprintf(out, ":%u", diff_line_number(finding->line));
	}
	if (!is_growth(finding)) {
		fprintf(out, " %s, limit %s\n", amount(finding, value->after).text,
			amount(finding, finding->limit).text);
		return;
	}
	fprintf(out, " %s before, ", amount(finding, value->before).text);
	fprintf(out, "%s after", amount(finding, value->after).text);
	if (value->before > 0)
		fprintf(out, " (%+.1f%%)", fmin(100 * diff_change(value) / value->before, 99999));
	fprintf(out, ", limit %+.4g%%%s\n", 100 * finding->limit,
		finding->is_noise ? ": within noise" : "");
}

/* The lines that a broken limit on the whole program comes from. */
static void put_culprits(FILE *out, const struct check_finding *finding,
			 const struct profile_diff *diff, const struct style *style)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < diff->line_count && count < MAX_CULPRITS; i++) {
		const struct diff_line *line = &diff->lines[i];
		const struct diff_value *value = is_bytes(finding) ? &line->peak_bytes :
								     &line->time_s;
		if (!value->is_real || !(diff_change(value) > 0))
			continue;
		if (is_bytes(finding))
			diff_print_memory_line(out, style, line);
		else
			diff_print_line(out, style, line);
		count++;
	}
	if (count == 0)
		fputs("  No single line changed beyond noise.\n", out);
}

void check_print(FILE *out, const struct check_result *result, const struct profile_diff *diff,
		 const struct style *style)
{
	for (uint32_t i = 0; i < result->count; i++) {
		const struct check_finding *finding = &result->findings[i];
		put_finding(out, finding, style);
		if (finding->is_broken && is_growth(finding) && !finding->line)
			put_culprits(out, finding, diff, style);
	}
}

static void put_json_finding(struct json_out *out, const struct check_finding *finding)
{
	static const char *const names[] = {
		[CHECK_SLOWDOWN] = "max_slowdown",
		[CHECK_MEMORY_GROWTH] = "max_memory_growth",
		[CHECK_TIME] = "max_time",
		[CHECK_PEAK] = "max_peak",
	};
	json_put_newline(out);
	json_begin_object(out, NULL);
	json_put_text(out, "limit", names[finding->kind]);
	json_put_number(out, "limit_value", finding->limit, 6);
	json_put_number(out, "before", finding->value.before, 6);
	json_put_number(out, "after", finding->value.after, 6);
	json_put_bool(out, "is_broken", finding->is_broken);
	json_put_bool(out, "is_noise", finding->is_noise);
	if (finding->line) {
		json_put_text(out, "file", diff_line_file(finding->line)->path);
		json_put_unsigned(out, "line", diff_line_number(finding->line));
	}
	json_end_object(out);
}

void check_print_json(FILE *stream, const struct check_result *result,
		      const struct profile_diff *diff)
{
	struct json_out out;
	json_out_init(&out, stream);
	json_begin_object(&out, NULL);
	json_put_bool(&out, "is_ok", result->broken == 0);
	json_begin_array(&out, "findings");
	for (uint32_t i = 0; i < result->count; i++)
		put_json_finding(&out, &result->findings[i]);
	json_end_array(&out);
	json_begin_array(&out, "slower_lines");
	for (uint32_t i = 0; diff && i < diff->line_count; i++) {
		const struct diff_line *line = &diff->lines[i];
		if (!line->time_s.is_real || !(diff_change(&line->time_s) > 0))
			continue;
		json_put_newline(&out);
		json_begin_object(&out, NULL);
		json_put_text(&out, "file", diff_line_file(line)->path);
		json_put_unsigned(&out, "line", diff_line_number(line));
		json_put_text(&out, "function", line->function);
		json_put_number(&out, "before", line->time_s.before, 6);
		json_put_number(&out, "after", line->time_s.after, 6);
		json_end_object(&out);
	}
	json_end_array(&out);
	json_end_object(&out);
	fputc('\n', stream);
}
