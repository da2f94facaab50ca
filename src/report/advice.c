/* advice.c - what to change, as text. */
#include "report/advice.h"

#include <string.h>

#include "report/glyph.h"

#define MAX_SHOWN 5u /* more is no longer short; the profile has them all */
#define INDENT 4u

static void put_place(FILE *out, const struct style *style, const struct advice *advice,
		      uint32_t limit)
{
	glyph_put_tail(out, style, glyph_short_path(style, advice->file), limit);
	fprintf(out, ":%u", advice->line);
}

static void put_sentence(FILE *out, const struct style *style, const char *text)
{
	fprintf(out, "%*s", (int)INDENT, "");
	glyph_put_wrapped(out, style, text, INDENT);
}

static void put_advice(FILE *out, const struct style *style, const struct advice *advice)
{
	fprintf(out, "  ");
	style_put(out, style, PAINT_HOT);
	put_place(out, style, advice, style->columns / 2);
	style_put(out, style, PAINT_NONE);
	fputs("  ", out);
	glyph_put(out, style, advice->title, strlen(advice->title), GLYPH_ANY_WIDTH);
	fputc('\n', out);
	put_sentence(out, style, advice->evidence);
	put_sentence(out, style, advice->fix);
}

void advice_print(FILE *out, const struct style *style, const struct profile *profile)
{
	if (!profile->advice_count)
		return;
	fputc('\n', out);
	style_print(out, style, PAINT_STRONG, "Advice");
	fputc('\n', out);
	for (uint32_t i = 0; i < profile->advice_count && i < MAX_SHOWN; i++)
		put_advice(out, style, &profile->advice[i]);
	if (profile->advice_count > MAX_SHOWN)
		fprintf(out, "  %u more: heatline query advice\n", profile->advice_count - MAX_SHOWN);
}

void advice_print_summary(FILE *out, const struct style *style, const struct profile *profile,
			  uint32_t indent)
{
	const struct advice *first = profile->advice;
	if (!profile->advice_count)
		return;
	fprintf(out, "%*sAdvice: ", (int)indent, "");
	put_place(out, style, first, style->columns / 3);
	fputs("  ", out);
	glyph_put(out, style, first->title, strlen(first->title), style->columns / 2);
	if (profile->advice_count > 1)
		fprintf(out, " (%u more)", profile->advice_count - 1);
	fputc('\n', out);
}
