/* read_files.c - files, lines and functions out of a profile. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/vec.h"
#include "profile/book.h"
#include "profile/book_index.h"
#include "profile/read_parts.h"

/* Scalene keeps & < > of the source as the six characters of their JSON
 * escapes, escaped once more. */
static void append_scalene_text(struct buf *text, const char *line, size_t size)
{
	static const struct {
		const char *escape;
		char character;
	} escapes[] = {{"\\u0026", '&'}, {"\\u003c", '<'}, {"\\u003e", '>'}};
	for (size_t at = 0; at < size;) {
		size_t step = 1;
		char c = line[at];
		for (size_t i = 0; c == '\\' && i < 3; i++) {
			if (size - at >= 6 && memcmp(line + at, escapes[i].escape, 6) == 0) {
				c = escapes[i].character;
				step = 6;
			}
		}
		buf_char(text, c);
		at += step;
	}
}

/* Appends the source text of a record, without its line end.  A line end
 * within would move all lines after it. */
static void append_line_text(struct profile_reader *reader, const json_t *record, struct buf *text)
{
	size_t start = text->size;
	const json_t *value = json_object_get(record, "line");
	if (!json_is_string(value)) {
		reader_fail(reader, "\"line\" is not a text");
		return;
	}
	size_t size = json_string_length(value);
	const char *line = json_string_value(value);
	while (size > 0 && (line[size - 1] == '\n' || line[size - 1] == '\r'))
		size--;
	if (reader->is_scalene)
		append_scalene_text(text, line, size);
	else
		buf_append(text, line, size);
	for (size_t i = start; i < text->size; i++) {
		if (text->data[i] == '\n')
			text->data[i] = ' ';
	}
}

static void read_times(struct profile_reader *reader, const json_t *record,
		       struct profile_line *line)
{
	json_t *list = reader_array(reader, record, "cpu_samples_list");
	size_t size = json_array_size(list);
	size_t kept = size < LINE_TIMES_MAX ? size : LINE_TIMES_MAX;
	if (kept == 0)
		return;
	line->sample_times_s = mem_alloc(kept * sizeof(*line->sample_times_s));
	line->sample_room = (uint32_t)kept;
	for (size_t i = 0; i < kept; i++) {
		double time = reader_item_number(reader, list, i * size / kept, "cpu_samples_list");
		double since = time - reader->profile->start_time_perf_s;
		line->sample_times_s[line->sample_times++] = since > 0 ? since : 0;
	}
}

static void read_columns(struct profile_reader *reader, const json_t *record,
			 struct profile_line *line)
{
	json_t *list = reader_array(reader, record, "columns");
	size_t size = json_array_size(list);
	size_t kept = size < LINE_COLUMNS_MAX ? size : LINE_COLUMNS_MAX;
	if (kept == 0)
		return;
	line->columns = mem_zalloc(kept, sizeof(*line->columns));
	line->column_room = (uint32_t)kept;
	for (size_t i = 0; i < kept; i++) {
		json_t *item = json_array_get(list, i);
		struct column_range *range = &line->columns[line->column_count++];
		if (json_array_size(item) != 5)
			reader_fail(reader, "an item of \"columns\" is not a list of five numbers");
		range->column = (int32_t)reader_item_integer(reader, item, 1, -1, INT32_MAX,
							     "columns");
		range->line_end = (int32_t)reader_item_integer(reader, item, 2, -1, INT32_MAX,
							       "columns");
		range->column_end = (int32_t)reader_item_integer(reader, item, 3, -1, INT32_MAX,
								 "columns");
		range->self_s = reader_item_number(reader, item, 4, "columns");
	}
}

static uint32_t read_line_number(struct profile_reader *reader, const json_t *record,
				 const char *key)
{
	return (uint32_t)reader_unsigned(reader, record, key, READ_MAX_LINE);
}

static void read_region(struct profile_reader *reader, const json_t *record,
			struct line_region *region)
{
	region->region_start = read_line_number(reader, record, "start_region_line");
	region->region_end = read_line_number(reader, record, "end_region_line");
	region->loop_start = read_line_number(reader, record, "start_outermost_loop");
	region->loop_end = read_line_number(reader, record, "end_outermost_loop");
	region->function_start = read_line_number(reader, record, "start_function_line");
	region->function_end = read_line_number(reader, record, "end_function_line");
}

/* Scalene has percent of the elapsed time, and no inclusive time; it does not
 * tell the kernel's work from waiting. */
static void read_scalene_figures(struct profile_reader *reader, const json_t *record,
				 struct metrics *self, struct memory *memory,
				 struct gpu_figures *gpu, double *inclusive_s)
{
	double unit = reader->profile->total_s / 100;
	self->python_s = reader_number(reader, record, "n_cpu_percent_python") * unit;
	self->native_s = reader_number(reader, record, "n_cpu_percent_c") * unit;
	self->system_s = reader_number(reader, record, "n_sys_percent") * unit;
	double utilization = reader_number(reader, record, "n_core_utilization");
	self->cpu_s = fmin(utilization, 1.0) * metrics_seconds(self);
	self->samples = json_array_size(reader_array(reader, record, "cpu_samples_list"));
	*inclusive_s = metrics_seconds(self);
	read_scalene_memory(reader, record, self, memory);
	read_scalene_gpu(reader, record, self, gpu);
}

static void read_figures(struct profile_reader *reader, const json_t *record, struct metrics *self,
			 struct memory *memory, struct gpu_figures *gpu, double *inclusive_s)
{
	if (!json_object_get(record, "n_samples")) {
		read_scalene_figures(reader, record, self, memory, gpu, inclusive_s);
		return;
	}
	reader_seconds(reader, record, self);
	reader_waits_for(reader, record, self);
	self->samples = reader_unsigned(reader, record, "n_samples", INT64_MAX);
	*inclusive_s = reader_number(reader, record, "inclusive_s");
	read_own_memory(reader, record, self, memory);
	read_gpu_figures(reader, record, self, gpu);
}

static bool has_figures(const json_t *record, const struct profile_line *line)
{
	const struct metrics *self = &line->self;
	return json_object_get(record, "n_samples") || line->async.await_s > 0 || metrics_seconds(self) > 0 || self->samples ||
	       self->alloc_bytes > 0 || self->copy_bytes > 0 || self->gpu_s > 0 || line->memory.peak_bytes > 0;
}

/* Adds the line when it has figures; its text goes into text, to be the
 * source or the line's own. */
static void read_line(struct profile_reader *reader, const json_t *record,
		      struct profile_file *file, struct buf *text)
{
	struct profile_line line = {.line = read_line_number(reader, record, "lineno"),
				    .sample_stride = 1};
	read_figures(reader, record, &line.self, &line.memory, &line.gpu, &line.inclusive_s);
	read_async_figures(reader, record, &line.async);
	append_line_text(reader, record, text);
	if (line.line == 0)
		reader_fail(reader, "a line has no \"lineno\"");
	if (reader->has_failed || !has_figures(record, &line)) {
		free(line.async.names);
		return;
	}
	read_region(reader, record, &line.region);
	read_times(reader, record, &line);
	read_columns(reader, record, &line);
	read_line_points(reader, record, &line);
	vec_reserve(file->lines, file->line_room, file->line_count);
	file->lines[file->line_count++] = line;
}

/* Reads the records; those that follow one another from line 1 on are the
 * source, unless the profile says that lines were left out. */
static void read_lines(struct profile_reader *reader, const json_t *lines, bool is_reduced,
		       struct profile_file *file)
{
	struct buf source, text;
	buf_init(&source, SIZE_MAX);
	buf_init(&text, SIZE_MAX);
	uint32_t next_line = 1;
	size_t index;
	json_t *record;
	json_array_foreach(lines, index, record)
	{
		if (!json_is_object(record)) {
			reader_fail(reader, "an item of \"lines\" is not an object");
			break;
		}
		buf_clear(&text);
		uint32_t count_before = file->line_count;
		read_line(reader, record, file, &text);
		if (reader->has_failed)
			break;
		uint32_t number = read_line_number(reader, record, "lineno");
		if (number == next_line && !is_reduced) {
			buf_append(&source, text.data, text.size);
			buf_char(&source, '\n');
			next_line++;
		} else if (file->line_count > count_before) {
			file->lines[count_before].text =
				profile_intern(reader->profile, text.data);
		}
	}
	if (source.size) {
		file->source_size = source.size;
		file->source = buf_take(&source);
	}
	buf_fini(&source);
	buf_fini(&text);
}

static void read_functions(struct profile_reader *reader, const json_t *functions,
			   struct profile_file *file)
{
	size_t index;
	json_t *record;
	json_array_foreach(functions, index, record)
	{
		if (!json_is_object(record)) {
			reader_fail(reader, "an item of \"functions\" is not an object");
			return;
		}
		struct profile_function function = {
			.name = reader_text(reader, record, "line"),
			.first_line = read_line_number(reader, record, "lineno")};
		read_figures(reader, record, &function.self, &function.memory, &function.gpu,
			     &function.inclusive_s);
		read_async_figures(reader, record, &function.async);
		if (!function.name)
			reader_fail(reader, "a function has no name");
		if (reader->has_failed) {
			free(function.async.names);
			return;
		}
		vec_reserve(file->functions, file->function_room, file->function_count);
		file->functions[file->function_count++] = function;
	}
}

static void check_lines(struct profile_reader *reader, const struct profile_file *file)
{
	for (uint32_t i = 1; i < file->line_count; i++) {
		if (file->lines[i].line == file->lines[i - 1].line)
			reader_fail(reader, "line %u of '%s' is there twice", file->lines[i].line,
				    file->path);
	}
}

static void read_source(struct profile_reader *reader, const json_t *record,
			struct profile_file *file)
{
	const char *source = reader_text(reader, record, "source");
	if (!source || file->source)
		return;
	file->source_size = strlen(source);
	file->source = mem_copy_bytes(source, file->source_size);
	for (uint32_t i = 0; i < file->line_count; i++)
		file->lines[i].text = NULL;
}

static void read_file(struct profile_reader *reader, const char *path, const json_t *record)
{
	uint32_t index = profile_file_index(reader->profile, path, true);
	struct profile_file *file = &reader->profile->files[index];
	if (file->imports) {
		reader_fail(reader, "it has more files than a profile can have");
		return;
	}
	if (!json_is_object(record)) {
		reader_fail(reader, "the entry of '%s' is not an object", path);
		return;
	}
	read_lines(reader, reader_array(reader, record, "lines"),
		   reader_bool(reader, record, "reduced"), file);
	read_source(reader, record, file);
	read_functions(reader, reader_array(reader, record, "functions"), file);
	file->imports = reader_texts(reader, record, "imports", &file->import_count);
	book_finish_file(file);
	check_lines(reader, file);
	read_leaks(reader, record, file);
}

void read_files(struct profile_reader *reader, const json_t *files)
{
	const char *path;
	json_t *record;
	json_object_foreach((json_t *)files, path, record)
	{
		read_file(reader, path, record);
		if (reader->has_failed)
			return;
	}
}
