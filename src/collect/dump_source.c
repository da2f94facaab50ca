/* dump_source.c - the source lines of a dump's frames. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "collect/dump.h"
#include "profile/source.h"

struct dump_source {
	const char *file; /* interned */
	char *text;       /* owned; NULL: cannot be read */
	struct source_lines lines;
};

void dump_sources_fini(struct dump *dump)
{
	for (uint32_t i = 0; i < dump->source_count; i++) {
		if (dump->sources[i].text != NULL)
			source_lines_fini(&dump->sources[i].lines);
		free(dump->sources[i].text);
	}
	free(dump->sources);
}

/* The file as the process sees it, read once; its text is NULL when there is
 * none. */
static struct dump_source *load_source(struct dump *dump, const char *file)
{
	for (uint32_t i = 0; i < dump->source_count; i++) {
		if (dump->sources[i].file == file)
			return &dump->sources[i];
	}
	vec_reserve(dump->sources, dump->source_room, dump->source_count);
	struct dump_source *source = &dump->sources[dump->source_count++];
	size_t size = 0, room = strlen(dump->root) + strlen(file) + 1;
	char *path = mem_alloc(room);

	/* Where a dead process stood is not known: its relative names are tried from here. */
	snprintf(path, room, "%s%s", file[0] == '/' ? dump->root : "", file);
	*source = (struct dump_source){ .file = file, .text = source_load(path, &size) };
	if (source->text == NULL && dump->core.path != NULL)
		source->text = source_load(file, &size);
	if (source->text != NULL)
		source_lines_init(&source->lines, source->text, size);
	free(path);
	return source;
}

const char *dump_source_line(struct dump *dump, const struct dump_frame *frame, size_t *size)
{
	bool may_be_file = dump->core.path == NULL ? frame->file[0] == '/'
						   : frame->file[0] != '<' && frame->file[0] != '\0';
	const struct dump_source *source = may_be_file ? load_source(dump, frame->file) : NULL;

	if (source == NULL || source->text == NULL)
		return NULL;
	const char *line = source_line(&source->lines, frame->line, size);
	while (*size > 0 && (*line == ' ' || *line == '\t')) {
		line++;
		(*size)--;
	}
	return *size > 0 ? line : NULL;
}
