/* top_table.c - see top_table.h. */
#include "cli/top_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "base/vec.h"
#include "profile/source.h"
#include "report/figure.h"
#include "report/glyph.h"

#define JSON_ROWS 100u
#define NAME_CELLS 28u

/* ---- rows ---- */

static bool has_word(const char *text, const char *word)
{
	return text != NULL && strstr(text, word) != NULL;
}

static bool is_wanted(const struct top_row *row, const char *filter)
{
	size_t size;
	const char *source;

	if (filter == NULL || filter[0] == '\0' || has_word(row->name, filter))
		return true;
	if (row->file == NULL)
		return false;
	source = source_file_line(row->file, row->line, &size);
	return has_word(row->file->path, filter) || memmem(source, size, filter, strlen(filter)) != NULL;
}

static void add_row(struct top_table *table, struct top_row row, const char *filter)
{
	if (row.own_s <= 0 && row.total_s <= 0)
		return;
	if (!is_wanted(&row, filter))
		return;
	vec_reserve(table->rows, table->room, table->count);
	table->rows[table->count++] = row;
}

static void add_file(struct top_table *table, const struct profile_file *file, enum top_view view,
		     const char *filter)
{
	for (uint32_t i = 0; view == TOP_LINES && i < file->line_count; i++) {
		const struct profile_line *line = &file->lines[i];

		add_row(table,
			(struct top_row){.file = file, .line = line->line,
					 .own_s = metrics_seconds(&line->self),
					 .total_s = line->inclusive_s, .gil_s = line->self.gil_s},
			filter);
	}
	for (uint32_t i = 0; view == TOP_FUNCTIONS && i < file->function_count; i++) {
		const struct profile_function *function = &file->functions[i];

		add_row(table,
			(struct top_row){.file = file, .name = function->name,
					 .line = function->first_line,
					 .own_s = metrics_seconds(&function->self),
					 .total_s = function->inclusive_s, .gil_s = function->self.gil_s},
			filter);
	}
}

static int compare_names(const struct top_row *a, const struct top_row *b)
{
	int order = 0;

	if (a->file && b->file)
		order = strcmp(a->file->path, b->file->path);
	if (!order && a->line != b->line)
		order = a->line < b->line ? -1 : 1;
	return !order && a->name && b->name ? strcmp(a->name, b->name) : order;
}

static int compare(const void *left, const void *right, void *context)
{
	const struct top_row *a = left, *b = right;
	enum top_sort sort = *(const enum top_sort *)context;
	double difference = sort == TOP_BY_OWN	   ? b->own_s - a->own_s
			    : sort == TOP_BY_TOTAL ? b->total_s - a->total_s
						   : 0;

	return difference < 0 ? -1 : difference > 0 ? 1 : compare_names(a, b);
}

void top_table_make(struct top_table *table, const struct profile *profile, enum top_view view,
		    enum top_sort sort, const char *filter)
{
	table->count = 0;
	table->whole_s = view == TOP_THREADS ? profile->elapsed_s : profile->total_s;
	for (uint32_t i = 0; view != TOP_THREADS && i < profile->file_count; i++) {
		if (profile->files[i].in_scope)
			add_file(table, &profile->files[i], view, filter);
	}
	for (uint32_t i = 0; view == TOP_THREADS && i < profile->thread_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];
		const struct metrics *self = &thread->self;

		add_row(table,
			(struct top_row){.name = thread->name, .line = (uint32_t)thread->tid,
					 .own_s = self->cpu_s,
					 .total_s = self->cpu_s + self->wait_s + self->idle_s,
					 .gil_s = self->gil_s},
			filter);
	}
	if (table->count)
		qsort_r(table->rows, table->count, sizeof(*table->rows), compare, &sort);
}

void top_table_fini(struct top_table *table)
{
	free(table->rows);
	*table = (struct top_table){0};
}

/* ---- text ---- */

const char *top_columns(enum top_view view)
{
	static const char *const texts[] = {
		[TOP_LINES] = "  own  total    GIL  line",
		[TOP_FUNCTIONS] = "  own  total    GIL  function",
		[TOP_THREADS] = "  CPU  total    GIL  thread",
	};

	return texts[view];
}

static void put_padded(FILE *out, const struct style *style, const char *text, uint32_t cells)
{
	uint32_t used = glyph_put_tail(out, style, text, cells);

	while (used++ < cells)
		fputc(' ', out);
}

void top_row_put(FILE *out, const struct style *style, const struct top_table *table,
		 const struct top_row *row)
{
	char place[4200];
	uint32_t left = style->columns > 22 ? style->columns - 22 : 1;
	size_t size = 0;

	fprintf(out, "%4.0f%%  %4.0f%%  %4.0f%%  ", table->whole_s > 0 ? 100 * row->own_s / table->whole_s : 0,
		table->whole_s > 0 ? 100 * row->total_s / table->whole_s : 0,
		table->whole_s > 0 ? 100 * row->gil_s / table->whole_s : 0);
	if (!row->file) {
		snprintf(place, sizeof(place), "%s (%u)", row->name ? row->name : "", row->line);
		glyph_put(out, style, place, strlen(place), left);
		return;
	}
	snprintf(place, sizeof(place), "%s:%u", glyph_short_path(style, row->file->path), row->line);
	uint32_t cells = left / 2 < NAME_CELLS ? left / 2 : NAME_CELLS;
	put_padded(out, style, place, cells);
	if (cells + 2 >= left)
		return;
	fputs("  ", out);
	const char *text = row->name;
	if (text)
		size = strlen(text);
	else
		text = source_file_line(row->file, row->line, &size);
	glyph_trim(&text, &size);
	glyph_put(out, style, text, size, left - cells - 2);
}

void top_heading_put(FILE *out, const struct style *style, pid_t pid, const struct attach_figures *figures)
{
	fprintf(out, "heatline  process %d  Python %s  ", (int)pid, figures->python);
	put_padded(out, style, figures->program, style->columns > 50 ? style->columns - 50 : 1);
}

void top_figures_put(FILE *out, const struct attach_figures *figures)
{
	fprintf(out, "CPU %.0f%%  GIL %.0f%%  memory %s  threads %u  ", figures->cpu_percent,
		figures->gil_percent, figure_bytes((double)figures->resident_bytes).text, figures->threads);
	fprintf(out, "%s  %llu looks, %llu lost", figure_seconds(figures->wall_s).text,
		(unsigned long long)figures->looks, (unsigned long long)figures->lost);
}

/* ---- JSON ---- */

static void put_json_rows(struct json_out *out, const char *key, const struct profile *profile,
			  enum top_view view)
{
	struct top_table table = {0};

	top_table_make(&table, profile, view, TOP_BY_OWN, NULL);
	json_begin_array(out, key);
	for (uint32_t i = 0; i < table.count && i < JSON_ROWS; i++) {
		const struct top_row *row = &table.rows[i];
		size_t size;

		json_put_newline(out);
		json_begin_object(out, NULL);
		if (row->name)
			json_put_text(out, "name", row->name);
		if (row->file) {
			const char *source = source_file_line(row->file, row->line, &size);

			json_put_text(out, "file", row->file->path);
			json_put_unsigned(out, "line", row->line);
			json_put_bytes(out, "source", source, size);
		} else {
			json_put_unsigned(out, "tid", row->line);
		}
		json_put_number(out, "own_s", row->own_s, 6);
		json_put_number(out, "total_s", row->total_s, 6);
		json_put_number(out, "gil_s", row->gil_s, 6);
		json_put_number(out, "own_percent", table.whole_s > 0 ? 100 * row->own_s / table.whole_s : 0, 3);
		json_put_number(out, "total_percent",
				table.whole_s > 0 ? 100 * row->total_s / table.whole_s : 0, 3);
		json_end_object(out);
	}
	json_end_array(out);
	top_table_fini(&table);
}

void top_put_json(FILE *out, const struct profile *profile, pid_t pid, const struct attach_figures *figures)
{
	struct json_out json;

	json_out_init(&json, out);
	json_begin_object(&json, NULL);
	json_put_integer(&json, "pid", pid);
	json_put_text(&json, "python", figures->python);
	json_put_text(&json, "program", figures->program);
	json_put_number(&json, "seconds", figures->wall_s, 3);
	json_put_number(&json, "cpu_percent", figures->cpu_percent, 1);
	json_put_number(&json, "gil_percent", figures->gil_percent, 1);
	json_put_unsigned(&json, "resident_bytes", figures->resident_bytes);
	json_put_unsigned(&json, "looks", figures->looks);
	json_put_unsigned(&json, "lost", figures->lost);
	put_json_rows(&json, "lines", profile, TOP_LINES);
	put_json_rows(&json, "functions", profile, TOP_FUNCTIONS);
	put_json_rows(&json, "threads", profile, TOP_THREADS);
	json_end_object(&json);
	fputc('\n', out);
}
