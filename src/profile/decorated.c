/* decorated.c - see decorated.h. */
#include "profile/decorated.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/token.h"

/* Where the scan stands. */
struct scan {
	struct decorated *out;
	uint32_t first_line;  /* of the decorators that were just read; 0: none */
	bool is_marked;       /* one of them is @profile */
	uint32_t indents[64]; /* of functions that are not closed yet, outermost first … */
	uint32_t open[64];    /* … and their places in out */
	uint32_t open_count;
	bool is_imported;     /* profile, from a library that means the same by it */
	bool is_foreign;      /* profile is something else here */
};

#define WORDS_MAX 64u

/* A logical line, as far as it matters. */
struct words {
	struct token items[WORDS_MAX];
	uint32_t count;
};

static bool is_at(const struct words *words, uint32_t index, const char *text)
{
	return index < words->count && token_is(&words->items[index], text);
}

static bool read_words(struct token_reader *reader, struct words *words)
{
	words->count = 0;
	for (;;) {
		struct token token = token_next(reader);
		if (token.kind == TOKEN_END)
			return words->count > 0;
		if (token.kind == TOKEN_NEWLINE)
			return true;
		if (words->count < WORDS_MAX)
			words->items[words->count++] = token;
	}
}

static bool is_profile_decorator(const struct words *words)
{
	return (words->count == 2 && is_at(words, 1, "profile")) ||
	       (words->count == 4 && is_at(words, 1, "heatline") && is_at(words, 3, "profile"));
}

/* Whether an import statement binds the name. */
static bool binds_profile(const struct words *words, uint32_t begin)
{
	for (uint32_t i = begin; i < words->count; i++) {
		if (is_at(words, i, "profile") && !is_at(words, i + 1, "as") && !is_at(words, i + 1, "."))
			return true;
	}
	return false;
}

static void look_at_binding(struct scan *scan, const struct words *words)
{
	bool is_top = words->items[0].indent == 0;
	if (is_at(words, 0, "from") && (is_at(words, 1, "heatline") || is_at(words, 1, "line_profiler")))
		scan->is_imported = scan->is_imported || binds_profile(words, 2);
	else if (is_at(words, 0, "from") || is_at(words, 0, "import"))
		scan->is_foreign = scan->is_foreign || binds_profile(words, 1);
	else if (is_top && is_at(words, 0, "def") && is_at(words, 1, "profile"))
		scan->is_foreign = true;
	else if (is_top && is_at(words, 0, "profile") && is_at(words, 1, "=") && !is_at(words, 2, "="))
		scan->is_foreign = true;
}

/* Functions end before the first line that is not further in than their def. */
static void close_functions(struct scan *scan, uint32_t indent, uint32_t line)
{
	while (scan->open_count > 0 && indent <= scan->indents[scan->open_count - 1])
		scan->out->functions[scan->open[--scan->open_count]].last = line - 1;
}

static void open_function(struct scan *scan, uint32_t indent)
{
	struct decorated *out = scan->out;
	out->functions = mem_resize(out->functions, out->count + 1, sizeof(*out->functions));
	out->functions[out->count] = (struct function_range){scan->first_line, UINT32_MAX};
	if (scan->open_count < sizeof(scan->open) / sizeof(scan->open[0])) {
		scan->indents[scan->open_count] = indent;
		scan->open[scan->open_count++] = out->count;
	}
	out->count++;
}

static void look_at_line(struct scan *scan, const struct words *words)
{
	const struct token *first = &words->items[0];
	close_functions(scan, first->indent, first->line);
	if (is_at(words, 0, "@")) {
		if (scan->first_line == 0)
			scan->first_line = first->line;
		scan->is_marked = scan->is_marked || is_profile_decorator(words);
		return;
	}
	look_at_binding(scan, words);
	if (scan->is_marked &&
	    (is_at(words, 0, "def") || (is_at(words, 0, "async") && is_at(words, 1, "def"))))
		open_function(scan, first->indent);
	scan->first_line = 0;
	scan->is_marked = false;
}

void decorated_find(struct decorated *decorated, const char *text, size_t size)
{
	struct token_reader reader;
	struct scan scan = {.out = decorated};
	struct words *words = mem_alloc(sizeof(*words));
	*decorated = (struct decorated){0};
	token_reader_init(&reader, text, size);
	while (read_words(&reader, words)) {
		if (words->count > 0)
			look_at_line(&scan, words);
	}
	free(words);
	if (scan.is_foreign)
		decorated_fini(decorated);
	decorated->needs_name = decorated->count > 0 && !scan.is_imported;
}

void decorated_fini(struct decorated *decorated)
{
	free(decorated->functions);
	*decorated = (struct decorated){0};
}
