/* threads.c - threads in the text report. */
#include "report/threads.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "report/figure.h"
#include "report/glyph.h"
#include "report/quality.h"
#include "report/rank.h"

#define WORTH_SHARE 0.1
#define TOTAL_SHARE 0.01 /* of the total that it must be, too */
#define COLUMN_SHARE 0.02 /* from which on there is a column */
#define MAX_WAITS_BYTES 500u
#define WAITS_CELLS 12u /* of what stands before them */
#define WAITS_SHARE 0.01 /* of the total; less is not told */
#define MAX_THREADS 20u
#define IDLE_SHARE 0.01 /* of the run; less is not told */
#define MAX_IDLE_LINES 8u
#define IDLE_HEAD_CELLS 22u
#define IDLE_CELLS 21u /* of a line's figures and the gap after them */
#define FIGURE_CELLS 9u /* of a column, with the gap before it */
#define MAX_NAME_CELLS 40u

/* ---- what is worth a sentence ---- */

static double work_s(const struct profile *profile)
{
	return profile->sum.python_s + profile->sum.native_s + profile->sum.system_s;
}

/* Of the time in which threads could have worked. */
static double gil_share(const struct profile *profile)
{
	double gil_s = profile->sum.gil_s;

	return gil_s > 0 ? gil_s / (work_s(profile) + gil_s) : 0;
}

static double gc_share(const struct profile *profile)
{
	return profile->sum.gc_s > 0 ? profile->sum.gc_s / work_s(profile) : 0;
}

/* Of a program that hardly works a large part of the work is little. */
static bool is_worth(const struct profile *profile, double seconds, double share, double least)
{
	return share > least && seconds >= TOTAL_SHARE * profile->total_s;
}

/* A few samples show no share. */
static bool has_gc_samples(const struct profile *profile)
{
	double samples = gc_share(profile) * (double)profile->quality.samples;

	return profile->quality.samples == 0 || samples >= QUALITY_FEW_LINE_SAMPLES;
}

bool threads_has_gil_worth(const struct profile *profile)
{
	return is_worth(profile, profile->sum.gil_s, gil_share(profile), WORTH_SHARE);
}

bool threads_has_gc_worth(const struct profile *profile)
{
	return is_worth(profile, profile->sum.gc_s, gc_share(profile), WORTH_SHARE) &&
	       has_gc_samples(profile);
}

static double gil_of(const struct profile *profile, const struct profile_line *line)
{
	(void)profile;
	return line->self.gil_s;
}

static double gc_of(const struct profile *profile, const struct profile_line *line)
{
	(void)profile;
	return line->self.gc_s;
}

static void print_note(FILE *out, const struct style *style, const struct profile *profile,
		       const char *sentence, rank_value *value, uint32_t indent)
{
	struct ranked_line most;

	style_put(out, style, PAINT_WARNING);
	fprintf(out, "%*s%s", (int)indent, "", sentence);
	if (rank_lines(profile, value, &most, 1)) {
		fputc(',', out);
		rank_put_most(out, style, &most, indent + (uint32_t)strlen(sentence) + 1, indent);
	}
	style_put(out, style, PAINT_NONE);
	fputc('\n', out);
}

void threads_print_notes(FILE *out, const struct style *style, const struct profile *profile,
			 uint32_t indent)
{
	char text[160];

	if (threads_has_gil_worth(profile)) {
		snprintf(text, sizeof text, "Threads waited %s for the GIL (%s of their time)",
			 figure_seconds(profile->sum.gil_s).text,
			 figure_share(gil_share(profile), 1).text);
		print_note(out, style, profile, text, gil_of, indent);
	}
	if (threads_has_gc_worth(profile)) {
		snprintf(text, sizeof text, "Garbage collection took %s (%s of the work)",
			 figure_seconds(profile->sum.gc_s).text,
			 figure_share(gc_share(profile), 1).text);
		print_note(out, style, profile, text, gc_of, indent);
	}
}

/* ---- what was waited for ---- */

void threads_print_waits(FILE *out, const struct style *style, const struct profile *profile)
{
	const struct metrics *sum = &profile->sum;
	double shown_s = WAITS_SHARE * profile->total_s;
	struct buf text;

	buf_init(&text, MAX_WAITS_BYTES);
	if (sum->gil_s > shown_s)
		buf_printf(&text, ", GIL %s", figure_seconds(sum->gil_s).text);
	for (uint32_t i = 0; i < WAIT_KINDS; i++) {
		double seconds = (double)sum->waits_s[i];

		if (seconds > shown_s)
			buf_printf(&text, ", %s %s", wait_kind_names[i], figure_seconds(seconds).text);
	}
	if (text.size) {
		style_put(out, style, PAINT_DIM);
		fputs("Waited for: ", out);
		glyph_put_wrapped(out, style, text.data + 2, WAITS_CELLS);
		style_put(out, style, PAINT_NONE);
	}
	buf_fini(&text);
}

/* ---- where threads waited whose waiting does not count ---- */

static double idle_of(const struct profile *profile, const struct profile_line *line)
{
	return line->self.idle_s >= IDLE_SHARE * profile->elapsed_s ? line->self.idle_s : 0;
}

static void put_idle(FILE *out, const struct style *style, const struct ranked_line *ranked,
		     uint32_t place)
{
	const char *reason = metrics_waits_for(&ranked->line->self);

	fprintf(out, " %8s  %-8s  ", figure_seconds(ranked->value).text, reason ? reason : "");
	rank_put_place(out, style, ranked, place);
	rank_put_source(out, style, ranked, IDLE_CELLS + place);
	fputc('\n', out);
}

void threads_print_idle(FILE *out, const struct style *style, const struct profile *profile)
{
	struct ranked_line lines[MAX_IDLE_LINES];
	uint32_t count = rank_lines(profile, idle_of, lines, MAX_IDLE_LINES);
	uint32_t place = rank_place_width(style, lines, count);

	if (count == 0)
		return;
	fputc('\n', out);
	style_print(out, style, PAINT_STRONG, "Other threads waited");
	fputs("  ", out);
	style_put(out, style, PAINT_DIM);
	glyph_put_wrapped(out, style, "beside the main one; no part of the total", IDLE_HEAD_CELLS);
	style_put(out, style, PAINT_NONE);
	for (uint32_t i = 0; i < count; i++)
		put_idle(out, style, &lines[i], place);
}

/* ---- the table ---- */

static int by_work(const void *a, const void *b)
{
	const struct profile_thread *const *left = a, *const *right = b;

	if ((*left)->self.cpu_s != (*right)->self.cpu_s)
		return (*left)->self.cpu_s < (*right)->self.cpu_s ? 1 : -1;
	return (*left > *right) - (*left < *right);
}

static void put_figure(FILE *out, const char *text, uint32_t cells)
{
	fprintf(out, " %*s", (int)cells, text);
}

static void put_seconds(FILE *out, double seconds)
{
	put_figure(out, seconds > 0 ? figure_seconds(seconds).text : "", 8);
}

/* Which of the columns that not every program needs there are. */
struct thread_columns {
	bool has_gil, has_gc, has_process;
};

static void put_head(FILE *out, const struct style *style, const struct thread_columns *columns)
{
	style_put(out, style, PAINT_DIM);
	put_figure(out, "CPU", 8);
	put_figure(out, "waiting", 8);
	if (columns->has_gil)
		put_figure(out, "GIL", 8);
	if (columns->has_gc)
		put_figure(out, "GC", 8);
	put_figure(out, "samples", 8);
	if (columns->has_process)
		put_figure(out, "process", 8);
	fputs("  thread\n", out);
	style_put(out, style, PAINT_NONE);
}

static uint32_t name_room(const struct style *style, const struct thread_columns *columns)
{
	uint32_t used = FIGURE_CELLS * (3u + columns->has_gil + columns->has_gc + columns->has_process) + 2;

	if (!style->is_cut || style->columns >= used + MAX_NAME_CELLS)
		return MAX_NAME_CELLS;
	return style->columns > used ? style->columns - used : 1;
}

static void put_thread(FILE *out, const struct style *style, const struct profile *profile,
		       const struct profile_thread *thread, const struct thread_columns *columns)
{
	const struct metrics *self = &thread->self;
	const char *name = thread->name ? thread->name : "(no name)";
	char pid[16] = "";

	put_seconds(out, self->cpu_s);
	put_seconds(out, self->wait_s + self->idle_s);
	if (columns->has_gil)
		put_seconds(out, self->gil_s);
	if (columns->has_gc)
		put_seconds(out, self->gc_s);
	put_figure(out, figure_count(self->samples).text, 8);
	if (columns->has_process && thread->process < profile->process_count)
		snprintf(pid, sizeof pid, "%d", profile->processes[thread->process].pid);
	if (columns->has_process)
		put_figure(out, pid, 8);
	fputs("  ", out);
	glyph_put(out, style, name, strlen(name), name_room(style, columns));
	fputc('\n', out);
}

void threads_print_table(FILE *out, const struct style *style, const struct profile *profile)
{
	uint32_t count = profile->thread_count;
	uint32_t shown = count < MAX_THREADS ? count : MAX_THREADS;
	uint64_t more = profile_count_threads(profile);
	const struct profile_thread **threads;
	struct thread_columns columns = {
		.has_gil = is_worth(profile, profile->sum.gil_s, gil_share(profile), COLUMN_SHARE),
		.has_gc = is_worth(profile, profile->sum.gc_s, gc_share(profile), COLUMN_SHARE),
		.has_process = profile->process_count > 1,
	};

	if (count < 2)
		return;
	threads = mem_alloc(count * sizeof *threads);
	for (uint32_t i = 0; i < count; i++)
		threads[i] = &profile->threads[i];
	qsort(threads, count, sizeof *threads, by_work);
	fputc('\n', out);
	style_print(out, style, PAINT_STRONG, "Threads");
	fputc('\n', out);
	put_head(out, style, &columns);
	for (uint32_t i = 0; i < shown; i++) {
		put_thread(out, style, profile, threads[i], &columns);
		more -= profile_threads_joined(threads[i]);
	}
	if (more > 0) {
		style_put(out, style, PAINT_DIM);
		fprintf(out, "  and %s more\n", figure_count(more).text);
		style_put(out, style, PAINT_NONE);
	}
	free(threads);
}
