/* standalone.c - put the page's parts and the profiles where embed.py left marks. */
#include "serve/standalone.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "serve/assets.h"
#include "suggest/prompt.h"

#define MAX_PROMPTS 50u

static void write_asset(FILE *stream, const char *name, const char *before, const char *after)
{
	size_t size;
	char *bytes = asset_expand(asset_find(name), &size);

	fputs(before, stream);
	fwrite(bytes, 1, size, stream);
	fputs(after, stream);
	free(bytes);
}

/* In JSON "<" stands only inside of texts, where the escape means the same. */
static void write_escaped(FILE *stream, const char *text, size_t size)
{
	const char *end = text + size;

	while (text < end) {
		const char *mark = memchr(text, '<', (size_t)(end - text));
		size_t part = (size_t)((mark ? mark : end) - text);

		fwrite(text, 1, part, stream);
		if (mark)
			fputs("\\u003c", stream);
		text += part + (mark != NULL);
	}
}

/* What can be asked about the hottest lines: there is no heatline behind a file. */
static void write_prompts(void *closure, const struct profile *profile)
{
	FILE *stream = closure;
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		mem_exhausted(0);
	prompt_write_hottest(profile, MAX_PROMPTS, memory);
	if (fclose(memory) != 0)
		mem_exhausted(size);
	fputs("<script type=\"application/json\" id=\"heatline-prompts\">", stream);
	write_escaped(stream, text, size);
	fputs("</script>\n", stream);
	free(text);
}

static void write_profiles(FILE *stream, struct store *store)
{
	for (uint32_t i = 0; i < store_count(store); i++) {
		struct blob *text = store_text(store, i, false);

		fprintf(stream, "<script type=\"application/json\" id=\"heatline-profile-%u\">", i);
		if (text)
			write_escaped(stream, text->data, text->size);
		fputs("</script>\n", stream);
		blob_drop(text);
	}
	store_use(store, 0, write_prompts, stream);
}

static void write_page(FILE *stream, struct store *store)
{
	static const char style[] = "<!--style-->", data[] = "<!--data-->", script[] = "<!--script-->";
	size_t size;
	char *page = asset_expand(asset_find("standalone.html"), &size);
	const char *rest = page;

	for (const char *mark; (mark = strstr(rest, "<!--")) != NULL;) {
		fwrite(rest, 1, (size_t)(mark - rest), stream);
		rest = mark;
		if (strncmp(mark, style, sizeof(style) - 1) == 0) {
			write_asset(stream, "app.css", "<style>", "</style>");
			rest += sizeof(style) - 1;
		} else if (strncmp(mark, data, sizeof(data) - 1) == 0) {
			write_profiles(stream, store);
			rest += sizeof(data) - 1;
		} else if (strncmp(mark, script, sizeof(script) - 1) == 0) {
			write_asset(stream, "app.js", "<script>", "</script>");
			rest += sizeof(script) - 1;
		} else {
			fputs("<!--", stream);
			rest += 4;
		}
	}
	fputs(rest, stream);
	free(page);
}

int standalone_write_file(const char *path, struct store *store, struct err *err)
{
	struct file_writer writer;
	int status = file_writer_open(&writer, path, err);

	if (status)
		return status;
	write_page(writer.stream, store);
	return file_writer_commit(&writer, err);
}
