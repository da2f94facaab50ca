/* source.c - decode Python sources as Python does, but never refuse one. */
#include "profile/source.h"

#include <ctype.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"
#include "base/vec.h"
#include "profile/source_zip.h"

#define MAX_ENCODING_NAME 32u
#define DECODED_MAX_BYTES (SOURCE_MAX_BYTES * 4) /* one byte may become three */

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

/* Encodings that Python programs are really written in, as iconv calls them;
 * others are read as UTF-8 with replacements.  An entry ending in '-' stands
 * for the family: the rest of the name is kept. */
static const struct encoding {
	const char *python, *iconv;
} encodings[] = {
	{"latin-1", "ISO-8859-1"},   {"latin1", "ISO-8859-1"},    {"l1", "ISO-8859-1"},
	{"iso8859-", "ISO-8859-"},   {"iso-8859-", "ISO-8859-"},  {"iso-latin-1", "ISO-8859-1"},
	{"cp125", "CP125"},          {"windows-125", "CP125"},    {"koi8-r", "KOI8-R"},
	{"koi8-u", "KOI8-U"},        {"shift-jis", "SHIFT-JIS"},  {"sjis", "SHIFT-JIS"},
	{"cp932", "CP932"},          {"euc-jp", "EUC-JP"},        {"euc-kr", "EUC-KR"},
	{"cp949", "CP949"},          {"gb2312", "GBK"},           {"gbk", "GBK"},
	{"gb18030", "GB18030"},      {"big5", "BIG5"},
};

/* Reads the name behind "coding:" or "coding=" in a comment line. */
static bool coding_in_line(const char *line, size_t size, char *name)
{
	const char *hash = memchr(line, '#', size);
	for (const char *at = line; at < (hash ? hash : line + size); at++) {
		if (*at != ' ' && *at != '\t' && *at != '\f')
			return false; /* code: no comment line */
	}
	if (!hash)
		return false;
	const char *end = line + size;
	const char *coding = memmem(hash, (size_t)(end - hash), "coding", 6);
	if (!coding || coding + 7 > end || (coding[6] != ':' && coding[6] != '='))
		return false;
	const char *at = coding + 7;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	size_t length = 0;
	for (; at < end && (isalnum((unsigned char)*at) || strchr("-_.", *at)); at++) {
		if (*at == '\0' || length + 1 >= MAX_ENCODING_NAME)
			return false;
		name[length++] = *at == '_' ? '-' : (char)tolower((unsigned char)*at);
	}
	name[length] = '\0';
	return length > 0;
}

static bool is_blank_or_comment(const char *line, size_t size)
{
	for (size_t i = 0; i < size && line[i] != '#'; i++) {
		if (line[i] != ' ' && line[i] != '\t' && line[i] != '\f')
			return false;
	}
	return true;
}

/* The coding comment of the first two lines; the first must be no code. */
static bool find_coding(const char *bytes, size_t size, char *name)
{
	const char *at = bytes, *end = bytes + size;
	for (int line = 0; line < 2 && at < end; line++) {
		size_t length = 0;
		while (at + length < end && at[length] != '\n' && at[length] != '\r')
			length++;
		if (coding_in_line(at, length, name))
			return true;
		if (!is_blank_or_comment(at, length))
			return false;
		at += length;
		at += end - at > 1 && at[0] == '\r' && at[1] == '\n' ? 2 : 1;
	}
	return false;
}

/* Into iconv_name (MAX_ENCODING_NAME + 16 bytes); false: read it as UTF-8. */
static bool iconv_name_for(const char *python_name, char *iconv_name)
{
	for (size_t i = 0; i < sizeof(encodings) / sizeof(encodings[0]); i++) {
		const struct encoding *encoding = &encodings[i];
		size_t size = strlen(encoding->python);
		bool is_family = encoding->python[size - 1] == '-' ||
				 text_ends_with(encoding->python, "125");
		if (is_family ? !text_starts_with(python_name, encoding->python)
			      : strcmp(python_name, encoding->python) != 0)
			continue;
		const char *rest = python_name + size;
		for (const char *at = rest; *at; at++) {
			if (!isdigit((unsigned char)*at))
				return false;
		}
		memcpy(iconv_name, encoding->iconv, strlen(encoding->iconv) + 1);
		memcpy(iconv_name + strlen(encoding->iconv), rest, strlen(rest) + 1);
		return true;
	}
	return false;
}

static void convert(iconv_t converter, const char *bytes, size_t size, struct buf *text)
{
	char chunk[4096];
	char *in = (char *)bytes;
	while (size > 0) {
		char *out = chunk;
		size_t room = sizeof(chunk);
		size_t before = size;
		size_t result = iconv(converter, &in, &size, &out, &room);
		buf_append(text, chunk, sizeof(chunk) - room);
		if (result == (size_t)-1 && room > 16 && size > 0) {
			/* A byte that means nothing in this encoding. */
			buf_text(text, replacement);
			in++;
			size--;
		} else if (before == size && room == sizeof(chunk)) {
			break; /* no progress: never loop */
		}
	}
}

/* Copies what is UTF-8 and replaces the rest, byte for byte. */
static void copy_utf8(const char *bytes, size_t size, struct buf *text)
{
	size_t start = 0, at = 0;
	while (at < size) {
		size_t length = text_utf8_length(bytes + at, size - at);
		if (length > 0) {
			at += length;
			continue;
		}
		buf_append(text, bytes + start, at - start);
		buf_text(text, replacement);
		start = ++at;
	}
	buf_append(text, bytes + start, at - start);
}

/* In place: "\r\n" and "\r" become "\n"; a zero byte becomes a space. */
static void unify(struct buf *text)
{
	size_t to = 0;
	for (size_t at = 0; at < text->size; at++) {
		char c = text->data[at];
		if (c == '\r') {
			if (at + 1 < text->size && text->data[at + 1] == '\n')
				continue;
			c = '\n';
		}
		text->data[to++] = c ? c : ' ';
	}
	text->size = to;
	text->data[to] = '\0';
}

char *source_decode(const char *bytes, size_t size, size_t *text_size)
{
	struct buf text;
	buf_init(&text, DECODED_MAX_BYTES);
	char name[MAX_ENCODING_NAME], iconv_name[MAX_ENCODING_NAME + 16];
	iconv_t converter = (iconv_t)-1;
	bool has_mark = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0;
	if (has_mark) {
		bytes += 3;
		size -= 3;
	} else if (find_coding(bytes, size, name) && iconv_name_for(name, iconv_name)) {
		converter = iconv_open("UTF-8", iconv_name);
	}
	if (converter != (iconv_t)-1) {
		convert(converter, bytes, size, &text);
		iconv_close(converter);
	} else {
		copy_utf8(bytes, size, &text);
	}
	unify(&text);
	*text_size = text.size;
	char *decoded = buf_take(&text);
	buf_fini(&text);
	return decoded;
}

char *source_load(const char *path, size_t *size)
{
	struct stat info;
	char *bytes = NULL;
	size_t byte_count;
	/* A program can name its code after any file: no device, no pipe. */
	if (stat(path, &info) != 0)
		bytes = source_zip_read(path, SOURCE_MAX_BYTES, &byte_count);
	else if (S_ISREG(info.st_mode))
		file_read(path, SOURCE_MAX_BYTES, &bytes, &byte_count, NULL);
	if (bytes == NULL)
		return NULL;
	char *text = source_decode(bytes, byte_count, size);
	free(bytes);
	return text;
}

void source_lines_init(struct source_lines *lines, const char *text, size_t size)
{
	VEC(uint32_t) starts = VEC_EMPTY;
	vec_push(&starts, 0);
	for (size_t at = 0; at < size; at++) {
		if (text[at] == '\n')
			vec_push(&starts, (uint32_t)(at + 1));
	}
	if (size > 0 && text[size - 1] != '\n')
		vec_push(&starts, (uint32_t)size);
	*lines = (struct source_lines){
		.text = text, .starts = starts.items, .count = starts.count - 1};
}

void source_lines_fini(struct source_lines *lines)
{
	free(lines->starts);
	*lines = (struct source_lines){0};
}

const char *source_line(const struct source_lines *lines, uint32_t line, size_t *size)
{
	*size = 0;
	if (line == 0 || line > lines->count)
		return "";
	const char *start = lines->text + lines->starts[line - 1];
	*size = lines->starts[line] - lines->starts[line - 1];
	if (*size > 0 && start[*size - 1] == '\n')
		--*size;
	return start;
}

const char *source_file_line(const struct profile_file *file, uint32_t line, size_t *size)
{
	*size = 0;
	if (!file->source) {
		const struct profile_line *known = profile_find_line(file, line);
		if (!known || !known->text)
			return "";
		*size = strlen(known->text);
		return known->text;
	}
	const char *at = file->source, *end = file->source + file->source_size;
	for (uint32_t n = 1; n < line && at < end; n++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		at = newline ? newline + 1 : end;
	}
	if (line == 0 || at == end)
		return "";
	const char *newline = memchr(at, '\n', (size_t)(end - at));
	*size = (size_t)((newline ? newline : end) - at);
	return at;
}
