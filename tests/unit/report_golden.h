/* report_golden.h - text reports, made at a given width and compared with golden
 * files (written anew with HEATLINE_UPDATE_GOLDEN=1).  Include after cmocka.h. */
#ifndef HEATLINE_TESTS_REPORT_GOLDEN_H
#define HEATLINE_TESTS_REPORT_GOLDEN_H

#include <stdio.h>
#include <stdlib.h>

#include "report/text.h"

static inline struct style golden_style(uint32_t columns)
{
	return (struct style){
		.has_utf8 = true,
		.is_cut = true,
		.columns = columns,
		.folder = "/home/me/app",
	};
}

/* The report, which the caller frees.  Not inlined: gcc 12 then takes the text
 * for a pointer to the variable that held it, and warns. */
__attribute__((noinline, unused)) static char *golden_report(const struct profile *profile,
							     const struct style *style,
							     bool is_reduced, bool in_seconds)
{
	struct text_options options = {is_reduced, in_seconds};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	text_report_print(out, profile, &options, style);
	fclose(out);
	return text;
}

static inline char *golden_read(const char *path)
{
	char *text;
	size_t size;
	FILE *in = fopen(path, "r");
	FILE *out;
	int c;

	if (!in)
		fail_msg("there is no %s; HEATLINE_UPDATE_GOLDEN=1 writes it", path);
	out = open_memstream(&text, &size);
	while ((c = getc(in)) != EOF)
		putc(c, out);
	fclose(in);
	fclose(out);
	return text;
}

static inline void golden_expect(const char *name, char *text)
{
	char path[1000];
	char *golden;

	snprintf(path, sizeof path, "%s/report-%s.txt", HEATLINE_GOLDEN, name);
	if (getenv("HEATLINE_UPDATE_GOLDEN")) {
		FILE *out = fopen(path, "w");

		assert_non_null(out);
		fputs(text, out);
		fclose(out);
	}
	golden = golden_read(path);
	assert_string_equal(text, golden);
	free(golden);
	free(text);
}

/* For cmocka: the width of characters depends on the locale. */
static inline int golden_locale(void **unused)
{
	struct style style;

	(void)unused;
	setenv("LC_ALL", "C.UTF-8", 1);
	style_init(&style, -1, STYLE_COLOR_NEVER);
	return style.has_utf8 ? 0 : -1;
}

#endif
