/* build_timeline.c - the timeline of a profile, and which threads its stacks are of. */
#include <stdlib.h>

#include "base/mem.h"
#include "collect/builder.h"
#include "profile/stack_parts.h"

#define NS_PER_MS 1000000u
#define NS_PER_US 1000u

/* A row of the timeline and the thread that it belongs to. */
struct ranked_row {
	uint32_t row, thread; /* thread: index in the profile */
	uint64_t weight;
};

static uint64_t weigh_row(const struct timeline_row *row, uint32_t bins)
{
	uint64_t cpu_ns = 0, wait_ns = 0;
	for (uint32_t i = 0; i < bins; i++) {
		cpu_ns += row->ns[TIMELINE_PYTHON][i] + row->ns[TIMELINE_NATIVE][i] +
			  row->ns[TIMELINE_SYSTEM][i];
		wait_ns += row->ns[TIMELINE_WAIT][i];
	}
	return cpu_ns + wait_ns / 1000;
}

static int compare_weights(const void *a, const void *b)
{
	const struct ranked_row *left = a, *right = b;
	if (left->weight != right->weight)
		return left->weight > right->weight ? -1 : 1;
	return (left->thread > right->thread) - (left->thread < right->thread);
}

static int compare_threads(const void *a, const void *b)
{
	const struct ranked_row *left = a, *right = b;
	return (left->thread > right->thread) - (left->thread < right->thread);
}

/* Whole milliseconds; what is cut off goes to the next bin, so the sum stays. */
static uint32_t *milliseconds(const struct timeline_row *row, uint32_t bins)
{
	uint32_t *ms = mem_zalloc((size_t)TIMELINE_KINDS * bins, sizeof(*ms));
	for (uint32_t kind = 0; kind < TIMELINE_KINDS; kind++) {
		uint64_t carried_ns = NS_PER_MS / 2;
		for (uint32_t i = 0; i < bins; i++) {
			carried_ns += row->ns[kind][i];
			ms[(size_t)kind * bins + i] = (uint32_t)(carried_ns / NS_PER_MS);
			carried_ns %= NS_PER_MS;
		}
	}
	return ms;
}

/* The threads in the order of the profile's list, with their rows. */
static struct ranked_row *list_rows(const struct collector *collector, uint32_t *count)
{
	const struct timeline *timeline = &collector->timeline;
	struct ranked_row *rows = mem_zalloc(timeline->rows.count, sizeof(*rows));
	uint32_t index = 0;
	*count = 0;
	for (uint32_t i = 0; i < collector->processes.count; i++) {
		const struct process *process = collector->processes.items[i];
		for (uint32_t t = 0; t < process->threads.count; t++, index++) {
			uint32_t row = process->threads.items[t]->row;
			if (row != TIMELINE_NO_ROW)
				rows[(*count)++] = (struct ranked_row){
					row, index,
					weigh_row(timeline->rows.items[row], timeline->bins)};
		}
	}
	return rows;
}

static void build_rows(const struct timeline *timeline, struct profile_timeline *out,
		       struct ranked_row *rows, uint32_t count)
{
	qsort(rows, count, sizeof(*rows), compare_weights);
	if (count > TIMELINE_MAX_THREADS)
		count = TIMELINE_MAX_THREADS;
	while (count > 0 && rows[count - 1].weight == 0)
		count--;
	qsort(rows, count, sizeof(*rows), compare_threads);
	out->threads = mem_zalloc(count, sizeof(*out->threads));
	out->thread_count = count;
	for (uint32_t i = 0; i < count; i++)
		out->threads[i] = (struct timeline_thread){
			rows[i].thread,
			milliseconds(timeline->rows.items[rows[i].row], out->bins)};
}

/* Turns a table of nodes into parts of the profile's nodes. */
static struct stack_part *build_parts(struct builder *builder, const struct map *table,
				      const uint32_t *threads, uint32_t *count)
{
	struct stack_part *parts = timeline_list(table, count);
	for (uint32_t i = 0; i < *count; i++) {
		parts[i].node = builder_find_node(builder, parts[i].node);
		if (threads != NULL)
			parts[i].part = threads[parts[i].part];
	}
	/* Joined first: many small ones together are not nothing. */
	*count = stack_parts_sum(parts, *count);
	for (uint32_t i = 0; i < *count; i++)
		parts[i].us = (parts[i].us + NS_PER_US / 2) / NS_PER_US;
	*count = stack_parts_sum(parts, *count);
	return parts;
}

void build_timeline(struct builder *builder)
{
	const struct timeline *timeline = &builder->collector->timeline;
	struct profile *profile = builder->profile;
	uint32_t row_count;
	struct ranked_row *rows = list_rows(builder->collector, &row_count);
	uint32_t *threads = mem_zalloc(timeline->rows.count, sizeof(*threads));
	for (uint32_t i = 0; i < row_count; i++)
		threads[rows[i].row] = rows[i].thread;
	profile->thread_stacks = build_parts(builder, &timeline->threads, threads,
					     &profile->thread_stack_count);
	profile->idle_stacks = build_parts(builder, &timeline->idle, threads,
					   &profile->idle_stack_count);
	profile->timeline.bin_s = (double)timeline->bin_ns / 1e9;
	profile->timeline.bins = timeline->bins;
	profile->timeline.stacks = build_parts(builder, &timeline->stacks, NULL,
					       &profile->timeline.stack_count);
	build_rows(timeline, &profile->timeline, rows, row_count);
	free(threads);
	free(rows);
}
