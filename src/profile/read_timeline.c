/* read_timeline.c - the timeline out of a profile, and stacks by bin and by thread. */
#include <stdlib.h>

#include "base/mem.h"
#include "profile/read_parts.h"
#include "profile/stack_parts.h"

#define MAX_PARTS 1000000u
#define MAX_MICROSECONDS (1ll << 53)

/* [[node, part, microseconds], ...]; the caller frees. */
static struct stack_part *read_parts(struct profile_reader *reader, const json_t *list,
				     uint32_t parts, const char *what, uint32_t *count)
{
	size_t size = json_array_size(list);
	int64_t last_node = (int64_t)reader->profile->stack_count - 1;
	*count = 0;
	if (size > MAX_PARTS)
		reader_fail(reader, "\"%s\" has more than %u items", what, MAX_PARTS);
	if (size == 0 || reader->has_failed)
		return NULL;
	struct stack_part *out = mem_alloc(size * sizeof(*out));
	for (size_t i = 0; i < size && !reader->has_failed; i++) {
		const json_t *row = json_array_get(list, i);
		if (json_array_size(row) != 3)
			reader_fail(reader, "an item of \"%s\" is not a list of 3 numbers", what);
		out[i] = (struct stack_part){
			(uint32_t)reader_item_integer(reader, row, 0, 0, last_node, what),
			(uint32_t)reader_item_integer(reader, row, 1, 0, (int64_t)parts - 1, what),
			(uint64_t)reader_item_integer(reader, row, 2, 0, MAX_MICROSECONDS, what),
		};
	}
	if (!reader->has_failed)
		*count = stack_parts_sum(out, (uint32_t)size);
	return out;
}

void read_thread_stacks(struct profile_reader *reader, const json_t *stacks)
{
	struct profile *profile = reader->profile;
	profile->thread_stacks = read_parts(reader, reader_array(reader, stacks, "threads"),
					    profile->thread_count, "threads",
					    &profile->thread_stack_count);
	profile->idle_stacks = read_parts(reader, reader_array(reader, stacks, "idle_threads"),
					  profile->thread_count, "idle_threads",
					  &profile->idle_stack_count);
}

static void read_thread(struct profile_reader *reader, const json_t *item, uint32_t bins,
			struct timeline_thread *thread)
{
	if (!json_is_object(item))
		reader_fail(reader, "an item of \"threads\" is not an object");
	thread->thread = (uint32_t)reader_unsigned(reader, item, "thread", UINT32_MAX);
	if (thread->thread >= reader->profile->thread_count)
		reader_fail(reader, "a thread of \"timeline\" does not exist");
	thread->ms = mem_zalloc((size_t)TIMELINE_KINDS * bins, sizeof(*thread->ms));
	for (uint32_t kind = 0; kind < TIMELINE_KINDS && !reader->has_failed; kind++) {
		const char *name = timeline_kind_names[kind];
		const json_t *list = reader_array(reader, item, name);
		if (json_array_size(list) > bins)
			reader_fail(reader, "\"%s\" has more than \"bins\" items", name);
		for (uint32_t i = 0; i < json_array_size(list) && !reader->has_failed; i++)
			thread->ms[(size_t)kind * bins + i] =
				(uint32_t)reader_item_integer(reader, list, i, 0, UINT32_MAX, name);
	}
}

void read_timeline(struct profile_reader *reader, const json_t *heatline)
{
	struct profile_timeline *timeline = &reader->profile->timeline;
	/* Before there was a timeline its place was held by an empty list. */
	if (json_is_array(json_object_get(heatline, "timeline")))
		return;
	const json_t *object = reader_object(reader, heatline, "timeline");
	timeline->bin_s = reader_number(reader, object, "bin_s");
	timeline->bins = (uint32_t)reader_unsigned(reader, object, "bins", TIMELINE_MAX_BINS);
	const json_t *threads = reader_array(reader, object, "threads");
	size_t count = json_array_size(threads);
	if (count > TIMELINE_MAX_THREADS)
		reader_fail(reader, "\"timeline\" has more than %u threads", TIMELINE_MAX_THREADS);
	if (reader->has_failed)
		return;
	timeline->threads = mem_zalloc(count, sizeof(*timeline->threads));
	for (size_t i = 0; i < count && !reader->has_failed; i++)
		read_thread(reader, json_array_get(threads, i), timeline->bins,
			    &timeline->threads[timeline->thread_count++]);
	timeline->stacks = read_parts(reader, reader_array(reader, object, "stacks"),
				      timeline->bins, "stacks", &timeline->stack_count);
}
