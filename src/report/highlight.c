/* highlight.c - the colours of Python source, a line at a time.
 *
 * A stack of levels says what encloses the place: inside f"a {b["c"]:>{w}}"
 * a string stands in a field of a string.  Always: depth <= HIGHLIGHT_DEPTH,
 * and every step of the scan moves forward by at least one byte. */
#include "report/highlight.h"

#include <string.h>

#include "report/style.h"

#define MAX_NAME 100 /* bytes of \N{A CHARACTER'S NAME}; bounds the search for its end */

/* One line being read. */
struct scan {
	struct highlight *state;
	const char *line;
	size_t size;
	size_t at;       /* next byte to look at */
	size_t first;    /* where the line's code begins */
	uint8_t *paints;
	bool wants_name; /* the word before was def or class */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}

static bool is_word(char c)
{
	return is_word_start(c) || is_digit(c);
}

static bool is_any(char c, const char *set)
{
	return c && strchr(set, c);
}

/* The byte `ahead` of the scan, or 0 after the end. */
static char peek(const struct scan *scan, size_t ahead)
{
	return ahead < scan->size - scan->at ? scan->line[scan->at + ahead] : '\0';
}

/* Paints so many bytes, or what is left of the line, and steps over them. */
static void paint(struct scan *scan, size_t count, enum paint kind)
{
	size_t left = scan->size - scan->at;

	count = count < left ? count : left;
	memset(scan->paints + scan->at, (int)kind, count);
	scan->at += count;
}

static struct highlight_level *top(const struct scan *scan)
{
	return scan->state->depth ? &scan->state->levels[scan->state->depth - 1] : NULL;
}

static bool push(struct scan *scan, struct highlight_level level)
{
	if (scan->state->depth == HIGHLIGHT_DEPTH)
		return false;
	scan->state->levels[scan->state->depth++] = level;
	return true;
}

static void pop(struct scan *scan)
{
	scan->state->depth--;
}

/* ---- strings ---- */

/* Whether a string begins here, after a prefix such as rb or f or none; fills
 * the level and the length of prefix and quotes. */
static bool begins_string(const struct scan *scan, struct highlight_level *level, size_t *length)
{
	size_t prefix = 0;
	char quote;

	*level = (struct highlight_level){.kind = HIGHLIGHT_STRING};
	while (prefix < 2 && is_any(peek(scan, prefix), "rRbBuUfFtT")) {
		char letter = (char)(peek(scan, prefix) | 0x20);

		level->is_raw |= letter == 'r';
		level->is_formatted |= letter == 'f' || letter == 't';
		prefix++;
	}
	quote = peek(scan, prefix);
	if (quote != '"' && quote != '\'')
		return false;
	level->quote = quote;
	level->is_triple = peek(scan, prefix + 1) == quote && peek(scan, prefix + 2) == quote;
	*length = prefix + (level->is_triple ? 3 : 1);
	return true;
}

static void scan_backslash(struct scan *scan, const struct highlight_level *level)
{
	size_t left = scan->size - scan->at;
	const char *end;

	if (level->is_formatted && peek(scan, 1) == '{') {
		paint(scan, 1, PAINT_STRING);
		return;
	}
	/* \N{DASH} is a character, not a field. */
	if (level->is_formatted && !level->is_raw && peek(scan, 1) == 'N' && peek(scan, 2) == '{') {
		end = memchr(scan->line + scan->at, '}', left < MAX_NAME ? left : MAX_NAME);
		paint(scan, end ? (size_t)(end - scan->line) - scan->at + 1 : 2, PAINT_STRING);
		return;
	}
	paint(scan, 2, PAINT_STRING);
}

static void scan_string(struct scan *scan, const struct highlight_level *level)
{
	char c = peek(scan, 0);

	if (c == '\\') {
		scan_backslash(scan, level);
	} else if (c == level->quote && !level->is_triple) {
		paint(scan, 1, PAINT_STRING);
		pop(scan);
	} else if (c == level->quote && peek(scan, 1) == c && peek(scan, 2) == c) {
		paint(scan, 3, PAINT_STRING);
		pop(scan);
	} else if (level->is_formatted && c == '{' && peek(scan, 1) == '{') {
		paint(scan, 2, PAINT_STRING);
	} else if (level->is_formatted && c == '{' &&
		   push(scan, (struct highlight_level){.kind = HIGHLIGHT_FIELD})) {
		paint(scan, 1, PAINT_NONE);
	} else {
		paint(scan, 1, PAINT_STRING);
	}
}

/* After the colon of a field: text, and fields again. */
static void scan_format(struct scan *scan)
{
	char c = peek(scan, 0);

	if (c == '}') {
		pop(scan);
		pop(scan); /* and the field that it belongs to */
		paint(scan, 1, PAINT_NONE);
	} else if (c == '{' && push(scan, (struct highlight_level){.kind = HIGHLIGHT_FIELD})) {
		paint(scan, 1, PAINT_NONE);
	} else {
		paint(scan, 1, PAINT_STRING);
	}
}

/* ---- code ---- */

static bool is_one_of(const char *word, size_t size, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strlen(list[i]) == size && memcmp(list[i], word, size) == 0)
			return true;
	}
	return false;
}

static bool is_keyword(const char *word, size_t size)
{
	static const char *const list[] = {
		"and",    "as",     "assert",   "async", "await", "break",  "class", "continue",
		"def",    "del",    "elif",     "else",  "except", "finally", "for", "from",
		"global", "if",     "import",   "in",    "is",    "lambda", "nonlocal", "not",
		"or",     "pass",   "raise",    "return", "try",  "while",  "with",  "yield",
	};

	return is_one_of(word, size, list, sizeof list / sizeof *list);
}

static bool is_constant(const char *word, size_t size)
{
	static const char *const list[] = {"None", "True", "False", "Ellipsis", "NotImplemented"};

	return is_one_of(word, size, list, sizeof list / sizeof *list);
}

/* match, case and type are keywords only where a statement begins that cannot
 * be read as one about a variable of that name. */
static bool is_soft_keyword(const struct scan *scan, size_t size)
{
	static const char *const blocks[] = {"match", "case"};
	const char *word = scan->line + scan->at;
	size_t last = scan->size;
	size_t next = size;

	if (scan->at != scan->first || scan->state->depth)
		return false;
	while (peek(scan, next) == ' ')
		next++;
	if (next == size || !peek(scan, next))
		return false;
	while (last > scan->at && scan->line[last - 1] == ' ')
		last--;
	if (is_one_of(word, size, blocks, 2))
		return scan->line[last - 1] == ':' && !is_any(peek(scan, next), "=:.,)+/|&^%<>");
	return size == 4 && memcmp(word, "type", 4) == 0 && is_word_start(peek(scan, next)) &&
	       memchr(word, '=', scan->size - scan->at);
}

static void scan_word(struct scan *scan)
{
	const char *word = scan->line + scan->at;
	bool is_attribute = scan->at > 0 && word[-1] == '.';
	size_t size = 1;

	while (is_word(peek(scan, size)))
		size++;
	if (scan->wants_name) {
		paint(scan, size, PAINT_NAME);
		scan->wants_name = false;
	} else if (!is_attribute && (is_keyword(word, size) || is_soft_keyword(scan, size))) {
		paint(scan, size, PAINT_KEYWORD);
		scan->wants_name = (size == 3 && memcmp(word, "def", 3) == 0) ||
				   (size == 5 && memcmp(word, "class", 5) == 0);
	} else {
		paint(scan, size, is_constant(word, size) ? PAINT_NUMBER : PAINT_NONE);
	}
}

static void scan_number(struct scan *scan)
{
	bool is_hex = peek(scan, 0) == '0' && (peek(scan, 1) | 0x20) == 'x';
	size_t size = 1;

	for (;; size++) {
		char c = peek(scan, size);
		bool is_sign = (c == '+' || c == '-') && !is_hex &&
			       (peek(scan, size - 1) | 0x20) == 'e' && is_digit(peek(scan, size + 1));

		if (!is_word(c) && c != '.' && !is_sign)
			break;
	}
	paint(scan, size, PAINT_NUMBER);
}

static void scan_decorator(struct scan *scan)
{
	size_t size = 1;

	while (is_word(peek(scan, size)) || peek(scan, size) == '.' || peek(scan, size) == ' ')
		size++;
	paint(scan, size, PAINT_DECORATOR);
}

/* One character of code that is no word, number or string. */
static void scan_sign(struct scan *scan, struct highlight_level *field)
{
	char c = peek(scan, 0);

	if (field && is_any(c, "([{"))
		field->brackets++;
	else if (field && is_any(c, ")]}") && field->brackets)
		field->brackets--;
	else if (field && c == '}')
		pop(scan);
	else if (field && c == ':' && !field->brackets)
		push(scan, (struct highlight_level){.kind = HIGHLIGHT_FORMAT});
	paint(scan, 1, PAINT_NONE);
}

/* Outside of all strings, or in a field of one. */
static void scan_code(struct scan *scan, struct highlight_level *field)
{
	struct highlight_level string;
	size_t length;
	char c = peek(scan, 0);

	if (c == '#') {
		paint(scan, scan->size - scan->at, PAINT_COMMENT);
	} else if (begins_string(scan, &string, &length) && push(scan, string)) {
		paint(scan, length, PAINT_STRING);
	} else if (is_word_start(c)) {
		scan_word(scan);
	} else if (is_digit(c) || (c == '.' && is_digit(peek(scan, 1)))) {
		scan_number(scan);
	} else if (c == '@' && scan->at == scan->first && !field) {
		scan_decorator(scan);
	} else {
		scan_sign(scan, field);
	}
}

/* Only triple-quoted strings go on after the end of a line, and others whose
 * line ends with a backslash.  What encloses nothing else ends here too, so
 * that one odd line does not discolour the rest of the file. */
static void end_line(struct scan *scan)
{
	struct highlight *state = scan->state;
	bool is_continued = scan->size && scan->line[scan->size - 1] == '\\';

	for (uint32_t i = 0; i < state->depth; i++) {
		bool is_open = state->levels[i].kind != HIGHLIGHT_STRING ||
			       state->levels[i].is_triple ||
			       (is_continued && i == state->depth - 1);

		if (!is_open) {
			state->depth = i;
			return;
		}
	}
}

void highlight_begin(struct highlight *state)
{
	memset(state, 0, sizeof *state);
}

void highlight_line(struct highlight *state, const char *line, size_t size, uint8_t *paints)
{
	struct scan scan = {.state = state, .line = line, .size = size, .paints = paints};

	while (scan.first < size && is_any(line[scan.first], " \t\f"))
		scan.first++;
	while (scan.at < size) {
		struct highlight_level *level = top(&scan);

		if (!level || level->kind == HIGHLIGHT_FIELD)
			scan_code(&scan, level);
		else if (level->kind == HIGHLIGHT_STRING)
			scan_string(&scan, level);
		else
			scan_format(&scan);
	}
	end_line(&scan);
}
