/* statements.h - Python source, statement by statement, with what stands around each.
 *
 * A statement here is a logical line: a simple statement, several with
 * semicolons between, or the header of a block together with what follows its colon on
 * the same line.  As in token.h nothing fails because of what a source contains, and
 * time is linear in its size; memory does not depend on it. */
#ifndef HEATLINE_PROFILE_STATEMENTS_H
#define HEATLINE_PROFILE_STATEMENTS_H

#include "profile/token.h"

#define STATEMENT_MAX_TOKENS 2000u /* of a longer statement the rest is passed over */
#define STATEMENT_MAX_BLOCKS 100u  /* nested; deeper ones are not told apart */

enum statement_block_kind {
	STATEMENT_BLOCK_OTHER,
	STATEMENT_BLOCK_FOR,
	STATEMENT_BLOCK_WHILE,
	STATEMENT_BLOCK_FUNCTION,
	STATEMENT_BLOCK_CLASS,
};

struct statement_block {
	enum statement_block_kind kind;
	uint32_t line, indent;
	bool is_async;
	const char *counter;  /* of "for i in range(…)": i, in the source; else NULL */
	size_t counter_size;
};

struct statement {
	const struct token *tokens; /* the reader's, until the next call; no newline */
	uint32_t count;
	uint32_t line, line_end;
	const struct statement_block *blocks; /* around it, outermost first; the reader's */
	uint32_t block_count;
	bool is_in_loop;    /* runs again and again: in a loop of its own function, the test of
			       a while, or holds a comprehension */
	bool is_async;      /* in an async def, itself */
	bool is_class_body; /* directly in a class */
	uint32_t function_line; /* of the innermost def; 0: none */
};

struct statement_reader {
	struct token_reader tokens;
	struct token *items; /* owned; STATEMENT_MAX_TOKENS */
	struct statement_block blocks[STATEMENT_MAX_BLOCKS];
	uint32_t block_count;
	struct statement_block pending; /* what the last statement opened */
	bool has_pending;
};

/* text is as source_load gives it, and outlives the reader. */
void statement_reader_init(struct statement_reader *reader, const char *text, size_t size);
void statement_reader_fini(struct statement_reader *reader);

/* False at the end. */
bool statement_next(struct statement_reader *reader, struct statement *statement);

/* Whether the word at this place is the counter of a loop over range() around it. */
bool statement_is_counter(const struct statement *statement, uint32_t index);

/* The token that closes the bracket at index, or the statement's count. */
uint32_t statement_close(const struct statement *statement, uint32_t index);

/* Whether the token at index is this word or single character; false beyond the end. */
bool statement_has(const struct statement *statement, uint32_t index, const char *text);

/* Reads the dotted name that begins at index ("self.items") into path, without white
 * space.  Returns the index of the token after it; index itself when there is no name,
 * it is too long, or index is in the middle of one. */
#define STATEMENT_PATH_BYTES 96u
uint32_t statement_path(const struct statement *statement, uint32_t index,
			char path[STATEMENT_PATH_BYTES]);

#endif
