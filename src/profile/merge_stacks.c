/* merge_stacks.c - the stacks of two runs as one tree, by thread and over time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "profile/book_index.h"
#include "profile/merge_parts.h"
#include "profile/stack_parts.h"
#include "profile/stack_tree.h"

#define MAX_NODES_EACH (STACK_TREE_MAX_NODES / 2)

static void move_nodes(struct stack_part *parts, uint32_t count, const uint32_t *moved_to)
{
	for (uint32_t i = 0; i < count; i++)
		parts[i].node = moved_to[parts[i].node];
}

/* Two trees of the largest size would be more than one may have. */
static void fold_own(struct profile *profile)
{
	if (profile->stack_count <= MAX_NODES_EACH)
		return;
	uint32_t *moved_to = mem_alloc(profile->stack_count * sizeof(*moved_to));
	profile->stack_count = stack_tree_fold_to(profile->stacks, profile->stack_count,
						  MAX_NODES_EACH, moved_to);
	move_nodes(profile->thread_stacks, profile->thread_stack_count, moved_to);
	move_nodes(profile->idle_stacks, profile->idle_stack_count, moved_to);
	move_nodes(profile->timeline.stacks, profile->timeline.stack_count, moved_to);
	free(moved_to);
	book_index_free(profile->book); /* it knew the nodes where they were */
	profile->book = NULL;
}

/* Adds the nodes; of each its index in `into`, which the caller frees. */
static uint32_t *add_nodes(struct merge *merge)
{
	struct profile *into = merge->into;
	uint32_t count = merge->from->stack_count;
	struct stack_node *nodes = mem_alloc(count * sizeof(*nodes));
	uint32_t *moved_to = mem_alloc(count * sizeof(*moved_to));
	memcpy(nodes, merge->from->stacks, count * sizeof(*nodes));
	uint32_t kept = stack_tree_fold_to(nodes, count, MAX_NODES_EACH, moved_to);
	uint32_t *added = mem_zalloc(kept, sizeof(*added));
	stack_tree_make_room(into, kept);
	for (uint32_t i = 0; i < kept; i++) {
		const struct stack_node *node = &nodes[i];
		bool has_file = node->file != STACK_NO_FILE;
		if (i > 0)
			added[i] = stack_tree_child(into, added[node->parent],
						    has_file ? merge->files[node->file] :
							       STACK_NO_FILE,
						    profile_intern(into, node->function),
						    node->first_line, node->line);
		struct metrics self = node->self;
		self.at_peak_bytes = merge->takes_peak ? self.at_peak_bytes : 0;
		metrics_add(&into->stacks[added[i]].self, &self);
	}
	for (uint32_t i = 0; i < count; i++)
		moved_to[i] = added[moved_to[i]];
	free(added);
	free(nodes);
	return moved_to;
}

/* Appends a list, its nodes and parts numbered as in `into`. */
static void add_parts(struct stack_part **into, uint32_t *count, const struct stack_part *from,
		      uint32_t from_count, const uint32_t *nodes, uint32_t shift)
{
	*into = mem_resize(*into, (size_t)*count + from_count, sizeof(**into));
	for (uint32_t i = 0; i < from_count; i++) {
		struct stack_part part = from[i];
		part.node = nodes[part.node];
		part.part += shift;
		(*into)[(*count)++] = part;
	}
	*count = stack_parts_sum(*into, *count);
}

/* ---- over time ---- */

/* How the bins of a timeline lie in those of another. */
struct rebin {
	double start_s, bin_s; /* of the old ones, since the start of the new ones */
	double new_bin_s;
	uint32_t new_bins;
};

static uint32_t new_bin(const struct rebin *rebin, uint32_t bin)
{
	double middle_s = rebin->start_s + (bin + 0.5) * rebin->bin_s;
	return (uint32_t)fmin(middle_s / rebin->new_bin_s, rebin->new_bins - 1);
}

static uint32_t *rebin_thread(const struct rebin *rebin, const uint32_t *ms, uint32_t bins)
{
	uint32_t *sums = mem_zalloc((size_t)TIMELINE_KINDS * rebin->new_bins, sizeof(*sums));
	for (uint32_t kind = 0; kind < TIMELINE_KINDS; kind++) {
		for (uint32_t bin = 0; bin < bins; bin++)
			sums[kind * rebin->new_bins + new_bin(rebin, bin)] +=
				ms[(size_t)kind * bins + bin];
	}
	return sums;
}

static uint64_t busy_ms(const struct timeline_thread *thread, uint32_t bins)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < TIMELINE_GIL * bins; i++)
		sum += thread->ms[i];
	return sum;
}

/* The least busy ones go. */
static void bound_threads(struct profile_timeline *timeline)
{
	while (timeline->thread_count > TIMELINE_MAX_THREADS) {
		uint32_t least = 0;
		for (uint32_t i = 1; i < timeline->thread_count; i++) {
			if (busy_ms(&timeline->threads[i], timeline->bins) <
			    busy_ms(&timeline->threads[least], timeline->bins))
				least = i;
		}
		free(timeline->threads[least].ms);
		timeline->thread_count--;
		memmove(&timeline->threads[least], &timeline->threads[least + 1],
			(timeline->thread_count - least) * sizeof(*timeline->threads));
	}
}

static void add_timeline(struct merge *merge, const uint32_t *nodes)
{
	struct profile_timeline *into = &merge->into->timeline;
	const struct profile_timeline *from = &merge->from->timeline;
	double end_s = fmax(into->bins * into->bin_s,
			    from->bins ? merge->shift_s + from->bins * from->bin_s : 0);
	if (from->bins == 0 || !(end_s > 0))
		return;
	struct rebin old = {0, into->bin_s, end_s / TIMELINE_MAX_BINS, TIMELINE_MAX_BINS};
	struct rebin added = old;
	added.start_s = merge->shift_s;
	added.bin_s = from->bin_s;
	into->threads = mem_resize(into->threads, (size_t)into->thread_count + from->thread_count,
				   sizeof(*into->threads));
	for (uint32_t i = 0; i < into->thread_count; i++) {
		uint32_t *ms = rebin_thread(&old, into->threads[i].ms, into->bins);
		free(into->threads[i].ms);
		into->threads[i].ms = ms;
	}
	for (uint32_t i = 0; i < from->thread_count; i++)
		into->threads[into->thread_count++] = (struct timeline_thread){
			.thread = from->threads[i].thread + merge->thread_shift,
			.ms = rebin_thread(&added, from->threads[i].ms, from->bins)};
	for (uint32_t i = 0; i < into->stack_count; i++)
		into->stacks[i].part = new_bin(&old, into->stacks[i].part);
	into->stacks = mem_resize(into->stacks, (size_t)into->stack_count + from->stack_count,
				  sizeof(*into->stacks));
	for (uint32_t i = 0; i < from->stack_count; i++)
		into->stacks[into->stack_count++] = (struct stack_part){
			nodes[from->stacks[i].node], new_bin(&added, from->stacks[i].part),
			from->stacks[i].us};
	into->stack_count = stack_parts_sum(into->stacks, into->stack_count);
	into->bin_s = old.new_bin_s;
	into->bins = TIMELINE_MAX_BINS;
	bound_threads(into);
}

void merge_stacks(struct merge *merge)
{
	struct profile *into = merge->into;
	const struct profile *from = merge->from;
	uint32_t *nodes;
	if (from->stack_count) {
		fold_own(into);
		nodes = add_nodes(merge);
	} else {
		nodes = mem_zalloc(1, sizeof(*nodes));
	}
	add_parts(&into->thread_stacks, &into->thread_stack_count, from->thread_stacks,
		  from->thread_stack_count, nodes, merge->thread_shift);
	add_parts(&into->idle_stacks, &into->idle_stack_count, from->idle_stacks,
		  from->idle_stack_count, nodes, merge->thread_shift);
	add_timeline(merge, nodes);
	free(nodes);
}
