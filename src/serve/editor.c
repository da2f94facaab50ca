/* editor.c - known editors, and their ways to be asked for a line. */
#include "serve/editor.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/vec.h"

#define MAX_WORD_BYTES 8192u

enum line_style {
	PLUS_LINE,   /* +12 file */
	GOTO,        /* -g file:12 */
	FILE_LINE,   /* file:12 */
	LINE_OPTION, /* --line 12 file */
	ONLY_FILE,
};

static const struct known_editor {
	const char *name;
	enum line_style style;
	bool has_window;
} known_editors[] = {
	{"code", GOTO, true},
	{"code-insiders", GOTO, true},
	{"codium", GOTO, true},
	{"vscodium", GOTO, true},
	{"cursor", GOTO, true},
	{"windsurf", GOTO, true},
	{"positron", GOTO, true},
	{"subl", FILE_LINE, true},
	{"sublime_text", FILE_LINE, true},
	{"zed", FILE_LINE, true},
	{"zeditor", FILE_LINE, true},
	{"pycharm", LINE_OPTION, true},
	{"charm", LINE_OPTION, true},
	{"idea", LINE_OPTION, true},
	{"kate", LINE_OPTION, true},
	{"mousepad", LINE_OPTION, true},
	{"gvim", PLUS_LINE, true},
	{"gedit", PLUS_LINE, true},
	{"geany", PLUS_LINE, true},
	{"pluma", PLUS_LINE, true},
	{"xed", PLUS_LINE, true},
	{"hx", FILE_LINE, false},
	{"helix", FILE_LINE, false},
	{"vi", PLUS_LINE, false},
	{"vim", PLUS_LINE, false},
	{"nvim", PLUS_LINE, false},
	{"nano", PLUS_LINE, false},
	{"micro", PLUS_LINE, false},
	{"kak", PLUS_LINE, false},
	{"emacs", PLUS_LINE, false}, /* with -nw, or without a display */
	{"emacsclient", PLUS_LINE, false},
};

/* The editor that the command's first word names, or NULL. */
static const struct known_editor *find_known(const char *command)
{
	const char *word = command + strspn(command, " \t");
	size_t size = strcspn(word, " \t");

	for (size_t i = 0; i < size; i++) {
		if (word[i] == '/') {
			word += i + 1;
			size -= i + 1;
			i = (size_t)-1;
		}
	}
	for (size_t i = 0; i < sizeof(known_editors) / sizeof(known_editors[0]); i++) {
		const char *name = known_editors[i].name;

		if (strlen(name) == size && memcmp(name, word, size) == 0)
			return &known_editors[i];
	}
	return NULL;
}

bool editor_has_window(const char *command)
{
	const struct known_editor *known = find_known(command);

	return known && known->has_window;
}

static bool has_words(const char *command)
{
	return command && command[strspn(command, " \t")];
}

const char *editor_choose(const char *heatline_editor, const char *visual, const char *editor)
{
	const char *const choices[] = {visual, editor};

	if (has_words(heatline_editor))
		return heatline_editor;
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		if (choices[i] && editor_has_window(choices[i]))
			return choices[i];
	}
	return NULL;
}

/* The word with {file} and {line} replaced; the caller frees. */
static char *fill(const char *word, size_t size, const char *path, uint32_t line1)
{
	const char *end = word + size;
	struct buf buf;

	buf_init(&buf, MAX_WORD_BYTES);
	while (word < end) {
		if ((size_t)(end - word) >= 6 && memcmp(word, "{file}", 6) == 0) {
			buf_text(&buf, path);
			word += 6;
		} else if ((size_t)(end - word) >= 6 && memcmp(word, "{line}", 6) == 0) {
			buf_printf(&buf, "%u", line1);
			word += 6;
		} else {
			buf_char(&buf, *word++);
		}
	}
	char *filled = buf_take(&buf);
	buf_fini(&buf);
	return filled;
}

static char *printed(const char *format, const char *path, uint32_t line1)
{
	return fill(format, strlen(format), path, line1);
}

char **editor_words(const char *command, const char *path, uint32_t line1)
{
	const struct known_editor *known = find_known(command);
	enum line_style style = known ? known->style : ONLY_FILE;
	VEC(char *) words = VEC_EMPTY;

	if (!has_words(command))
		return NULL;
	for (const char *rest = command + strspn(command, " \t"); *rest; rest += strspn(rest, " \t")) {
		size_t size = strcspn(rest, " \t");

		vec_push(&words, fill(rest, size, path, line1));
		rest += size;
	}
	if (!strstr(command, "{file}")) {
		if (style == PLUS_LINE)
			vec_push(&words, printed("+{line}", path, line1));
		if (style == GOTO)
			vec_push(&words, mem_copy_text("-g"));
		if (style == LINE_OPTION) {
			vec_push(&words, mem_copy_text("--line"));
			vec_push(&words, printed("{line}", path, line1));
		}
		bool is_joined = style == GOTO || style == FILE_LINE;
		vec_push(&words, printed(is_joined ? "{file}:{line}" : "{file}", path, line1));
	}
	vec_push(&words, NULL);
	return words.items;
}

void editor_free_words(char **words)
{
	for (char **word = words; word && *word; word++)
		free(*word);
	free(words);
}
