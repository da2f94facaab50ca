/* glyph.c - text from outside, made safe and measured for the terminal.
 *
 * UTF-8 is decoded here and not by mbrtowc, so that what is valid does not
 * depend on the locale. */
#include "report/glyph.h"

#include <string.h>
#include <wchar.h>

#include "base/text.h"

/* No writing system stacks more marks on one character; a longer run is an
 * attempt to paint over the neighbouring rows. */
#define MAX_COMBINING 6

/* Bytes of the character at `text`, which is in `code`; 0: no valid UTF-8. */
static size_t decode(const char *text, size_t size, uint32_t *code)
{
	size_t length = text_utf8_length(text, size);
	uint32_t value = (unsigned char)text[0];

	if (length > 1)
		value &= 0x7fu >> length;
	for (size_t i = 1; i < length; i++)
		value = value << 6 | ((unsigned char)text[i] & 0x3f);
	*code = value;
	return length;
}

/* Characters that say how others are written: direction marks and overrides
 * (source that reads otherwise than it runs), separators, invisible fillers. */
static bool is_treacherous(uint32_t code)
{
	return code == 0x61c || (code >= 0x200b && code <= 0x200f && code != 0x200d) ||
	       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
	       code == 0xfeff || (code >= 0xfff9 && code <= 0xfffb) ||
	       (code >= 0xe0000 && code <= 0xe007f);
}

static void escape(uint32_t code, struct glyph *out)
{
	char text[sizeof out->text];
	int size;

	if (code < 0x100)
		size = snprintf(text, sizeof text, "\\x%02x", code);
	else if (code < 0x10000)
		size = snprintf(text, sizeof text, "\\u%04x", code);
	else
		size = snprintf(text, sizeof text, "\\U%08x", code);
	memcpy(out->text, text, (size_t)size);
	out->text_size = (uint8_t)size;
	out->width = (uint8_t)size;
	out->is_combining = false;
}

static void fill_tab(uint32_t cell, struct glyph *out)
{
	out->width = (uint8_t)(GLYPH_TAB - cell % GLYPH_TAB);
	out->text_size = out->width;
	out->is_combining = false;
	memset(out->text, ' ', out->width);
}

void glyph_read(const char *text, size_t size, uint32_t cell, bool has_utf8, struct glyph *out)
{
	uint32_t code;
	size_t used = decode(text, size, &code);
	int width;

	out->input_size = used ? (uint8_t)used : 1;
	if (used == 0) {
		escape((unsigned char)text[0], out);
		return;
	}
	if (code == '\t') {
		fill_tab(cell, out);
		return;
	}
	if (code < 0x20 || (code >= 0x7f && code < 0xa0) || is_treacherous(code) ||
	    (code >= 0xa0 && !has_utf8)) {
		escape(code, out);
		return;
	}
	width = code < 0x7f ? 1 : wcwidth((wchar_t)code);
	if (width < 0) {
		escape(code, out);
		return;
	}
	memcpy(out->text, text, used);
	out->text_size = (uint8_t)used;
	out->width = (uint8_t)width;
	out->is_combining = width == 0;
}

uint32_t glyph_width(const char *text, size_t size, bool has_utf8, uint32_t limit)
{
	uint32_t cells = 0;
	struct glyph glyph;

	for (size_t i = 0; i < size && cells <= limit; i += glyph.input_size) {
		glyph_read(text + i, size - i, cells, has_utf8, &glyph);
		cells += glyph.width;
	}
	return cells > limit ? limit + 1 : cells;
}

uint32_t glyph_put(FILE *out, const struct style *style, const char *text, size_t size,
		   uint32_t limit)
{
	return glyph_put_painted(out, style, text, size, limit, NULL, 0, 0);
}

/* What a byte is to look like: its paint, and whether it is underlined. */
struct look {
	enum paint paint;
	bool is_underlined;
};

static void change_look(FILE *out, const struct style *style, struct look *now, struct look next)
{
	if (now->paint == next.paint && now->is_underlined == next.is_underlined)
		return;
	if (next.is_underlined)
		style_put_underlined(out, style, next.paint);
	else
		style_put(out, style, next.paint);
	*now = next;
}

uint32_t glyph_put_painted(FILE *out, const struct style *style, const char *text, size_t size,
			   uint32_t limit, const uint8_t *paints, size_t underline_start,
			   size_t underline_end)
{
	bool is_cut = glyph_width(text, size, style->has_utf8, limit) > limit;
	uint32_t room = is_cut && limit ? limit - 1 : limit;
	uint32_t cells = 0, combining = 0;
	struct look now = {PAINT_NONE, false};
	struct glyph glyph;

	for (size_t i = 0; i < size; i += glyph.input_size) {
		glyph_read(text + i, size - i, cells, style->has_utf8, &glyph);
		if (cells + glyph.width > room)
			break;
		combining = glyph.is_combining ? combining + 1 : 0;
		if (combining > MAX_COMBINING)
			continue;
		if (paints)
			change_look(out, style, &now,
				    (struct look){paints[i], i >= underline_start && i < underline_end});
		fwrite(glyph.text, 1, glyph.text_size, out);
		cells += glyph.width;
	}
	change_look(out, style, &now, (struct look){PAINT_NONE, false});
	if (is_cut && limit) {
		fputs(glyph_ellipsis(style), out);
		cells++;
	}
	return cells;
}

uint32_t glyph_put_tail(FILE *out, const struct style *style, const char *text, uint32_t limit)
{
	size_t size = strlen(text);
	size_t start = 0;
	struct glyph glyph;

	if (glyph_width(text, size, style->has_utf8, limit) <= limit)
		return glyph_put(out, style, text, size, limit);
	while (start < size && limit &&
	       glyph_width(text + start, size - start, style->has_utf8, limit) >= limit) {
		glyph_read(text + start, size - start, 0, style->has_utf8, &glyph);
		start += glyph.input_size;
	}
	if (limit)
		fputs(glyph_ellipsis(style), out);
	return limit ? 1 + glyph_put(out, style, text + start, size - start, limit - 1) : 0;
}

const char *glyph_short_path(const struct style *style, const char *path)
{
	size_t size = style->folder ? strlen(style->folder) : 0;

	while (size && style->folder[size - 1] == '/')
		size--;
	if (!size || strncmp(path, style->folder, size) != 0 || path[size] != '/')
		return path;
	return path[size + 1] ? path + size + 1 : path;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\f' || c == '\r' || c == '\n';
}

void glyph_trim(const char **text, size_t *size)
{
	while (*size && is_space(**text)) {
		(*text)++;
		(*size)--;
	}
	while (*size && is_space((*text)[*size - 1]))
		(*size)--;
}

void glyph_put_wrapped(FILE *out, const struct style *style, const char *text, uint32_t indent)
{
	uint32_t cells = indent;

	for (bool is_first = true; *text; is_first = false) {
		size_t size = strcspn(text, " ");
		uint32_t width = glyph_width(text, size, style->has_utf8, style->columns);

		if (!is_first && cells + 1 + width > style->columns) {
			fprintf(out, "\n%*s", (int)indent, "");
			cells = indent;
		} else if (!is_first) {
			fputc(' ', out);
			cells++;
		}
		cells += glyph_put(out, style, text, size, GLYPH_ANY_WIDTH);
		text += size;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

const char *glyph_ellipsis(const struct style *style)
{
	return style->has_utf8 ? "…" : ".";
}
