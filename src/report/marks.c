/* marks.c - see marks.h. */
#include "report/marks.h"

#include <string.h>

#include "report/figure.h"
#include "report/glyph.h"

#define MARKS_SHOWN 12u
#define TEXT_CELLS 60u
#define TIME_CELLS 12u /* of the figure before it; STYLE_MIN_COLUMNS are more */

void marks_print(FILE *out, const struct style *style, const struct profile *profile)
{
	uint32_t shown = profile->mark_count < MARKS_SHOWN ? profile->mark_count : MARKS_SHOWN;
	uint32_t room = style->is_cut ? style->columns - TIME_CELLS : TEXT_CELLS;

	if (!shown)
		return;
	fputc('\n', out);
	style_print(out, style, PAINT_STRONG, "Marks");
	fputs(" that the program set\n", out);
	for (uint32_t i = 0; i < shown; i++) {
		const struct profile_mark *mark = &profile->marks[i];

		fprintf(out, "  %8s  ", figure_seconds(mark->when_s).text);
		glyph_put(out, style, mark->text, strlen(mark->text),
			  room < TEXT_CELLS ? room : TEXT_CELLS);
		fputc('\n', out);
	}
	if (profile->mark_count > shown)
		fprintf(out, "  and %u more\n", profile->mark_count - shown);
}
