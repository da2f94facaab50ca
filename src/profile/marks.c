/* marks.c - see marks.h. */
#include "profile/marks.h"

#include "base/mem.h"
#include "profile/read_parts.h"
#include "profile/write_parts.h"

void marks_add(struct profile *profile, double when_s, const char *text, int32_t pid)
{
	if (profile->mark_count == MARKS_MAX)
		return;
	profile->marks = mem_resize(profile->marks, profile->mark_count + 1,
				    sizeof(*profile->marks));
	profile->marks[profile->mark_count++] = (struct profile_mark){
		.when_s = when_s, .text = profile_intern(profile, text), .pid = pid};
}

void marks_write(struct json_out *out, const struct profile *profile)
{
	if (profile->mark_count == 0)
		return;
	json_put_newline(out);
	json_begin_array(out, "marks");
	for (uint32_t i = 0; i < profile->mark_count; i++) {
		const struct profile_mark *mark = &profile->marks[i];
		json_put_newline(out);
		json_begin_object(out, NULL);
		json_put_number(out, "s", mark->when_s, DECIMALS_SECONDS);
		json_put_text(out, "text", mark->text);
		json_put_integer(out, "pid", mark->pid);
		json_end_object(out);
	}
	json_end_array(out);
}

void marks_read(struct profile_reader *reader, const json_t *heatline)
{
	const json_t *list = reader_array(reader, heatline, "marks");
	size_t size = json_array_size(list);
	for (size_t i = 0; i < size && !reader->has_failed; i++) {
		const json_t *item = json_array_get(list, i);
		if (!json_is_object(item)) {
			reader_fail(reader, "an item of \"marks\" is not an object");
			return;
		}
		double when_s = reader_number(reader, item, "s");
		const char *text = reader_text(reader, item, "text");
		int32_t pid = reader_pid(reader, item, "pid");
		if (text == NULL)
			reader_fail(reader, "an item of \"marks\" has no text");
		else
			marks_add(reader->profile, when_s, text, pid);
	}
}

void marks_merge(struct profile *into, const struct profile *from, double shift_s)
{
	for (uint32_t i = 0; i < from->mark_count; i++)
		marks_add(into, from->marks[i].when_s + shift_s, from->marks[i].text,
			  from->marks[i].pid);
}
