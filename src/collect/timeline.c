/* timeline.c - see timeline.h. */
#include "collect/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/stack_parts.h"

void timeline_init(struct timeline *timeline)
{
	memset(timeline, 0, sizeof(*timeline));
	timeline->bin_ns = TIMELINE_FIRST_BIN_NS;
	map_init(&timeline->stacks);
	map_init(&timeline->threads);
	map_init(&timeline->idle);
}

void timeline_fini(struct timeline *timeline)
{
	for (uint32_t i = 0; i < timeline->rows.count; i++)
		free(timeline->rows.items[i]);
	vec_free(&timeline->rows);
	map_fini(&timeline->stacks);
	map_fini(&timeline->threads);
	map_fini(&timeline->idle);
}

uint32_t timeline_add_row(struct timeline *timeline)
{
	for (uint32_t i = 0; timeline->has_free_row && i < timeline->rows.count; i++) {
		if (timeline->rows.items[i] == NULL) {
			timeline->rows.items[i] = mem_zalloc(1, sizeof(struct timeline_row));
			return i;
		}
	}
	timeline->has_free_row = false;
	if (timeline->rows.count >= TIMELINE_ROWS)
		return TIMELINE_NO_ROW;
	vec_push(&timeline->rows, mem_zalloc(1, sizeof(struct timeline_row)));
	return timeline->rows.count - 1;
}

/* --- tables of nodes --- */

static uint64_t key_of(uint32_t node, uint32_t part)
{
	return (uint64_t)node << 32 | part;
}

static struct stack_part entry_of(uint64_t key, uint64_t value)
{
	return (struct stack_part){(uint32_t)(key >> 32), (uint32_t)key, value};
}

struct stack_part *timeline_list(const struct map *table, uint32_t *count)
{
	struct stack_part *list = mem_alloc((table->count + 1) * sizeof(*list));
	*count = 0;
	if (table->has_zero)
		list[(*count)++] = entry_of(0, table->zero_value);
	for (uint32_t i = 0; table->slots != NULL && i <= table->mask; i++) {
		if (table->slots[i].key != 0)
			list[(*count)++] = entry_of(table->slots[i].key, table->slots[i].value);
	}
	return list;
}

static void fill(struct map *table, const struct stack_part *list, uint32_t count)
{
	map_fini(table);
	map_init(table);
	for (uint32_t i = 0; i < count; i++)
		*map_put(table, key_of(list[i].node, list[i].part), NULL) += list[i].us;
}

/* Folds to half the room, so that it is not done again soon. */
static void fold(struct map *table, const struct tree *tree)
{
	uint32_t count;
	struct stack_part *list = timeline_list(table, &count);
	uint32_t *parents = mem_alloc(tree->count * sizeof(*parents));
	for (uint32_t i = 0; i < tree->count; i++)
		parents[i] = tree->nodes[i].parent;
	count = stack_parts_sum(list, count);
	count = stack_parts_fold(list, count, parents, tree->count, TIMELINE_MAX_ENTRIES / 2);
	fill(table, list, count);
	free(parents);
	free(list);
}

static void add_entry(struct map *table, const struct tree *tree, uint32_t node, uint32_t part,
		      uint64_t ns)
{
	if (table->count >= TIMELINE_MAX_ENTRIES)
		fold(table, tree);
	*map_put(table, key_of(node, part), NULL) += ns;
}

/* --- bins --- */

static void join_bins(struct timeline *timeline)
{
	uint32_t count;
	struct stack_part *list = timeline_list(&timeline->stacks, &count);
	for (uint32_t i = 0; i < count; i++)
		list[i].part /= 2;
	fill(&timeline->stacks, list, count);
	free(list);
	for (uint32_t r = 0; r < timeline->rows.count; r++) {
		for (uint32_t kind = 0; timeline->rows.items[r] != NULL && kind < TIMELINE_KINDS;
		     kind++) {
			uint64_t *ns = timeline->rows.items[r]->ns[kind];
			for (uint32_t i = 0; i < TIMELINE_MAX_BINS / 2; i++)
				ns[i] = ns[2 * i] + ns[2 * i + 1];
			memset(ns + TIMELINE_MAX_BINS / 2, 0, TIMELINE_MAX_BINS / 2 * sizeof(*ns));
		}
	}
	timeline->bins = (timeline->bins + 1) / 2;
	timeline->bin_ns *= 2;
}

/* --- joining rows --- */

uint32_t *timeline_begin_join(const struct timeline *timeline)
{
	uint32_t *moved_to = mem_zalloc(timeline->rows.count, sizeof(*moved_to));
	for (uint32_t i = 0; i < timeline->rows.count; i++)
		moved_to[i] = i;
	return moved_to;
}

static void move_rows(struct map *table, const uint32_t *moved_to)
{
	uint32_t count;
	struct stack_part *list = timeline_list(table, &count);
	for (uint32_t i = 0; i < count; i++)
		list[i].part = moved_to[list[i].part];
	fill(table, list, count);
	free(list);
}

void timeline_end_join(struct timeline *timeline, uint32_t *moved_to)
{
	move_rows(&timeline->threads, moved_to);
	move_rows(&timeline->idle, moved_to);
	for (uint32_t i = 0; i < timeline->rows.count; i++) {
		struct timeline_row *row = timeline->rows.items[i];
		if (row == NULL || moved_to[i] == i)
			continue;
		struct timeline_row *whole = timeline->rows.items[moved_to[i]];
		for (uint32_t kind = 0; kind < TIMELINE_KINDS; kind++) {
			for (uint32_t bin = 0; bin < TIMELINE_MAX_BINS; bin++)
				whole->ns[kind][bin] += row->ns[kind][bin];
		}
		free(row);
		timeline->rows.items[i] = NULL;
		timeline->has_free_row = true;
	}
	free(moved_to);
}

/* --- adding --- */

/* A stretch of time, taken apart at the edges of bins. */
struct stretch {
	uint64_t at_ns, end_ns;
	uint32_t bin;     /* out: of the next piece */
	uint64_t bin_ns;  /* out: how much of it */
};

static struct stretch begin_stretch(struct timeline *timeline, uint64_t end_ns, uint64_t ns)
{
	while (end_ns >= timeline->bin_ns * TIMELINE_MAX_BINS)
		join_bins(timeline);
	uint32_t bins = (uint32_t)(end_ns / timeline->bin_ns) + 1;
	if (bins > timeline->bins)
		timeline->bins = bins;
	return (struct stretch){.at_ns = end_ns > ns ? end_ns - ns : 0, .end_ns = end_ns};
}

static bool next_piece(const struct timeline *timeline, struct stretch *stretch)
{
	if (stretch->at_ns >= stretch->end_ns)
		return false;
	stretch->bin = (uint32_t)(stretch->at_ns / timeline->bin_ns);
	uint64_t edge_ns = (stretch->bin + 1) * timeline->bin_ns;
	uint64_t until_ns = edge_ns < stretch->end_ns ? edge_ns : stretch->end_ns;
	stretch->bin_ns = until_ns - stretch->at_ns;
	stretch->at_ns = until_ns;
	return true;
}

void timeline_add_time(struct timeline *timeline, uint32_t row, enum timeline_kind kind,
		       uint64_t end_ns, uint64_t ns)
{
	struct stretch stretch = begin_stretch(timeline, end_ns, ns);
	if (row == TIMELINE_NO_ROW)
		return;
	uint64_t *bins = timeline->rows.items[row]->ns[kind];
	while (next_piece(timeline, &stretch))
		bins[stretch.bin] += stretch.bin_ns;
	/* What is said to have begun before the run did happen in it. */
	if (ns > end_ns)
		bins[0] += ns - end_ns;
}

void timeline_add_stack(struct timeline *timeline, const struct tree *tree, uint32_t node,
			uint32_t row, uint64_t end_ns, uint64_t ns)
{
	struct stretch stretch = begin_stretch(timeline, end_ns, ns);
	while (next_piece(timeline, &stretch))
		add_entry(&timeline->stacks, tree, node, stretch.bin, stretch.bin_ns);
	if (ns > end_ns)
		add_entry(&timeline->stacks, tree, node, 0, ns - end_ns);
	if (row != TIMELINE_NO_ROW && ns != 0)
		add_entry(&timeline->threads, tree, node, row, ns);
}

void timeline_add_idle(struct timeline *timeline, const struct tree *tree, uint32_t node,
		       uint32_t row, uint64_t ns)
{
	if (row != TIMELINE_NO_ROW && ns != 0)
		add_entry(&timeline->idle, tree, node, row, ns);
}
