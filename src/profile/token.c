/* token.c - the Python tokenizer.
 *
 * The hard part is f-strings: since Python 3.12 an expression in braces may
 * hold any string, also one with the same quotes.  So braces are followed
 * recursively, up to MAX_NESTING; after a colon at the top of an expression
 * comes the format, where quotes mean nothing (f"{x:'>10}"). */
#include "profile/token.h"

#include <ctype.h>
#include <string.h>

#define MAX_NESTING 16u
#define TAB_COLUMNS 8u

void token_reader_init(struct token_reader *reader, const char *text, size_t size)
{
	*reader = (struct token_reader){.at = text, .end = text + size, .line = 1};
}

static char peek(const struct token_reader *reader, size_t ahead)
{
	return (size_t)(reader->end - reader->at) > ahead ? reader->at[ahead] : '\0';
}

/* One character forward; lines are counted here and nowhere else. */
static void advance(struct token_reader *reader)
{
	if (reader->at < reader->end && *reader->at++ == '\n')
		reader->line++;
}

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static void skip_comment(struct token_reader *reader)
{
	while (reader->at < reader->end && *reader->at != '\n')
		advance(reader);
}

static void skip_string(struct token_reader *reader, bool is_formatted, unsigned nesting);

/* The word at the reader, and the string it may be the prefix of. */
static enum token_kind skip_word(struct token_reader *reader, unsigned nesting)
{
	const char *start = reader->at;
	while (reader->at < reader->end && is_word_char(*reader->at))
		advance(reader);
	size_t size = (size_t)(reader->at - start);
	char quote = peek(reader, 0);
	if (size > 2 || (quote != '"' && quote != '\''))
		return TOKEN_WORD;
	bool is_formatted = false;
	for (size_t i = 0; i < size; i++) {
		if (!strchr("rRbBuUfFtT", start[i]))
			return TOKEN_WORD;
		is_formatted = is_formatted || strchr("fFtT", start[i]);
	}
	skip_string(reader, is_formatted, nesting);
	return TOKEN_STRING;
}

static bool at_quotes(const struct token_reader *reader, char quote, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (peek(reader, i) != quote)
			return false;
	}
	return true;
}

static void skip_braces(struct token_reader *reader, char quote, unsigned quotes, unsigned nesting);

/* The format after the colon, up to the brace that ends the expression. */
static void skip_format(struct token_reader *reader, char quote, unsigned quotes, unsigned nesting)
{
	while (reader->at < reader->end && *reader->at != '}') {
		if (at_quotes(reader, quote, quotes) || (*reader->at == '\n' && quotes == 1))
			return;
		if (*reader->at == '{' && nesting < MAX_NESTING)
			skip_braces(reader, quote, quotes, nesting + 1);
		else
			advance(reader);
	}
	advance(reader);
}

/* From an opening brace of a formatted string to behind its closing one. */
static void skip_braces(struct token_reader *reader, char quote, unsigned quotes, unsigned nesting)
{
	unsigned depth = 0;
	advance(reader);
	while (reader->at < reader->end) {
		char c = *reader->at;
		if (c == '}' && depth == 0) {
			advance(reader);
			return;
		}
		if (c == ':' && depth == 0) {
			skip_format(reader, quote, quotes, nesting);
			return;
		}
		if (c == '#') {
			skip_comment(reader);
		} else if (is_word_char(c)) {
			skip_word(reader, nesting + 1);
		} else if (c == '"' || c == '\'') {
			skip_string(reader, false, nesting + 1);
		} else {
			depth += c == '(' || c == '[' || c == '{';
			depth -= depth && (c == ')' || c == ']' || c == '}');
			advance(reader);
		}
	}
}

/* From the first quote to behind the last.  A string on one line that is not
 * closed ends before the line does. */
static void skip_string(struct token_reader *reader, bool is_formatted, unsigned nesting)
{
	char quote = *reader->at;
	unsigned quotes = at_quotes(reader, quote, 3) ? 3 : 1;
	for (unsigned i = 0; i < quotes; i++)
		advance(reader);
	while (reader->at < reader->end) {
		char c = *reader->at;
		if (c == quote && at_quotes(reader, quote, quotes)) {
			for (unsigned i = 0; i < quotes; i++)
				advance(reader);
			return;
		}
		if (c == '\n' && quotes == 1)
			return;
		if (c == '{' && is_formatted && peek(reader, 1) != '{' && nesting < MAX_NESTING) {
			skip_braces(reader, quote, quotes, nesting);
			continue;
		}
		bool is_pair = (c == '\\' && !(is_formatted && peek(reader, 1) == '{')) ||
			       (c == '{' && is_formatted && peek(reader, 1) == '{');
		advance(reader);
		if (is_pair)
			advance(reader);
	}
}

/* Passes over what stands before the next token: white space, comments,
 * joined lines, empty lines.  Stops at a newline that ends a logical line. */
static void skip_space(struct token_reader *reader)
{
	uint32_t column = 0;
	while (reader->at < reader->end) {
		char c = *reader->at;
		if (c == '#') {
			skip_comment(reader);
			continue;
		}
		if (c == '\n') {
			if (reader->is_line_begun && reader->depth == 0)
				return;
			column = 0;
		} else if (c == '\t') {
			column = (column / TAB_COLUMNS + 1) * TAB_COLUMNS;
		} else if (c == ' ') {
			column++;
		} else if (c == '\f') {
			column = 0;
		} else if (c == '\\' && peek(reader, 1) == '\n') {
			advance(reader);
		} else {
			break;
		}
		advance(reader);
	}
	if (!reader->is_line_begun)
		reader->indent = column;
}

static enum token_kind skip_token(struct token_reader *reader)
{
	char c = *reader->at;
	if (is_word_char(c))
		return skip_word(reader, 0);
	if (c == '"' || c == '\'') {
		skip_string(reader, false, 0);
		return TOKEN_STRING;
	}
	advance(reader);
	if (c == '\n')
		return TOKEN_NEWLINE;
	if (c == '(' || c == '[' || c == '{')
		return TOKEN_OPEN;
	return c == ')' || c == ']' || c == '}' ? TOKEN_CLOSE : TOKEN_OPERATOR;
}

struct token token_next(struct token_reader *reader)
{
	skip_space(reader);
	struct token token = {.text = reader->at,
			      .line = reader->line,
			      .is_first = !reader->is_line_begun,
			      .indent = reader->indent};
	if (reader->at >= reader->end) {
		/* Text that does not end in a newline still ends its last line. */
		token.kind = reader->is_line_begun ? TOKEN_NEWLINE : TOKEN_END;
		token.line_end = reader->line;
		reader->is_line_begun = false;
		reader->depth = 0;
		return token;
	}
	token.kind = skip_token(reader);
	token.size = (size_t)(reader->at - token.text);
	token.line_end = token.kind == TOKEN_NEWLINE ? token.line : reader->line;
	if (token.kind == TOKEN_CLOSE && reader->depth)
		reader->depth--;
	token.depth = reader->depth;
	if (token.kind == TOKEN_OPEN)
		reader->depth++;
	reader->is_line_begun = token.kind != TOKEN_NEWLINE;
	return token;
}

bool token_is(const struct token *token, const char *word)
{
	return token->size == strlen(word) && memcmp(token->text, word, token->size) == 0;
}
