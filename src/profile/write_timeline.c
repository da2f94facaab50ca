/* write_timeline.c - the timeline, and stacks by bin and by thread. */
#include "profile/write_parts.h"

void write_stack_parts(struct json_out *out, const char *name, const struct stack_part *parts,
		       uint32_t count)
{
	json_begin_array(out, name);
	for (uint32_t i = 0; i < count; i++) {
		if (i % 32 == 0)
			json_put_newline(out);
		json_begin_array(out, NULL);
		json_put_unsigned(out, NULL, parts[i].node);
		json_put_unsigned(out, NULL, parts[i].part);
		json_put_unsigned(out, NULL, parts[i].us);
		json_end_array(out);
	}
	json_end_array(out);
}

static void write_kind(struct json_out *out, const char *name, const uint32_t *ms, uint32_t bins)
{
	uint32_t last = bins;
	while (last > 0 && ms[last - 1] == 0)
		last--;
	if (last == 0)
		return;
	json_begin_array(out, name);
	for (uint32_t i = 0; i < bins; i++)
		json_put_unsigned(out, NULL, ms[i]);
	json_end_array(out);
}

static void write_thread(struct json_out *out, const struct timeline_thread *thread, uint32_t bins)
{
	json_put_newline(out);
	json_begin_object(out, NULL);
	json_put_unsigned(out, "thread", thread->thread);
	for (uint32_t kind = 0; kind < TIMELINE_KINDS; kind++)
		write_kind(out, timeline_kind_names[kind], thread->ms + (size_t)kind * bins, bins);
	json_end_object(out);
}

void write_timeline(struct json_out *out, const struct write_plan *plan)
{
	const struct profile_timeline *timeline = &plan->profile->timeline;
	json_begin_object(out, "timeline");
	json_put_number(out, "bin_s", timeline->bin_s, DECIMALS_SECONDS);
	json_put_unsigned(out, "bins", timeline->bins);
	json_begin_array(out, "threads");
	for (uint32_t i = 0; i < timeline->thread_count; i++)
		write_thread(out, &timeline->threads[i], timeline->bins);
	json_end_array(out);
	json_put_newline(out);
	write_stack_parts(out, "stacks", plan->timeline_stacks, plan->timeline_stack_count);
	json_end_object(out);
}
