/* query.c - the kinds of answers, and what they are made of. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "profile/source.h"
#include "report/query_parts.h"
#include "report/glyph.h"

#define MAX_CODE_BYTES 160u
#define MAX_ROW_BYTES 2000u
#define RESERVE_BYTES 400u /* of the text: for what is said after the rows */

const struct query_kind query_kinds[] = {
	{"summary", "Summary", "Where the time and memory of a run went, its five hottest lines, and how far "
			       "to trust the profile. Ask this first.",
	 0, false, query_summary},
	{"hot_lines", "Hottest lines", "The lines (or functions, or files) that took most, with their source "
				       "and the kind of time.",
	 QUERY_TAKES_BY | QUERY_TAKES_METRIC | QUERY_TAKES_TOP | QUERY_TAKES_MIN, false, query_hot},
	{"source", "Source with figures", "Source lines with what each took: around a line, a range, or the "
					  "hottest part of a file.",
	 QUERY_TAKES_AT | QUERY_NEEDS_AT, false, query_source},
	{"callers", "Callers", "Who called a line or function and what it called, with the time of each.",
	 QUERY_TAKES_AT | QUERY_NEEDS_AT | QUERY_TAKES_TOP, false, query_callers},
	{"memory", "Memory", "The lines that held the peak, leak, allocate again and again (churn), or copy.",
	 QUERY_TAKES_VIEW | QUERY_TAKES_TOP, false, query_memory},
	{"advice", "Advice", "Patterns of this source that are known to be slow, each with the evidence of this "
			     "profile and the usual fix.",
	 QUERY_TAKES_TOP, false, query_advice},
	{"compare", "Compare", "Two profiles of a program: the verdict, and the lines that changed beyond the "
			       "noise of sampling.",
	 QUERY_TAKES_TOP, true, query_compare},
	{NULL, NULL, NULL, 0, false, NULL},
};

const struct query_kind *query_kind_find(const char *name)
{
	for (const struct query_kind *kind = query_kinds; kind->name; kind++) {
		size_t i = 0;
		while (kind->name[i] && (name[i] == kind->name[i] ||
					 (name[i] == '-' && kind->name[i] == '_')))
			i++;
		if (!kind->name[i] && !name[i])
			return kind;
	}
	return NULL;
}

/* ---- asking ---- */

static bool is_choice(const char *choices, const char *word)
{
	size_t size = strlen(word);
	for (const char *at = choices; *at;) {
		size_t length = strcspn(at, "|");
		if (length == size && memcmp(at, word, size) == 0)
			return true;
		at += length + (at[length] == '|');
	}
	return false;
}

static int check_choice(const char *name, const char *choices, const char *word, struct err *err)
{
	if (!word || is_choice(choices, word))
		return 0;
	return err_set(err, ERR_USAGE, "%s is one of %s, not '%.40s'", name, choices, word);
}

/* Whether the question's words are among those that there are; else the sentence. */
static int check_words(const struct question *question, struct err *err)
{
	int status = check_choice("by", QUERY_BY, question->by, err);
	if (!status)
		status = check_choice("metric", QUERY_METRICS, question->metric, err);
	if (!status)
		status = check_choice("view", QUERY_VIEWS, question->view, err);
	if (!status && question->top > QUERY_MAX_TOP)
		status = err_set(err, ERR_USAGE, "top is at most %u", QUERY_MAX_TOP);
	return status;
}

int query_give(const struct query_kind *kind, struct query_answer *answer,
		const struct profile *profile, const struct profile *after,
		const struct question *question, struct err *err)
{
	int status = check_words(question, err);
	if (!status && (kind->takes & QUERY_NEEDS_AT) && !question->at)
		status = err_set(err, ERR_USAGE,
				 "say where: at is FILE, FILE:LINE, FILE:FROM-TO or a function's name");
	return status ? status : kind->give(answer, profile, after, question, err);
}

uint32_t query_top(const struct question *question)
{
	return question->top ? question->top : QUERY_TOP;
}

/* ---- making ---- */

void query_init(struct query_answer *answer)
{
	*answer = (struct query_answer){.json = json_object()};
	buf_init(&answer->text, QUERY_MAX_BYTES);
}

void query_fini(struct query_answer *answer)
{
	buf_fini(&answer->text);
	json_decref(answer->json);
	answer->json = NULL;
}

static int format_row(char row[MAX_ROW_BYTES], const char *format, va_list arguments)
{
	int size = vsnprintf(row, MAX_ROW_BYTES - 1, format, arguments);
	if (size < 0)
		return 0;
	size = size < (int)MAX_ROW_BYTES - 1 ? size : (int)MAX_ROW_BYTES - 2;
	row[size] = '\n';
	return size + 1;
}

void query_say(struct query_answer *answer, const char *format, ...)
{
	char row[MAX_ROW_BYTES];
	va_list arguments;
	va_start(arguments, format);
	int size = format_row(row, format, arguments);
	va_end(arguments);
	buf_append(&answer->text, row, (size_t)size);
}

bool query_add(struct query_answer *answer, const char *list, json_t *row, const char *format, ...)
{
	char line[MAX_ROW_BYTES];
	va_list arguments;
	va_start(arguments, format);
	size_t size = (size_t)format_row(line, format, arguments);
	va_end(arguments);
	json_t *rows = json_object_get(answer->json, list);
	if (!rows) {
		rows = json_array();
		json_object_set_new(answer->json, list, rows);
	}
	answer->is_full = answer->is_full ||
			  answer->text.size + size + RESERVE_BYTES > QUERY_MAX_BYTES;
	if (answer->is_full) {
		json_decref(row);
		return false;
	}
	buf_append(&answer->text, line, size);
	json_array_append_new(rows, row);
	return true;
}

void query_cut(struct query_answer *answer, uint32_t shown, uint32_t total, const char *what,
		const char *how)
{
	char text[300];
	if (shown >= total) {
		json_object_set_new(answer->json, "cut", json_null());
		return;
	}
	snprintf(text, sizeof(text), "%u of %u %s shown%s; %s", shown, total, what,
		 answer->is_full ? ", as many as fit" : "", how);
	query_say(answer, "(%s)", text);
	json_object_set_new(answer->json, "cut", json_string(text));
}

json_t *query_text(const char *text, size_t size)
{
	json_t *value = json_stringn(text, size);
	return value ? value : json_string("?");
}

json_t *query_number(double value)
{
	if (!isfinite(value))
		return json_integer(0);
	return json_real(round(value * 1e4) / 1e4);
}

const char *query_path(const struct profile *profile, const char *path)
{
	const char *folder = profile->entrypoint_dir;
	size_t size = folder ? strlen(folder) : 0;
	if (size > 1 && strncmp(path, folder, size) == 0 && path[size] == '/')
		return path + size + 1;
	return path;
}

const char *query_code(const struct profile_file *file, uint32_t line, size_t *size)
{
	const char *code = source_file_line(file, line, size);
	glyph_trim(&code, size);
	if (*size > MAX_CODE_BYTES) {
		*size = MAX_CODE_BYTES;
		while (*size && ((unsigned char)code[*size] & 0xC0) == 0x80)
			--*size;
	}
	return code;
}

json_t *query_line(const struct profile *profile, const struct profile_file *file,
		    const struct profile_line *line)
{
	const struct profile_function *function = profile_find_function(file, line);
	const char *path = query_path(profile, file->path);
	size_t size;
	const char *code = query_code(file, line->line, &size);
	json_t *row = json_object();
	json_object_set_new(row, "file", query_text(path, strlen(path)));
	json_object_set_new(row, "line", json_integer(line->line));
	if (function)
		json_object_set_new(row, "function", query_text(function->name, strlen(function->name)));
	json_object_set_new(row, "text", query_text(code, size));
	double seconds = metrics_seconds(&line->self);
	json_object_set_new(row, "percent", query_number(profile_percent(profile, seconds)));
	json_object_set_new(row, "seconds", query_number(seconds));
	json_object_set_new(row, "python_s", query_number(line->self.python_s));
	json_object_set_new(row, "native_s", query_number(line->self.native_s));
	json_object_set_new(row, "system_s", query_number(line->self.system_s));
	json_object_set_new(row, "wait_s", query_number(line->self.wait_s));
	json_object_set_new(row, "inclusive_percent",
			    query_number(profile_percent(profile, line->inclusive_s)));
	json_object_set_new(row, "samples", json_integer((json_int_t)line->self.samples));
	if (line->self.gpu_s > 0 || line->gpu.wait_s > 0) {
		json_object_set_new(row, "gpu_s", query_number(line->self.gpu_s));
		json_object_set_new(row, "gpu_wait_s", query_number(line->gpu.wait_s));
	}
	if (profile->has_memory) {
		json_object_set_new(row, "peak_mb", query_number(line->memory.peak_bytes / MB));
		json_object_set_new(row, "allocated_mb", query_number(line->self.alloc_bytes / MB));
		json_object_set_new(row, "copied_mb", query_number(line->self.copy_bytes / MB));
	}
	return row;
}

const char *query_kind_of_time(const struct metrics *self, char text[32])
{
	static const char *const names[] = {"Python", "native", "system", "waiting"};
	double parts[] = {self->python_s, self->native_s, self->system_s, self->wait_s};
	double whole = metrics_seconds(self);
	int most = 0;
	for (int i = 1; i < 4; i++)
		most = parts[i] > parts[most] ? i : most;
	text[0] = '\0';
	if (whole > 0)
		snprintf(text, 32, "%s %.0f%%", names[most], 100 * parts[most] / whole);
	return text;
}

/* ---- places ---- */

static bool is_named(const char *path, const char *name, size_t size)
{
	size_t length = strlen(path);
	if (length < size || memcmp(path + length - size, name, size) != 0)
		return false;
	return length == size || path[length - size - 1] == '/';
}

/* The one file of this name; with figures rather than without. */
static const struct profile_file *find_file(const struct profile *profile, const char *name,
					    size_t size, struct err *err)
{
	const struct profile_file *found = NULL;
	for (uint32_t i = 0; i < profile->file_count; i++) {
		const struct profile_file *file = &profile->files[i];
		if (!file->line_count || !is_named(file->path, name, size))
			continue;
		if (found) {
			err_set(err, ERR_USAGE, "'%.*s' is '%s' or '%s'; give more of the path", (int)size,
				name, found->path, file->path);
			return NULL;
		}
		found = file;
	}
	if (!found)
		err_set(err, ERR_NOT_FOUND, "the profile has no figures for a file '%.*s'",
			(int)(size < 200 ? size : 200), name);
	return found;
}

static bool has_function(const struct profile *profile, const char *name)
{
	for (uint32_t i = 0; i < profile->file_count; i++) {
		for (uint32_t k = 0; k < profile->files[i].function_count; k++) {
			if (strcmp(profile->files[i].functions[k].name, name) == 0)
				return true;
		}
	}
	return false;
}

/* The line numbers behind the last colon, "12" or "10-40"; false: there are none. */
static bool read_lines(const char *text, uint32_t *first, uint32_t *last)
{
	char *end;
	unsigned long from = strtoul(text, &end, 10), to = from;
	if (end == text || text[0] == '-' || text[0] == '+' || text[0] == ' ')
		return false;
	if (*end == '-' && end[1] >= '0' && end[1] <= '9')
		to = strtoul(end + 1, &end, 10);
	if (*end || from == 0 || from > to || to > 100000000)
		return false;
	*first = (uint32_t)from;
	*last = (uint32_t)to;
	return true;
}

/* Of a file whose source is known it is known how far it goes. */
static int check_line(const struct profile *profile, const struct query_place *place, struct err *err)
{
	struct source_lines lines;
	if (!place->file->source)
		return 0;
	source_lines_init(&lines, place->file->source, place->file->source_size);
	uint32_t count = lines.count;
	source_lines_fini(&lines);
	if (place->first <= count)
		return 0;
	return err_set(err, ERR_NOT_FOUND, "'%.200s' has no line %u, only %u",
		       query_path(profile, place->file->path), place->first, count);
}

/* Why there is no file or function of this name; colon: the last one in it, or NULL. */
static void explain_place(const struct profile *profile, const char *at, const char *colon, struct err *err)
{
	struct err unused;
	if (colon && find_file(profile, at, (size_t)(colon - at), &unused))
		err_set(err, ERR_USAGE, "'%.40s' is no line of '%.*s': a line is FILE:LINE, several are FILE:FROM-TO",
			colon + 1, (int)(colon - at < 200 ? colon - at : 200), at);
	else
		err_set(err, ERR_NOT_FOUND,
			"the profile has no figures for a file or a function '%.200s'", at);
}

int query_find_place(const struct profile *profile, const char *at, struct query_place *place,
		      struct err *err)
{
	const char *colon = strrchr(at, ':');
	size_t size = strlen(at);
	*place = (struct query_place){.file = NULL};
	if (has_function(profile, at)) {
		place->function = at;
		return 0;
	}
	if (colon && read_lines(colon + 1, &place->first, &place->last))
		size = (size_t)(colon - at);
	place->file = find_file(profile, at, size, err);
	if (!place->file && err->code == ERR_NOT_FOUND && !place->first)
		explain_place(profile, at, colon, err);
	if (!place->file)
		return -(int)err->code;
	return check_line(profile, place, err);
}
