/* csv.c - a row a line, for spreadsheets (RFC 4180).
 *
 * A cell that begins like a formula is one to a spreadsheet, and a formula can
 * send the sheet away: text that does gets an apostrophe before it. */
#include <string.h>

#include "profile/source.h"
#include "report/export/formats.h"
#include "report/export/frames.h"

#define MAX_CELL_BYTES 32000u /* spreadsheets take 32,767 characters */

/* Blanks before it do not keep a sign from being one. */
static bool is_formula(const char *text, size_t size)
{
	size_t at = 0;
	while (at < size && strchr(" \t\r\n", text[at]))
		at++;
	return at < size && strchr("=+-@|", text[at]);
}

/* The first cell of a row has no comma before it. */
static void put_text(FILE *out, const char *text, size_t size, bool is_first)
{
	struct buf clean;
	buf_init(&clean, MAX_CELL_BYTES);
	export_clean(&clean, text, size, 0);
	fprintf(out, "%s\"%s", is_first ? "" : ",", is_formula(clean.data, clean.size) ? "'" : "");
	for (size_t i = 0; i < clean.size; i++) {
		if (clean.data[i] == '"')
			fputc('"', out);
		fputc(clean.data[i], out);
	}
	fputc('"', out);
	buf_fini(&clean);
}

static void put_seconds(FILE *out, const struct profile *profile, const struct profile_line *line)
{
	const struct metrics *self = &line->self;
	double low, high;
	double seconds = metrics_seconds(self);
	double share = profile->total_s > 0 ? seconds / profile->total_s : 0;
	profile_share_interval(share, profile->sum.samples, &low, &high);
	fprintf(out, ",%.6f,%.4f,%.4f,%.4f", seconds, profile_percent(profile, seconds), 100 * low,
		100 * high);
	fprintf(out, ",%.6f,%.6f,%.6f,%.6f,%.6f", self->python_s, self->native_s, self->system_s,
		self->wait_s, self->idle_s);
	fprintf(out, ",%.6f,%.6f,%llu", self->cpu_s, line->inclusive_s,
		(unsigned long long)self->samples);
}

static void put_bytes(FILE *out, const struct profile_line *line)
{
	fprintf(out, ",%.0f,%.0f,%.0f,%.0f,%.0f,%.0f", line->self.alloc_bytes,
		line->memory.alloc_count, line->memory.peak_bytes, line->memory.at_peak_bytes,
		line->self.kept_bytes, line->self.copy_bytes);
}

static void put_gpu(FILE *out, const struct profile_line *line)
{
	fprintf(out, ",%.6f,%.0f,%.0f,%.6f,%.6f", line->self.gpu_s, line->gpu.launches,
		line->gpu.copied_bytes, line->gpu.wait_s, line->gpu.idle_s);
}

static void put_row(FILE *out, const struct profile *profile, const struct profile_file *file,
		    const struct profile_line *line)
{
	const struct profile_function *function = profile_find_function(file, line);
	const char *name = function ? function->name : "";
	size_t size;
	const char *source = source_file_line(file, line->line, &size);
	put_text(out, file->path, strlen(file->path), true);
	fprintf(out, ",%u", line->line);
	put_text(out, name, strlen(name), false);
	put_seconds(out, profile, line);
	if (profile->has_memory)
		put_bytes(out, line);
	if (profile->gpu.source)
		put_gpu(out, line);
	put_text(out, source, size, false);
	fputs("\r\n", out);
}

void export_csv(FILE *out, const struct profile *profile, enum export_metric metric)
{
	(void)metric;
	fputs("file,line,function,self_s,percent,percent_low,percent_high,python_s,native_s,"
	      "system_s,wait_s,idle_s,cpu_s,inclusive_s,samples", out);
	if (profile->has_memory)
		fputs(",allocated_bytes,allocations,peak_bytes,at_peak_bytes,kept_bytes,"
		      "copied_bytes", out);
	if (profile->gpu.source)
		fputs(",gpu_s,gpu_launches,gpu_copied_bytes,gpu_wait_s,gpu_idle_s", out);
	fputs(",source\r\n", out);
	for (uint32_t i = 0; i < profile->file_count; i++) {
		const struct profile_file *file = &profile->files[i];
		for (uint32_t j = 0; j < file->line_count; j++)
			put_row(out, profile, file, &file->lines[j]);
	}
}
