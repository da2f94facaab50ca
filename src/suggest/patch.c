/* patch.c - read the hunks, find their places, put the file together. */
#include "suggest/patch.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "suggest/mask.h"

#define MAX_TEXT_BYTES ((size_t)32 << 20)

struct line {
	const char *text; /* borrowed; without its end */
	size_t size;
};

struct hunk_line {
	char sign; /* ' ', '-' or '+' */
	struct line line;
};

struct hunk {
	uint32_t hint; /* line from 1; 0: none */
	VEC(struct hunk_line) lines;
};

typedef VEC(struct line) line_list;

static void split(line_list *lines, const char *text, size_t size)
{
	const char *end = text + size;

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((stop ? stop : end) - text);
		bool has_return = length && text[length - 1] == '\r';

		vec_push(lines, ((struct line){text, length - has_return}));
		text = stop ? stop + 1 : end;
	}
}

static bool starts(const struct line *line, const char *word)
{
	size_t size = strlen(word);

	return line->size >= size && memcmp(line->text, word, size) == 0;
}

/* --- reading the diff --- */

struct reader {
	const char *path; /* of the file that may be changed */
	VEC(struct hunk) hunks;
	bool is_in_hunk;
};

/* Whether the name in a header means the file: its last parts are the file's. */
static bool names_file(struct line name, const char *path)
{
	const char *tab = memchr(name.text, '\t', name.size);
	size_t length = strlen(path);

	name.size = tab ? (size_t)(tab - name.text) : name.size;
	while (name.size && name.text[name.size - 1] == ' ')
		name.size--;
	if (starts(&name, "a/") || starts(&name, "b/") || starts(&name, "./")) {
		name.text += 2;
		name.size -= 2;
	}
	return name.size && name.size <= length &&
	       memcmp(path + length - name.size, name.text, name.size) == 0 &&
	       (name.size == length || path[length - name.size - 1] == '/');
}

static int check_header(const struct reader *reader, const struct line *line, struct err *err)
{
	struct line name = {line->text + 4, line->size - 4};

	if (starts(&name, "/dev/null"))
		return err_set(err, ERR_USAGE, "the change makes or removes a file");
	if (!names_file(name, reader->path))
		return err_set(err, ERR_USAGE, "the change is to another file, '%.*s'",
			       (int)(name.size < 200 ? name.size : 200), name.text);
	return 0;
}

static struct hunk *begin_hunk(struct reader *reader, uint32_t hint)
{
	vec_push(&reader->hunks, ((struct hunk){.hint = hint}));
	reader->is_in_hunk = true;
	return &reader->hunks.items[reader->hunks.count - 1];
}

static uint32_t read_hint(const struct line *line)
{
	const char *minus = memchr(line->text, '-', line->size);
	uint32_t number = 0;

	for (const char *at = minus ? minus + 1 : NULL;
	     at && at < line->text + line->size && isdigit((unsigned char)*at) && number < 100000000;
	     at++)
		number = number * 10 + (uint32_t)(*at - '0');
	return number;
}

static void take_hunk_line(struct reader *reader, const struct line *line)
{
	struct hunk *hunk = &reader->hunks.items[reader->hunks.count - 1];
	struct hunk_line entry = {' ', *line};

	if (starts(line, "\\"))
		return; /* "\ No newline at end of file" */
	if (line->size && strchr(" +-", line->text[0])) {
		entry.sign = line->text[0];
		entry.line.text++;
		entry.line.size--;
	}
	vec_push(&hunk->lines, entry);
}

static int read_diff(struct reader *reader, const line_list *lines, struct err *err)
{
	for (uint32_t i = 0; i < lines->count; i++) {
		const struct line *line = &lines->items[i];
		const struct line *next = i + 1 < lines->count ? line + 1 : NULL;
		bool is_header = starts(line, "--- ") && next && starts(next, "+++ ");

		if (is_header) {
			int status = check_header(reader, line, err);

			status = status ? status : check_header(reader, next, err);
			if (status)
				return status;
			reader->is_in_hunk = false;
			i++;
		} else if (starts(line, "@@")) {
			begin_hunk(reader, read_hint(line));
		} else if (starts(line, "diff --git ") || starts(line, "index ")) {
			reader->is_in_hunk = false;
		} else if (reader->is_in_hunk || starts(line, "+") || starts(line, "-")) {
			if (!reader->is_in_hunk)
				begin_hunk(reader, 0);
			take_hunk_line(reader, line);
		}
	}
	return 0;
}

/* An empty line at a hunk's end is where the diff ends, not a line of the file. */
static void trim(struct hunk *hunk)
{
	while (hunk->lines.count && hunk->lines.items[hunk->lines.count - 1].sign == ' ' &&
	       !hunk->lines.items[hunk->lines.count - 1].line.size)
		hunk->lines.count--;
}

/* --- finding its place --- */

enum match { MATCH_EXACT, MATCH_ENDS, MATCH_INDENT, MATCHES };

/* White space that the file has more (is_more) or less than the diff, before each line. */
struct shift {
	struct line space;
	bool is_more, is_known;
};

static struct line without_end(struct line line)
{
	while (line.size && isspace((unsigned char)line.text[line.size - 1]))
		line.size--;
	return line;
}

static bool is_same(struct line a, struct line b)
{
	return a.size == b.size && memcmp(a.text, b.text, a.size) == 0;
}

static bool is_same_masked(struct line file, struct line old)
{
	struct buf masked;

	if (!memmem(old.text, old.size, MASK_TEXT, strlen(MASK_TEXT)))
		return false;
	buf_init(&masked, MAX_TEXT_BYTES);
	mask_append(&masked, file.text, file.size);
	bool is_equal = is_same((struct line){masked.data, masked.size}, old);
	buf_fini(&masked);
	return is_equal;
}

static bool is_blank(struct line line)
{
	return without_end(line).size == 0;
}

static bool fits_shifted(struct line file, struct line old, struct shift *shift)
{
	bool is_more = file.size >= old.size;
	struct line longer = is_more ? file : old, shorter = is_more ? old : file;
	struct line space = {longer.text, longer.size - shorter.size};
	struct line rest = {longer.text + space.size, shorter.size};

	if (!is_same(rest, shorter) || !is_blank(space))
		return false;
	if (shift->is_known)
		return is_same(shift->space, space) && (shift->is_more == is_more || !space.size);
	*shift = (struct shift){space, is_more, true};
	return true;
}

static bool fits_line(struct line file, struct line old, enum match match, struct shift *shift)
{
	if (is_same(file, old) && match != MATCH_INDENT)
		return true;
	if (match == MATCH_EXACT)
		return is_same_masked(file, old);
	file = without_end(file);
	old = without_end(old);
	if (match == MATCH_ENDS)
		return is_same(file, old) || is_same_masked(file, old);
	return (!file.size && !old.size) || fits_shifted(file, old, shift);
}

/* Whether all old lines of the hunk stand at this line (from 0). */
static bool fits(const line_list *file, uint32_t at, const struct hunk *hunk, enum match match,
		 struct shift *shift)
{
	*shift = (struct shift){0};
	for (uint32_t i = 0; i < hunk->lines.count; i++) {
		const struct hunk_line *entry = &hunk->lines.items[i];

		if (entry->sign == '+')
			continue;
		if (at >= file->count || !fits_line(file->items[at], entry->line, match, shift))
			return false;
		at++;
	}
	return true;
}

/* How far from its hint a hunk would stand at a line (from 0). */
static uint32_t distance(const struct hunk *hunk, uint32_t at)
{
	return at + 1 > hunk->hint ? at + 1 - hunk->hint : hunk->hint - at - 1;
}

/* Finds the one place, at least `from`, nearest to the hint. */
static int find_place(const line_list *file, uint32_t from, const struct hunk *hunk,
		      uint32_t *place, struct shift *shift, struct err *err)
{
	for (enum match match = 0; match < MATCHES; match++) {
		bool is_found = false, is_twice = false;
		struct shift found_shift;

		for (uint32_t at = from; at < file->count; at++) {
			if (!fits(file, at, hunk, match, &found_shift))
				continue;
			bool is_near = is_found && hunk->hint &&
				       distance(hunk, at) < distance(hunk, *place);
			is_twice = is_found && !is_near &&
				   (is_twice || !hunk->hint ||
				    distance(hunk, at) == distance(hunk, *place));
			if (!is_found || is_near) {
				*place = at;
				*shift = found_shift;
				is_found = true;
			}
		}
		if (is_twice)
			return err_set(err, ERR_FORMAT, "a part of the change fits in more than one "
							"place, lines %u and others", *place + 1);
		if (is_found)
			return 0;
	}
	return err_set(err, ERR_FORMAT, "a part of the change does not fit: the lines that it names "
					"are not in the file");
}

/* --- putting the file together --- */

struct maker {
	struct patch *patch;
	const line_list *file;
	const char *line_end;
	uint32_t next; /* the first line of the file that is not written yet */
	uint32_t written;
};

static void put_line(struct maker *maker, struct line line)
{
	if (maker->written++)
		buf_text(&maker->patch->text, maker->line_end);
	buf_append(&maker->patch->text, line.text, line.size);
}

/* A new line, moved as far as the hunk is. */
static int put_new(struct maker *maker, struct line line, const struct shift *shift, struct err *err)
{
	if (memmem(line.text, line.size, MASK_TEXT, strlen(MASK_TEXT)))
		return err_set(err, ERR_FORMAT, "the change touches a line with a secret that the "
						"model was not shown");
	if (!shift->is_known || !shift->space.size || is_blank(line)) {
		put_line(maker, line);
		return 0;
	}
	if (shift->is_more) {
		put_line(maker, shift->space);
		buf_append(&maker->patch->text, line.text, line.size);
		return 0;
	}
	struct line space = {line.text, shift->space.size};
	if (line.size < space.size || !is_same(space, shift->space))
		return err_set(err, ERR_FORMAT, "the indentation of the change does not fit the file");
	put_line(maker, (struct line){line.text + space.size, line.size - space.size});
	return 0;
}

static int put_hunk(struct maker *maker, const struct hunk *hunk, uint32_t place,
		    const struct shift *shift, struct err *err)
{
	struct patch_range range = {.before = place + 1};

	while (maker->next < place)
		put_line(maker, maker->file->items[maker->next++]);
	range.after = maker->written + 1;
	for (uint32_t i = 0; i < hunk->lines.count; i++) {
		const struct hunk_line *entry = &hunk->lines.items[i];

		if (entry->sign == '+') {
			int status = put_new(maker, entry->line, shift, err);

			if (status)
				return status;
		} else {
			if (entry->sign == ' ')
				put_line(maker, maker->file->items[maker->next]);
			maker->next++;
		}
	}
	range.before_count = maker->next - place;
	range.after_count = maker->written + 1 - range.after;
	vec_push(&maker->patch->ranges, range);
	return 0;
}

static bool has_old_line(const struct hunk *hunk)
{
	for (uint32_t i = 0; i < hunk->lines.count; i++) {
		if (hunk->lines.items[i].sign != '+')
			return true;
	}
	return false;
}

static int put_hunks(struct maker *maker, struct reader *reader, struct err *err)
{
	for (uint32_t i = 0; i < reader->hunks.count; i++) {
		struct hunk *hunk = &reader->hunks.items[i];
		struct shift shift = {0};
		uint32_t place = 0;

		trim(hunk);
		if (!hunk->lines.count)
			continue;
		if (!has_old_line(hunk))
			return err_set(err, ERR_FORMAT, "a part of the change does not say where it "
							"belongs");
		int status = find_place(maker->file, maker->next, hunk, &place, &shift, err);
		if (!status)
			status = put_hunk(maker, hunk, place, &shift, err);
		if (status)
			return status;
	}
	while (maker->next < maker->file->count)
		put_line(maker, maker->file->items[maker->next++]);
	return 0;
}

static int apply(struct patch *patch, const char *text, size_t size, struct reader *reader,
		 struct err *err)
{
	line_list file = VEC_EMPTY;
	const char *first_end = memchr(text, '\n', size);
	bool has_return = first_end && first_end > text && first_end[-1] == '\r';
	struct maker maker = {.patch = patch, .file = &file, .line_end = has_return ? "\r\n" : "\n"};

	split(&file, text, size);
	int status = put_hunks(&maker, reader, err);
	if (!status && size && text[size - 1] == '\n')
		buf_text(&patch->text, maker.line_end);
	vec_free(&file);
	if (status)
		return status;
	if (patch->text.size == size && memcmp(patch->text.data, text, size) == 0)
		return err_set(err, ERR_FORMAT, "the change changes nothing");
	return 0;
}

int patch_apply(struct patch *patch, const char *path, const char *text, size_t size,
		const char *diff, struct err *err)
{
	struct reader reader = {.path = path};
	line_list lines = VEC_EMPTY;

	*patch = (struct patch){0};
	buf_init(&patch->text, MAX_TEXT_BYTES);
	split(&lines, diff, strlen(diff));
	int status = read_diff(&reader, &lines, err);
	if (!status && !reader.hunks.count)
		status = err_set(err, ERR_FORMAT, "there is no change in it");
	if (!status)
		status = apply(patch, text, size, &reader, err);
	for (uint32_t i = 0; i < reader.hunks.count; i++)
		vec_free(&reader.hunks.items[i].lines);
	vec_free(&reader.hunks);
	vec_free(&lines);
	return status;
}

void patch_fini(struct patch *patch)
{
	buf_fini(&patch->text);
	vec_free(&patch->ranges);
}
