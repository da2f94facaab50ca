/* frames.c - the different frames of a tree, and how they are named. */
#include "report/export/frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"

struct frame_key {
	const char *function; /* interned: the pointer is the name */
	uint32_t file, first_line, line, unused;
};

void export_frames_init(struct export_frames *frames, const struct export_tree *tree,
			enum export_frame_kind kind)
{
	struct map_bytes known;
	map_bytes_init(&known);
	frames->of_node = mem_alloc(tree->count * sizeof(*frames->of_node));
	frames->nodes = mem_alloc(tree->count * sizeof(*frames->nodes));
	frames->count = 0;
	frames->of_node[0] = UINT32_MAX;
	for (uint32_t i = 1; i < tree->count; i++) {
		const struct stack_node *node = &tree->nodes[i];
		struct frame_key key = {node->function, node->file, node->first_line,
					kind == EXPORT_BY_LINE ? node->line : 0, 0};
		bool is_new;
		uint32_t *at = map_bytes_put(&known, &key, sizeof(key), &is_new);
		if (is_new) {
			*at = frames->count;
			frames->nodes[frames->count++] = i;
		}
		frames->of_node[i] = *at;
	}
	map_bytes_fini(&known);
}

void export_frames_fini(struct export_frames *frames)
{
	free(frames->of_node);
	free(frames->nodes);
	*frames = (struct export_frames){0};
}

const char *export_function(const struct stack_node *node)
{
	return node->function && node->function[0] ? node->function : "<native>";
}

const char *export_file(const struct profile *profile, const struct stack_node *node)
{
	return node->file < profile->file_count ? profile->files[node->file].path : NULL;
}

/* What follows the last of these folders in the path, or NULL. */
static const char *after_folder(const char *path, const char *folder)
{
	const char *found = NULL;
	for (const char *at = strstr(path, folder); at; at = strstr(at + 1, folder))
		found = at + strlen(folder);
	return found && *found ? found : NULL;
}

/* What follows "/lib/python3.12/". */
static const char *after_library(const char *path)
{
	const char *version = after_folder(path, "/lib/python3");
	const char *slash = version ? strchr(version, '/') : NULL;
	return slash && slash[1] ? slash + 1 : NULL;
}

const char *export_short_path(const struct profile *profile, const char *path)
{
	const char *folder = profile->entrypoint_dir;
	const char *found = after_folder(path, "/site-packages/");
	if (!found)
		found = after_folder(path, "/dist-packages/");
	if (!found)
		found = after_library(path);
	if (found)
		return found;
	size_t size = folder ? strlen(folder) : 0;
	if (size > 1 && strncmp(path, folder, size) == 0 && path[size] == '/' && path[size + 1])
		return path + size + 1;
	return path;
}

/* U+FFFE and U+FFFF, which XML forbids. */
static bool is_noncharacter(const char *text)
{
	return memcmp(text, "\xef\xbf\xbe", 3) == 0 || memcmp(text, "\xef\xbf\xbf", 3) == 0;
}

/* What ends a line or turns the direction of writing: U+2028 to U+202E, U+2066 to
 * U+2069. */
static bool is_layout(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	return c[0] == 0xe2 && ((c[1] == 0x80 && c[2] >= 0xa8 && c[2] <= 0xae) ||
				(c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9));
}

/* Whether a terminal or a reader of lines would obey the character of so many bytes. */
static bool is_obeyed(const char *text, size_t length)
{
	const unsigned char *c = (const unsigned char *)text;
	if (length == 2)
		return c[0] == 0xc2 && c[1] < 0xa0;
	return length == 3 ? is_layout(text) : c[0] < 0x20 || c[0] == 0x7f;
}

void export_clean(struct buf *buf, const char *text, size_t size, char separator)
{
	for (size_t at = 0; at < size;) {
		size_t length = text_utf8_length(text + at, size - at);
		unsigned char c = (unsigned char)text[at];
		bool is_control = is_obeyed(text + at, length);
		if (length == 0 || (length == 3 && is_noncharacter(text + at)))
			buf_text(buf, "\xef\xbf\xbd");
		else if (is_control)
			buf_char(buf, ' ');
		else if (separator && c == (unsigned char)separator)
			buf_char(buf, ',');
		else
			buf_append(buf, text + at, length);
		at += length ? length : 1;
	}
}

void export_label(struct buf *buf, const struct profile *profile, const struct stack_node *node,
		  char separator)
{
	const char *function = export_function(node);
	const char *path = export_file(profile, node);
	buf_clear(buf);
	export_clean(buf, function, strlen(function), separator);
	if (!path)
		return;
	path = export_short_path(profile, path);
	buf_text(buf, " (");
	export_clean(buf, path, strlen(path), separator);
	if (node->line)
		buf_printf(buf, ":%u", node->line);
	buf_char(buf, ')');
}
