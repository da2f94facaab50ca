/* style.c - how a report may look where it goes: colours, width, alphabet.
 *
 * The one hard idea: a missing locale (LANG unset, as in most containers) does
 * not mean that the terminal cannot show UTF-8.  Like Python itself we take
 * C.UTF-8 then, but an LC_ALL that the user did set to "C" is believed. */
#include "report/style.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define FALLBACK_COLUMNS 80
#define FALLBACK_ROWS 24
#define MAX_COLUMNS 1000

static const char *const paint_codes[PAINT_COUNT] = {
	[PAINT_NONE] = "0",
	[PAINT_DIM] = "2",
	[PAINT_STRONG] = "1",
	[PAINT_WARNING] = "33",
	[PAINT_HOT] = "31",
	[PAINT_HOTTEST] = "1;31",
	[PAINT_PYTHON] = "94",
	[PAINT_NATIVE] = "36",
	[PAINT_SYSTEM] = "33",
	[PAINT_WAIT] = "90",
	[PAINT_MEMORY] = "32",
	[PAINT_COPY] = "35",
	[PAINT_KEYWORD] = "35",
	[PAINT_STRING] = "32",
	[PAINT_COMMENT] = "90",
	[PAINT_NUMBER] = "36",
	[PAINT_DECORATOR] = "33",
	[PAINT_NAME] = "1;34",
};

static const char *environment(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static bool locale_has_utf8(void)
{
	const char *locale = setlocale(LC_CTYPE, "");
	bool is_unset = !locale || strcmp(locale, "C") == 0;

	if (is_unset && !environment("LC_ALL"))
		setlocale(LC_CTYPE, "C.UTF-8");
	return strcasecmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* A number from 1 to MAX_COLUMNS in the variable, or 0. */
static uint32_t environment_size(const char *name)
{
	const char *value = environment(name);
	char *end;
	unsigned long size;

	if (!value)
		return 0;
	size = strtoul(value, &end, 10);
	return *end == '\0' && size <= MAX_COLUMNS ? (uint32_t)size : 0;
}

static bool wants_color(enum style_color color, bool is_terminal)
{
	const char *term = environment("TERM");

	if (color != STYLE_COLOR_AUTO)
		return color == STYLE_COLOR_ALWAYS;
	return is_terminal && !environment("NO_COLOR") && term && strcmp(term, "dumb") != 0;
}

static uint32_t clamp_columns(uint32_t columns)
{
	if (columns < STYLE_MIN_COLUMNS)
		return STYLE_MIN_COLUMNS;
	return columns > MAX_COLUMNS ? MAX_COLUMNS : columns;
}

void style_init(struct style *style, int fd, enum style_color color)
{
	struct winsize size = {0};
	bool is_terminal = isatty(fd) == 1;
	uint32_t columns = environment_size("COLUMNS");
	uint32_t rows = environment_size("LINES");

	if (is_terminal && ioctl(fd, TIOCGWINSZ, &size) == 0) {
		columns = columns ? columns : size.ws_col;
		rows = rows ? rows : size.ws_row;
	}
	if (!columns)
		columns = is_terminal ? FALLBACK_COLUMNS : STYLE_PIPE_COLUMNS;
	if (!rows)
		rows = FALLBACK_ROWS;
	*style = (struct style){
		.has_color = wants_color(color, is_terminal),
		.has_utf8 = locale_has_utf8(),
		.is_terminal = is_terminal,
		.is_cut = is_terminal || environment_size("COLUMNS"),
		.columns = clamp_columns(columns),
		.rows = is_terminal ? rows : 0,
	};
}

int style_parse_color(const char *text, enum style_color *color)
{
	static const char *const names[] = {
		[STYLE_COLOR_AUTO] = "auto",
		[STYLE_COLOR_ALWAYS] = "always",
		[STYLE_COLOR_NEVER] = "never",
	};

	for (int i = STYLE_COLOR_AUTO; i <= STYLE_COLOR_NEVER; i++) {
		if (strcmp(text, names[i]) == 0) {
			*color = (enum style_color)i;
			return 0;
		}
	}
	return -1;
}

void style_put(FILE *out, const struct style *style, enum paint paint)
{
	if (!style->has_color)
		return;
	if (paint == PAINT_NONE)
		fputs("\033[0m", out);
	else
		fprintf(out, "\033[0;%sm", paint_codes[paint]);
}

void style_put_underlined(FILE *out, const struct style *style, enum paint paint)
{
	if (style->has_color)
		fprintf(out, "\033[0;%s;4m", paint == PAINT_NONE ? "39" : paint_codes[paint]);
}

void style_print(FILE *out, const struct style *style, enum paint paint, const char *text)
{
	if (paint != PAINT_NONE)
		style_put(out, style, paint);
	fputs(text, out);
	if (paint != PAINT_NONE)
		style_put(out, style, PAINT_NONE);
}
