/* regions.c - from tokens to blocks, from blocks to the regions of each line.
 *
 * A block begins with the logical line that has its keyword and ends with the
 * last logical line that is indented deeper, so comments and empty lines
 * after it are not part of it; that is also what CPython's ast says.  The
 * else branch of a loop belongs to the loop. */
#include "profile/regions.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/vec.h"
#include "profile/token.h"

#define MAX_IMPORT_BYTES 500u

enum block_kind { BLOCK_NONE, BLOCK_LOOP, BLOCK_FUNCTION, BLOCK_CLASS };

struct block {
	enum block_kind kind;
	uint32_t start, end; /* lines */
	uint32_t indent;
	bool is_outermost; /* a loop that stands in no other loop of its function */
};

/* The state of one pass over a source. */
struct finder {
	struct token_reader reader;
	VEC(struct block) blocks; /* in order of their start */
	uint32_t open[REGIONS_MAX_DEPTH]; /* indexes of the blocks around the line */
	uint32_t open_count;
	uint32_t last_line; /* on which the previous logical line ended */
	VEC(char *) imports;
};

static void close_blocks(struct finder *finder, uint32_t indent, bool is_else)
{
	while (finder->open_count) {
		struct block *block = &finder->blocks.items[finder->open[finder->open_count - 1]];
		if (block->indent < indent)
			return;
		if (is_else && block->indent == indent && block->kind == BLOCK_LOOP)
			return;
		block->end = finder->last_line;
		finder->open_count--;
	}
}

static bool stands_in_loop(const struct finder *finder)
{
	if (finder->open_count == 0)
		return false;
	/* Functions and classes begin anew, so the nearest block decides. */
	return finder->blocks.items[finder->open[finder->open_count - 1]].kind == BLOCK_LOOP;
}

static void open_block(struct finder *finder, enum block_kind kind, const struct token *first)
{
	if (finder->open_count == REGIONS_MAX_DEPTH)
		return;
	struct block block = {.kind = kind, .start = first->line, .indent = first->indent};
	block.is_outermost = kind == BLOCK_LOOP && !stands_in_loop(finder);
	finder->open[finder->open_count++] = finder->blocks.count;
	vec_push(&finder->blocks, block);
}

static enum block_kind kind_of(const struct token *word)
{
	if (token_is(word, "for") || token_is(word, "while"))
		return BLOCK_LOOP;
	if (token_is(word, "def"))
		return BLOCK_FUNCTION;
	return token_is(word, "class") ? BLOCK_CLASS : BLOCK_NONE;
}

static bool wants_space(const struct token *before, const struct token *token)
{
	bool word_before = before->kind == TOKEN_WORD || token_is(before, ",") ||
			   token_is(before, "*");
	if (token_is(before, ".") || token_is(before, "("))
		return token_is(token, "import");
	if (token_is(token, ".") || token_is(token, "*"))
		return before->kind == TOKEN_WORD &&
		       (token_is(before, "from") || token_is(before, "import"));
	return word_before && token->kind == TOKEN_WORD;
}

/* Reads an import statement, whose first token is given, up to the token that
 * ends it, which is returned. */
static struct token read_import(struct finder *finder, const struct token *first)
{
	struct buf text;
	buf_init(&text, MAX_IMPORT_BYTES);
	buf_append(&text, first->text, first->size);
	struct token before = *first, token;
	bool has_comma = false;
	for (;;) {
		token = token_next(&finder->reader);
		if (token.kind == TOKEN_NEWLINE || token.kind == TOKEN_END ||
		    (token.depth == 0 && token_is(&token, ";")))
			break;
		finder->last_line = token.line_end;
		if (token.kind == TOKEN_OPEN || token.kind == TOKEN_CLOSE)
			continue;
		if (token_is(&token, ",")) {
			has_comma = true; /* written only when a name follows */
			continue;
		}
		if (has_comma)
			buf_text(&text, ", ");
		else if (wants_space(&before, &token))
			buf_char(&text, ' ');
		buf_append(&text, token.text, token.size);
		has_comma = false;
		before = token;
	}
	if (!buf_is_cut(&text) && finder->imports.count < REGIONS_MAX_IMPORTS)
		vec_push(&finder->imports, buf_take(&text));
	buf_fini(&text);
	return token;
}

/* The rest of a logical line: only imports matter, at the start of a simple
 * statement. */
static void read_statements(struct finder *finder, struct token token)
{
	bool is_start = true;
	while (token.kind != TOKEN_NEWLINE && token.kind != TOKEN_END) {
		finder->last_line = token.line_end;
		if (is_start && (token_is(&token, "import") || token_is(&token, "from"))) {
			token = read_import(finder, &token);
			continue;
		}
		is_start = token.depth == 0 && (token_is(&token, ";") || token_is(&token, ":"));
		token = token_next(&finder->reader);
	}
}

static void find_blocks(struct finder *finder)
{
	for (;;) {
		struct token first = token_next(&finder->reader);
		if (first.kind == TOKEN_END)
			break;
		struct token word = first;
		close_blocks(finder, first.indent, token_is(&first, "else"));
		if (token_is(&first, "async"))
			word = token_next(&finder->reader);
		enum block_kind kind = kind_of(&word);
		if (kind != BLOCK_NONE)
			open_block(finder, kind, &first);
		read_statements(finder, word);
	}
	close_blocks(finder, 0, false);
}

static uint32_t count_lines(const char *text, size_t size)
{
	uint32_t count = 0;
	for (size_t i = 0; i < size; i++)
		count += text[i] == '\n';
	return count + (size > 0 && text[size - 1] != '\n');
}

/* Blocks come in order of their start, so inner ones overwrite outer ones;
 * a region is overwritten by a loop, or by what is no lesser kind. */
static void fill_block(struct regions *regions, enum block_kind *kinds, const struct block *block)
{
	for (uint32_t line = block->start; line <= block->end; line++) {
		struct line_region *region = &regions->lines[line - 1];
		enum block_kind *kind = &kinds[line - 1];
		bool is_header = line == block->start;
		if (block->kind == BLOCK_LOOP || *kind == BLOCK_NONE ||
		    (*kind == BLOCK_FUNCTION && block->kind == BLOCK_FUNCTION) ||
		    *kind == BLOCK_CLASS) {
			region->region_start = block->start;
			region->region_end = block->end;
			*kind = block->kind;
		}
		if (block->kind == BLOCK_LOOP) {
			if (block->is_outermost) {
				region->loop_start = block->start;
				region->loop_end = block->end;
			}
			continue;
		}
		region->loop_start = is_header ? block->start : line;
		region->loop_end = is_header ? block->end : line;
		region->function_start = block->start;
		region->function_end = block->end;
	}
}

static void fill_lines(struct regions *regions, const struct finder *finder)
{
	enum block_kind *kinds = mem_zalloc(regions->line_count, sizeof(*kinds));
	for (uint32_t i = 0; i < regions->line_count; i++)
		regions->lines[i] = (struct line_region){i + 1, i + 1, i + 1, i + 1, 0, 0};
	for (uint32_t i = 0; i < finder->blocks.count; i++) {
		struct block block = finder->blocks.items[i];
		if (block.end > regions->line_count) /* a bracket was never closed */
			block.end = regions->line_count;
		fill_block(regions, kinds, &block);
	}
	free(kinds);
}

void regions_find(struct regions *regions, const char *text, size_t size)
{
	struct finder finder = {.last_line = 1};
	token_reader_init(&finder.reader, text, size);
	find_blocks(&finder);
	regions->line_count = count_lines(text, size);
	regions->lines = mem_alloc(regions->line_count * sizeof(*regions->lines));
	fill_lines(regions, &finder);
	regions->imports = finder.imports.items;
	regions->import_count = finder.imports.count;
	vec_free(&finder.blocks);
}

void regions_fini(struct regions *regions)
{
	for (uint32_t i = 0; i < regions->import_count; i++)
		free(regions->imports[i]);
	free(regions->imports);
	free(regions->lines);
	*regions = (struct regions){0};
}

struct line_region regions_line(const struct regions *regions, uint32_t line)
{
	if (line > 0 && line <= regions->line_count)
		return regions->lines[line - 1];
	return (struct line_region){line, line, line, line, 0, 0};
}
