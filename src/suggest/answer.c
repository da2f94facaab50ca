/* answer.c - find the headings, and the diff. */
#include "suggest/answer.h"

#include <ctype.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/json_out.h"
#include "base/mem.h"

enum part { PART_DIAGNOSIS, PART_DIFF, PART_GAIN, PART_RISKS, PART_TEST, PARTS, PART_NONE = PARTS };

/* What a heading may begin with, in small letters. */
static const struct {
	const char *words;
	enum part part;
} headings[] = {
	{"diagnosis", PART_DIAGNOSIS}, {"diff", PART_DIFF}, {"patch", PART_DIFF},
	{"change", PART_DIFF}, {"changes", PART_DIFF}, {"proposed change", PART_DIFF},
	{"gain", PART_GAIN}, {"expected gain", PART_GAIN}, {"speedup", PART_GAIN},
	{"risk", PART_RISKS}, {"risks", PART_RISKS}, {"test", PART_TEST}, {"tests", PART_TEST},
	{"testing", PART_TEST}, {"how to test", PART_TEST},
};

struct line {
	const char *text;
	size_t size;
};

static bool next_line(const char **at, const char *end, struct line *line)
{
	if (*at >= end)
		return false;
	const char *stop = memchr(*at, '\n', (size_t)(end - *at));
	*line = (struct line){*at, (size_t)((stop ? stop : end) - *at)};
	*at = stop ? stop + 1 : end;
	if (line->size && line->text[line->size - 1] == '\r')
		line->size--;
	return true;
}

static bool begins_with(const struct line *line, const char *word)
{
	size_t size = strlen(word);

	return line->size >= size && memcmp(line->text, word, size) == 0;
}

/* "DIAGNOSIS: why", "## Diagnosis", "**Diagnosis:** why", "1. Diagnosis": the part, and
 * what follows on the line. */
static enum part find_heading(const struct line *line, struct line *rest)
{
	size_t start = 0, end;
	bool is_marked = false;
	char words[24];

	while (start < line->size && strchr("#* \t0123456789.)_", line->text[start]))
		is_marked |= strchr("#*", line->text[start++]) != NULL;
	for (end = start; end < line->size && (isalpha((unsigned char)line->text[end]) ||
					       line->text[end] == ' ');)
		end++;
	while (end > start && line->text[end - 1] == ' ')
		end--;
	if (end == start || end - start >= sizeof(words))
		return PART_NONE;
	size_t after = end;
	bool has_colon = false;
	while (after < line->size && strchr("*:_ \t", line->text[after]))
		has_colon |= line->text[after++] == ':';
	/* A plain word at the beginning of a sentence is no heading. */
	if (!has_colon && !(is_marked && after == line->size))
		return PART_NONE;
	for (size_t i = 0; i < end - start; i++)
		words[i] = (char)tolower((unsigned char)line->text[start + i]);
	words[end - start] = '\0';
	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++) {
		if (strcmp(words, headings[i].words) == 0) {
			*rest = (struct line){line->text + after, line->size - after};
			return headings[i].part;
		}
	}
	return PART_NONE;
}

static bool looks_like_diff(const struct line *line)
{
	return begins_with(line, "--- ") || begins_with(line, "+++ ") || begins_with(line, "@@") ||
	       begins_with(line, "diff --git");
}

struct parser {
	struct buf parts[PARTS];
	enum part part;
	bool is_fenced;      /* inside of a fence */
	bool is_diff_fence;  /* … whose name or first line says that it is a diff */
	bool is_diff_done;   /* the first diff is whole; a second one is not taken */
	bool is_bare_diff;   /* a diff without a fence goes on */
};

static void append_line(struct buf *buf, const struct line *line)
{
	buf_append(buf, line->text, line->size);
	buf_char(buf, '\n');
}

static void take_fence(struct parser *parser, const struct line *line)
{
	if (parser->is_fenced) {
		parser->is_fenced = false;
		parser->is_diff_done |= parser->is_diff_fence && parser->parts[PART_DIFF].size > 0;
		parser->is_diff_fence = false;
		return;
	}
	parser->is_fenced = true;
	parser->is_diff_fence = begins_with(line, "```diff") || begins_with(line, "```patch");
}

static bool is_diff_body(const struct line *line)
{
	return !line->size || strchr("+- @\\", line->text[0]) || looks_like_diff(line);
}

static void take_line(struct parser *parser, const struct line *line)
{
	struct line rest;
	enum part part;

	if (begins_with(line, "```")) {
		take_fence(parser, line);
		parser->is_bare_diff = false;
		return;
	}
	if (looks_like_diff(line) && !parser->is_diff_done) {
		parser->is_diff_fence |= parser->is_fenced;
		parser->is_bare_diff |= !parser->is_fenced;
	}
	if (parser->is_bare_diff && !is_diff_body(line))
		parser->is_bare_diff = false;
	if (parser->is_diff_fence || parser->is_bare_diff) {
		if (!parser->is_diff_done)
			append_line(&parser->parts[PART_DIFF], line);
		return;
	}
	part = parser->is_fenced ? PART_NONE : find_heading(line, &rest);
	if (part != PART_NONE) {
		parser->part = part;
		line = &rest;
	}
	if (parser->part != PART_NONE && parser->part != PART_DIFF)
		append_line(&parser->parts[parser->part], line);
}

/* Without the white space around it; the caller frees. */
static char *trimmed(const struct buf *buf)
{
	const char *start = buf->data, *end = buf->data + buf->size;

	while (start < end && isspace((unsigned char)*start))
		start++;
	while (end > start && isspace((unsigned char)end[-1]))
		end--;
	return mem_copy_bytes(start, (size_t)(end - start));
}

/* A list of texts becomes lines. */
static void put_json_part(struct buf *buf, const json_t *value)
{
	const json_t *item;
	size_t i;

	if (json_is_string(value))
		buf_text(buf, json_string_value(value));
	json_array_foreach(value, i, item) {
		if (json_is_string(item))
			buf_printf(buf, "%s\n", json_string_value(item));
	}
}

static bool parse_json(struct parser *parser, const char *text, size_t size)
{
	static const char *const keys[PARTS] = {"diagnosis", "diff", "gain", "risks", "test"};
	const char *start = memchr(text, '{', size);
	const char *end = start ? memrchr(text, '}', size) : NULL;
	json_t *root = end && end > start
			       ? json_loadb(start, (size_t)(end - start) + 1, 0, NULL)
			       : NULL;
	bool is_known = json_object_get(root, "diff") != NULL;

	for (int i = 0; is_known && i < PARTS; i++)
		put_json_part(&parser->parts[i], json_object_get(root, keys[i]));
	json_decref(root);
	return is_known;
}

/* What came before any heading is the best there is for a diagnosis. */
static void keep_beginning(struct parser *parser, const char *text, size_t size)
{
	const char *fence = memmem(text, size, "```", 3);

	if (!parser->parts[PART_DIAGNOSIS].size)
		buf_append(&parser->parts[PART_DIAGNOSIS], text,
			   fence ? (size_t)(fence - text) : size);
}

void answer_parse(struct answer *answer, const char *text, size_t size)
{
	struct parser parser = {.part = PART_NONE};
	const char *at = text, *end = text + size;
	struct line line;

	for (int i = 0; i < PARTS; i++)
		buf_init(&parser.parts[i], size + 64 * 1024);
	if (!parse_json(&parser, text, size)) {
		while (next_line(&at, end, &line))
			take_line(&parser, &line);
		keep_beginning(&parser, text, size);
	}
	/* A diff's last line may be an empty context line: only its end is trimmed. */
	answer->diff = mem_copy_bytes(parser.parts[PART_DIFF].data, parser.parts[PART_DIFF].size);
	answer->diagnosis = trimmed(&parser.parts[PART_DIAGNOSIS]);
	answer->gain = trimmed(&parser.parts[PART_GAIN]);
	answer->risks = trimmed(&parser.parts[PART_RISKS]);
	answer->test = trimmed(&parser.parts[PART_TEST]);
	for (int i = 0; i < PARTS; i++)
		buf_fini(&parser.parts[i]);
}

void answer_fini(struct answer *answer)
{
#define X(name) free(answer->name);
	ANSWER_LIST(X)
#undef X
	*answer = (struct answer){0};
}

void answer_write_json(const struct answer *answer, const char *note, FILE *stream)
{
	struct json_out out;

	json_out_init(&out, stream);
	json_begin_object(&out, NULL);
#define X(name) json_put_text(&out, #name, answer->name);
	ANSWER_LIST(X)
#undef X
	if (note)
		json_put_text(&out, "note", note);
	json_end_object(&out);
}
