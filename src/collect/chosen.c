/* chosen.c - functions marked with @profile, where only those are to be reported.
 *
 * That is so from the moment on at which the first of them is seen: a folder may hold
 * other programs, whose marks are not meant. */
#include "collect/chosen.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "collect/collector.h"

static const struct chosen_file *find_file(struct collector *collector, const char *filename)
{
	for (uint32_t i = 0; i < collector->chosen.count; i++) {
		if (collector->chosen.items[i].filename == filename)
			return &collector->chosen.items[i];
	}
	struct chosen_file made = {.filename = filename};
	size_t size;
	char *text = sources_load(&collector->sources, filename, &size);
	if (text != NULL)
		decorated_find(&made.functions, text, size);
	free(text);
	vec_push(&collector->chosen, made);
	return &collector->chosen.items[collector->chosen.count - 1];
}

static bool is_marked(struct collector *collector, const char *filename, uint32_t line)
{
	const struct decorated *functions = &find_file(collector, filename)->functions;
	for (uint32_t i = 0; i < functions->count; i++) {
		if (line >= functions->functions[i].first && line <= functions->functions[i].last)
			return true;
	}
	return false;
}

/* The first marked function has come: what was in scope so far was so by its file. */
static void begin(struct collector *collector)
{
	collector->has_chosen = true;
	for (uint32_t i = 1; i < collector->codes.count; i++) {
		struct code *code = &collector->codes.items[i];
		code->in_scope = code->in_scope &&
				 is_marked(collector, code->filename, code->first_line);
	}
}

bool chosen_has(struct collector *collector, const struct code *code)
{
	if (!collector->options->is_decorated_only)
		return true;
	bool is_chosen = is_marked(collector, code->filename, code->first_line);
	if (is_chosen && !collector->has_chosen)
		begin(collector);
	return is_chosen || !collector->has_chosen;
}

bool chosen_has_line(struct collector *collector, const char *filename, uint32_t line)
{
	return !collector->has_chosen || is_marked(collector, filename, line);
}

bool chosen_fill(struct collector *collector, const char *filename, struct profile_file *file)
{
	if (!collector->has_chosen)
		return true;
	const struct decorated *functions = &find_file(collector, filename)->functions;
	if (functions->count == 0)
		return false;
	if (file->reported_count == 0) {
		file->reported = mem_zalloc(functions->count, sizeof(*file->reported));
		file->reported_count = functions->count;
		memcpy(file->reported, functions->functions,
		       functions->count * sizeof(*file->reported));
	}
	return true;
}

void chosen_fini(struct collector *collector)
{
	for (uint32_t i = 0; i < collector->chosen.count; i++)
		decorated_fini(&collector->chosen.items[i].functions);
	vec_free(&collector->chosen);
}
