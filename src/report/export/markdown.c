/* markdown.c - the essence of a profile for a pull request or an issue.
 *
 * Whatever comes from the program stands in code spans, where Markdown has no
 * markup, no links and no mentions.  A span is fenced with more backticks than
 * the text has in a row, and in tables a bar is escaped, as they ask for it. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "profile/source.h"
#include "report/export/formats.h"
#include "report/export/frames.h"
#include "report/figure.h"
#include "report/quality.h"
#include "report/rank.h"

#define MAX_LINES 20u
#define MAX_FUNCTIONS 10u
#define MAX_CODE_BYTES 120u
#define MAX_TEXT_BYTES (EXPORT_LABEL_BYTES / 3) /* a byte becomes three at most */

static size_t longest_fence(const char *text, size_t size)
{
	size_t longest = 0, run = 0;
	for (size_t i = 0; i < size; i++) {
		run = text[i] == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

static void put_fence(FILE *out, size_t count)
{
	while (count--)
		fputc('`', out);
}

/* Cuts at a character's boundary. */
static void cut(struct buf *text, size_t maximum)
{
	size_t size = 0;
	if (text->size <= maximum)
		return;
	for (size_t at = 0; at < maximum; at += text_utf8_length(text->data + at, text->size - at))
		size = at;
	text->size = size;
	buf_text(text, "…");
}

/* A backslash right before an escaped bar would undo the escape. */
static void put_escaped(FILE *out, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '|')
			fputs(i && text[i - 1] == '\\' ? " \\" : "\\", out);
		fputc(text[i], out);
	}
}

/* is_cell: in a table. */
static void put_code(FILE *out, const char *text, size_t size, bool is_cell)
{
	struct buf clean;
	buf_init(&clean, EXPORT_LABEL_BYTES);
	export_clean(&clean, text, size < MAX_TEXT_BYTES ? size : MAX_TEXT_BYTES, 0);
	cut(&clean, MAX_CODE_BYTES);
	const char *start = clean.data;
	size_t left = clean.size;
	while (left && *start == ' ') {
		start++;
		left--;
	}
	if (left) {
		size_t fence = longest_fence(start, left);
		put_fence(out, fence + 1);
		fputs(fence ? " " : "", out);
		if (is_cell)
			put_escaped(out, start, left);
		else
			fwrite(start, 1, left, out);
		fputs(fence ? " " : "", out);
		put_fence(out, fence + 1);
	}
	buf_fini(&clean);
}

static void put_place(FILE *out, const struct profile *profile, const char *path, uint32_t line)
{
	struct buf place;
	buf_init(&place, EXPORT_LABEL_BYTES);
	buf_printf(&place, "%s:%u", export_short_path(profile, path), line);
	put_code(out, place.data, place.size, true);
	buf_fini(&place);
}

static void put_heading(FILE *out, const struct profile *profile)
{
	static const char *const names[] = {"Python", "native", "system", "waiting"};
	const char *program = profile->program ? profile->program : "";
	fputs("### Profile of ", out);
	put_code(out, path_basename(program), strlen(path_basename(program)), false);
	fprintf(out, "\n\n%s", figure_seconds(profile->elapsed_s).text);
	if (profile->python_version) {
		fputs(" with Python ", out);
		put_code(out, profile->python_version, strlen(profile->python_version), false);
	}
	for (enum kind kind = 0; kind < KIND_COUNT; kind++)
		fprintf(out, "%s %s %s (%s)", kind ? "," : ":", names[kind],
			figure_seconds(figure_kind(&profile->sum, kind)).text,
			figure_share(figure_kind(&profile->sum, kind), profile->total_s).text);
	fprintf(out, "; %s samples.", figure_count(quality_samples(profile)).text);
	if (profile->has_memory)
		fprintf(out, " Peak memory %s, allocated %s, copied %s.",
			figure_bytes(profile->memory.peak_bytes).text,
			figure_bytes(profile->sum.alloc_bytes).text,
			figure_bytes(profile->sum.copy_bytes).text);
	fputs("\n\n", out);
}

/* ---- what lines are ranked by ---- */

#define RANK(name, value)                                                                  \
	static double name(const struct profile *profile, const struct profile_line *line) \
	{                                                                                  \
		(void)profile;                                                             \
		return value;                                                              \
	}

RANK(rank_time, metrics_seconds(&line->self))
RANK(rank_cpu, line->self.cpu_s)
RANK(rank_memory, line->self.alloc_bytes)
RANK(rank_peak, line->memory.at_peak_bytes)
RANK(rank_kept, line->self.kept_bytes)
RANK(rank_copied, line->self.copy_bytes)
RANK(rank_gpu, line->self.gpu_s)

static rank_value *const ranks[EXPORT_METRIC_COUNT] = {rank_time, rank_cpu,  rank_memory,
						       rank_peak, rank_kept, rank_copied,
						       rank_gpu};

static void put_line(FILE *out, const struct profile *profile, const struct ranked_line *ranked)
{
	const struct metrics *self = &ranked->line->self;
	double seconds = metrics_seconds(self);
	size_t size;
	const char *source = source_file_line(ranked->file, ranked->line->line, &size);
	fprintf(out, "| %s | %s ", figure_share(seconds, profile->total_s).text,
		figure_seconds(seconds).text);
	fprintf(out, "| %s | %s | %s | %s ", figure_share(self->python_s, seconds).text,
		figure_share(self->native_s, seconds).text,
		figure_share(self->system_s, seconds).text,
		figure_share(self->wait_s, seconds).text);
	if (profile->has_memory)
		fprintf(out, "| %s | %s | %s ", figure_bytes(ranked->line->memory.peak_bytes).text,
			figure_bytes(self->alloc_bytes).text,
			figure_bytes(self->copy_bytes).text);
	fputs("| ", out);
	put_place(out, profile, ranked->file->path, ranked->line->line);
	fputs(" | ", out);
	put_code(out, source, size, true);
	fputs(" |\n", out);
}

static void put_lines(FILE *out, const struct profile *profile, enum export_metric metric)
{
	struct ranked_line best[MAX_LINES];
	uint32_t count = rank_lines(profile, ranks[metric], best, MAX_LINES);
	if (count == 0)
		return;
	fprintf(out, "| time | self | Python | native | system | waiting |%s line | source |\n",
		profile->has_memory ? " peak | allocated | copied |" : "");
	fprintf(out, "|---:|---:|---:|---:|---:|---:|%s---|---|\n",
		profile->has_memory ? "---:|---:|---:|" : "");
	for (uint32_t i = 0; i < count; i++)
		put_line(out, profile, &best[i]);
	fputc('\n', out);
}

/* ---- functions ---- */

struct ranked_function {
	const struct profile_file *file;
	const struct profile_function *function;
};

static void insert_function(struct ranked_function *best, uint32_t *count,
			    struct ranked_function candidate)
{
	uint32_t at = *count;
	while (at > 0 && best[at - 1].function->inclusive_s < candidate.function->inclusive_s)
		at--;
	if (at == MAX_FUNCTIONS)
		return;
	*count += *count < MAX_FUNCTIONS;
	memmove(best + at + 1, best + at, (*count - at - 1) * sizeof(*best));
	best[at] = candidate;
}

static void put_functions(FILE *out, const struct profile *profile)
{
	struct ranked_function best[MAX_FUNCTIONS];
	uint32_t count = 0;
	for (uint32_t i = 0; i < profile->file_count; i++) {
		const struct profile_file *file = &profile->files[i];
		for (uint32_t j = 0; j < file->function_count; j++)
			insert_function(best, &count,
					(struct ranked_function){file, &file->functions[j]});
	}
	if (count == 0)
		return;
	fputs("| inclusive | self | function | defined in |\n|---:|---:|---|---|\n", out);
	for (uint32_t i = 0; i < count; i++) {
		const struct profile_function *function = best[i].function;
		fprintf(out, "| %s | %s | ", figure_seconds(function->inclusive_s).text,
			figure_seconds(metrics_seconds(&function->self)).text);
		put_code(out, function->name, strlen(function->name), true);
		fputs(" | ", out);
		put_place(out, profile, best[i].file->path, function->first_line);
		fputs(" |\n", out);
	}
}

void export_markdown(FILE *out, const struct profile *profile, enum export_metric metric)
{
	put_heading(out, profile);
	put_lines(out, profile, metric);
	put_functions(out, profile);
}
