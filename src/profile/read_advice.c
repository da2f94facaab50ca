/* read_advice.c - the advice that a profile holds. */
#include "base/mem.h"
#include "profile/read_parts.h"

void read_advice(struct profile_reader *reader, const json_t *heatline)
{
	struct profile *profile = reader->profile;
	const json_t *list = reader_array(reader, heatline, "advice");
	size_t size = json_array_size(list);
	profile->advice = mem_zalloc(ADVICE_MAX, sizeof(*profile->advice));
	for (size_t i = 0; i < size && i < ADVICE_MAX && !reader->has_failed; i++) {
		const json_t *item = json_array_get(list, i);
		if (!json_is_object(item))
			reader_fail(reader, "an item of \"advice\" is not an object");
		struct advice advice = {
			.rule = reader_text(reader, item, "rule"),
			.file = reader_text(reader, item, "file"),
			.line = (uint32_t)reader_unsigned(reader, item, "line", READ_MAX_LINE),
			.title = reader_text(reader, item, "title"),
			.evidence = reader_text(reader, item, "evidence"),
			.fix = reader_text(reader, item, "fix"),
			.share = reader_number(reader, item, "share"),
		};
		if (!advice.rule || !advice.file || !advice.title || !advice.evidence || !advice.fix)
			reader_fail(reader, "an item of \"advice\" lacks a text");
		if (!reader->has_failed)
			profile->advice[profile->advice_count++] = advice;
	}
}
