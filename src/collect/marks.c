/* marks.c - what the program says of itself, from the record to the profile. */
#include "collect/marks.h"

#include <stdio.h>
#include <string.h>

#include "collect/build.h"
#include "collect/collector.h"
#include "profile/marks.h"
#include "profile/model.h"

bool marks_on_record(struct collector *collector, const struct process *process,
		     const struct record_mark *record)
{
	size_t size = record->text_size;
	if (size > MARK_MAX_BYTES || size > record->head.size - sizeof(*record))
		return false;
	if (collector->marks.count == MARKS_MAX) {
		collector->marks_left_out++;
		return true;
	}
	/* A text ends where it has a 0. */
	const char *text = (const char *)(record + 1);
	struct mark mark = {
		.time_ns = record->time_ns > collector->start_ns ? record->time_ns : collector->start_ns,
		.text = intern_bytes(collector->strings, text, strnlen(text, size)),
		.pid = process->pid,
	};
	vec_push(&collector->marks, mark);
	return true;
}

void marks_build(const struct collector *collector, struct profile *profile)
{
	for (uint32_t i = 0; i < collector->marks.count; i++) {
		const struct mark *mark = &collector->marks.items[i];
		marks_add(profile, (double)(mark->time_ns - collector->start_ns) * 1e-9, mark->text,
			  mark->pid);
	}
	if (collector->marks_left_out != 0) {
		char text[100];
		snprintf(text, sizeof(text), "the first %u marks are kept, %llu are left out", MARKS_MAX,
			 (unsigned long long)collector->marks_left_out);
		build_warn(profile, text);
	}
}
