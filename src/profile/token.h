/* token.h - Python source as tokens, as far as blocks and imports need it.
 *
 * Comments and white space are passed over; a string is one token, however
 * many lines and nested f-string expressions it has.  Never fails: an
 * unfinished string or bracket ends where the text ends. */
#ifndef HEATLINE_PROFILE_TOKEN_H
#define HEATLINE_PROFILE_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind {
	TOKEN_WORD,     /* name, keyword or number */
	TOKEN_STRING,
	TOKEN_OPEN,     /* ( [ { */
	TOKEN_CLOSE,    /* ) ] } */
	TOKEN_OPERATOR, /* any other single character */
	TOKEN_NEWLINE,  /* end of a logical line */
	TOKEN_END,
};

struct token {
	enum token_kind kind;
	const char *text; /* into the source */
	size_t size;
	uint32_t line;     /* on which it begins */
	uint32_t line_end; /* on which it ends */
	bool is_first;     /* of its logical line */
	uint32_t indent;   /* column of the logical line's first token */
	uint32_t depth;    /* brackets open around it */
};

struct token_reader {
	const char *at, *end;
	uint32_t line;
	uint32_t depth;
	uint32_t indent;
	bool is_line_begun; /* a token of the logical line has been given out */
};

void token_reader_init(struct token_reader *reader, const char *text, size_t size);
struct token token_next(struct token_reader *reader);

bool token_is(const struct token *token, const char *word);

#endif
