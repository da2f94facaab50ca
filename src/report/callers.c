/* callers.c - who called a line in the stack that kept most of its memory.
 *
 * A stack's memory belongs to its innermost frame in scope; what libraries
 * below that frame allocated, in however many stacks, counts together. */
#include "report/callers.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/glyph.h"

#define MAX_CALLERS 4

static bool is_in_scope(const struct profile *profile, const struct stack_node *node)
{
	return node->file < profile->file_count && profile->files[node->file].in_scope;
}

/* The node itself or the nearest one above it that is in scope; 0: none.
 * Children come after their parents: what a damaged file says otherwise ends
 * the search. */
static uint32_t find_in_scope(const struct profile *profile, uint32_t index)
{
	while (index != 0 && !is_in_scope(profile, &profile->stacks[index])) {
		uint32_t parent = profile->stacks[index].parent;

		index = parent < index ? parent : 0;
	}
	return index;
}

static uint32_t find_caller(const struct profile *profile, uint32_t index)
{
	uint32_t parent = profile->stacks[index].parent;

	return parent < index ? find_in_scope(profile, parent) : 0;
}

/* The outermost of the frames that stand on the same line one after the other: a
 * comprehension and the function around it, a function that calls itself. */
static uint32_t find_outermost(const struct profile *profile, uint32_t index)
{
	uint32_t caller;

	while (index && (caller = find_caller(profile, index)) != 0 &&
	       profile->stacks[caller].line == profile->stacks[index].line &&
	       profile->stacks[caller].file == profile->stacks[index].file)
		index = caller;
	return index;
}

/* The stack, ending in the line, that kept most; 0: none. */
static uint32_t find_stack(const struct profile *profile, const struct profile_file *file,
			   uint32_t line)
{
	double *kept = mem_zalloc(profile->stack_count, sizeof *kept);
	uint32_t best = 0;

	for (uint32_t i = 1; i < profile->stack_count; i++) {
		uint32_t owner = find_in_scope(profile, i);
		const struct stack_node *node = &profile->stacks[owner];

		if (!owner || node->line != line || &profile->files[node->file] != file)
			continue;
		kept[owner] += profile->stacks[i].self.kept_bytes;
		if (kept[owner] > kept[best])
			best = owner;
	}
	free(kept);
	return best;
}

static void append_caller(struct buf *text, const struct style *style,
			  const struct profile *profile, const struct stack_node *node)
{
	const char *path = glyph_short_path(style, profile->files[node->file].path);
	bool is_module = !node->function || strcmp(node->function, "<module>") == 0;

	if (is_module)
		buf_printf(text, "%s:%u", path, node->line);
	else
		buf_printf(text, "%s (%s:%u)", node->function, path, node->line);
}

void callers_append(struct buf *text, const struct style *style, const struct profile *profile,
		    const struct profile_file *file, const struct profile_line *line)
{
	uint32_t index = find_outermost(profile, find_stack(profile, file, line->line));

	for (int i = 0; index && (index = find_caller(profile, index)) != 0; i++) {
		if (i == MAX_CALLERS) {
			buf_printf(text, ", %s", style->has_utf8 ? "…" : "...");
			return;
		}
		if (i > 0)
			buf_text(text, ", ");
		index = find_outermost(profile, index);
		append_caller(text, style, profile, &profile->stacks[index]);
	}
}
