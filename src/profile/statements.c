/* statements.c - from tokens to statements, and the blocks around them.
 *
 * A block ends where a statement is not indented deeper than its header.  The
 * header of a block is read before the block counts as open, since it does not
 * stand in itself; only the test of a while runs as often as its body. */
#include "profile/statements.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void statement_reader_init(struct statement_reader *reader, const char *text, size_t size)
{
	*reader = (struct statement_reader){.block_count = 0};
	token_reader_init(&reader->tokens, text, size);
	reader->items = mem_alloc(STATEMENT_MAX_TOKENS * sizeof(*reader->items));
}

void statement_reader_fini(struct statement_reader *reader)
{
	free(reader->items);
	reader->items = NULL;
}

bool statement_has(const struct statement *statement, uint32_t index, const char *text)
{
	return index < statement->count && token_is(&statement->tokens[index], text);
}

uint32_t statement_close(const struct statement *statement, uint32_t index)
{
	uint32_t depth = statement->tokens[index].depth;
	for (uint32_t i = index + 1; i < statement->count; i++) {
		const struct token *token = &statement->tokens[i];
		if (token->kind == TOKEN_CLOSE && token->depth == depth)
			return i;
	}
	return statement->count;
}

static bool is_name(const struct token *token)
{
	return token->kind == TOKEN_WORD && !isdigit((unsigned char)token->text[0]);
}

uint32_t statement_path(const struct statement *statement, uint32_t index,
			char path[STATEMENT_PATH_BYTES])
{
	size_t size = 0;
	uint32_t at = index;
	if (index > 0 && statement_has(statement, index - 1, "."))
		return index;
	while (at < statement->count && is_name(&statement->tokens[at])) {
		const struct token *name = &statement->tokens[at];
		if (size + name->size + 2 > STATEMENT_PATH_BYTES)
			return index;
		memcpy(path + size, name->text, name->size);
		size += name->size;
		at++;
		if (!statement_has(statement, at, ".") || at + 1 >= statement->count ||
		    !is_name(&statement->tokens[at + 1]))
			break;
		path[size++] = '.';
		at++;
	}
	path[size] = '\0';
	return at;
}

bool statement_is_counter(const struct statement *statement, uint32_t index)
{
	const struct token *word = &statement->tokens[index];
	for (uint32_t i = statement->block_count; i-- > 0;) {
		const struct statement_block *block = &statement->blocks[i];
		if (block->kind == STATEMENT_BLOCK_FUNCTION)
			return false;
		if (block->counter && block->counter_size == word->size &&
		    memcmp(block->counter, word->text, word->size) == 0)
			return true;
	}
	return false;
}

/* ---- blocks ---- */

static enum statement_block_kind kind_of(const struct statement *statement, uint32_t word)
{
	if (statement_has(statement, word, "for"))
		return STATEMENT_BLOCK_FOR;
	if (statement_has(statement, word, "while"))
		return STATEMENT_BLOCK_WHILE;
	if (statement_has(statement, word, "def"))
		return STATEMENT_BLOCK_FUNCTION;
	if (statement_has(statement, word, "class"))
		return STATEMENT_BLOCK_CLASS;
	return STATEMENT_BLOCK_OTHER;
}

/* What the statement opens, if anything; a header ends in a colon, or has its body
 * behind it. */
static void find_block(struct statement_reader *reader, const struct statement *statement)
{
	const struct token *first = &statement->tokens[0];
	bool is_async = token_is(first, "async");
	uint32_t word = is_async ? 1 : 0;
	struct statement_block block = {.kind = kind_of(statement, word), .line = first->line,
					.indent = first->indent, .is_async = is_async};
	reader->has_pending = block.kind != STATEMENT_BLOCK_OTHER;
	if (block.kind == STATEMENT_BLOCK_FOR && statement_has(statement, word + 2, "in") &&
	    statement_has(statement, word + 3, "range")) {
		block.counter = statement->tokens[word + 1].text;
		block.counter_size = statement->tokens[word + 1].size;
	}
	reader->pending = block;
}

static void settle_blocks(struct statement_reader *reader, const struct token *first)
{
	if (reader->has_pending && first->indent > reader->pending.indent &&
	    reader->block_count < STATEMENT_MAX_BLOCKS)
		reader->blocks[reader->block_count++] = reader->pending;
	reader->has_pending = false;
	while (reader->block_count && reader->blocks[reader->block_count - 1].indent >= first->indent)
		reader->block_count--;
}

/* A body behind the colon of a for runs in its loop. */
static bool has_body(const struct statement *statement)
{
	for (uint32_t i = 0; i + 1 < statement->count; i++) {
		if (statement->tokens[i].depth == 0 && token_is(&statement->tokens[i], ":"))
			return true;
	}
	return false;
}

static bool has_comprehension(const struct statement *statement)
{
	for (uint32_t i = 0; i < statement->count; i++) {
		if (statement->tokens[i].depth > 0 && token_is(&statement->tokens[i], "for"))
			return true;
	}
	return false;
}

static void look_around(const struct statement_reader *reader, struct statement *statement)
{
	statement->blocks = reader->blocks;
	statement->block_count = reader->block_count;
	const struct statement_block *around = reader->blocks;
	bool is_function_seen = false;
	for (uint32_t i = reader->block_count; i-- > 0 && !is_function_seen;) {
		if (around[i].kind == STATEMENT_BLOCK_FUNCTION) {
			statement->function_line = around[i].line;
			statement->is_async = around[i].is_async;
			is_function_seen = true;
		} else if (around[i].kind != STATEMENT_BLOCK_CLASS) {
			statement->is_in_loop = true;
		}
	}
	statement->is_class_body = reader->block_count > 0 &&
				   around[reader->block_count - 1].kind == STATEMENT_BLOCK_CLASS;
	enum statement_block_kind own = reader->has_pending ? reader->pending.kind
							    : STATEMENT_BLOCK_OTHER;
	if (own == STATEMENT_BLOCK_WHILE || (own == STATEMENT_BLOCK_FOR && has_body(statement)) ||
	    has_comprehension(statement))
		statement->is_in_loop = true;
}

bool statement_next(struct statement_reader *reader, struct statement *statement)
{
	*statement = (struct statement){.tokens = reader->items};
	struct token token = token_next(&reader->tokens);
	if (token.kind == TOKEN_END)
		return false;
	settle_blocks(reader, &token);
	statement->line = token.line;
	while (token.kind != TOKEN_NEWLINE && token.kind != TOKEN_END) {
		statement->line_end = token.line_end;
		if (statement->count < STATEMENT_MAX_TOKENS)
			reader->items[statement->count++] = token;
		token = token_next(&reader->tokens);
	}
	if (statement->count)
		find_block(reader, statement);
	look_around(reader, statement);
	return true;
}
