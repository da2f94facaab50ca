/* stack_parts.c - see stack_parts.h. */
#include "profile/stack_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int compare_nodes(const void *a, const void *b)
{
	const struct stack_part *left = a, *right = b;
	if (left->node != right->node)
		return left->node < right->node ? -1 : 1;
	return (left->part > right->part) - (left->part < right->part);
}

static int compare_parts(const void *a, const void *b)
{
	const struct stack_part *left = a, *right = b;
	if (left->part != right->part)
		return left->part < right->part ? -1 : 1;
	return (left->node > right->node) - (left->node < right->node);
}

static int compare_descending(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
	return (left < right) - (left > right);
}

uint32_t stack_parts_sum(struct stack_part *parts, uint32_t count)
{
	uint32_t kept = 0;
	if (count)
		qsort(parts, count, sizeof(*parts), compare_nodes);
	for (uint32_t i = 0; i < count; i++) {
		if (kept && compare_nodes(&parts[kept - 1], &parts[i]) == 0)
			parts[kept - 1].us += parts[i].us;
		else if (parts[i].us)
			parts[kept++] = parts[i];
	}
	return kept;
}

/* The weight of the lightest that could stay, were there nothing to add. */
static uint64_t first_cut(const struct stack_part *parts, uint32_t count, uint32_t keep)
{
	uint64_t *sorted = mem_alloc(count * sizeof(*sorted));
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = parts[i].us;
	qsort(sorted, count, sizeof(*sorted), compare_descending);
	uint64_t cut = sorted[keep ? keep - 1 : 0] + 1;
	free(sorted);
	return cut;
}

/* One part: entries below the cut go to the calling node's.  weights is all
 * zero before and after.  Folding makes no entry more than there were, so the
 * result fits where the input was. */
static uint32_t fold_part(struct stack_part *out, const struct stack_part *in, uint32_t count,
			  const uint32_t *parents, uint64_t *weights, uint64_t cut)
{
	uint32_t part = in[0].part, last = in[count - 1].node, kept = 0;
	for (uint32_t i = 0; i < count; i++)
		weights[in[i].node] += in[i].us;
	for (uint32_t node = last; node > 0; node--) {
		if (weights[node] == 0 || weights[node] >= cut)
			continue;
		weights[parents[node]] += weights[node];
		weights[node] = 0;
	}
	for (uint32_t node = 0; node <= last; node++) {
		if (weights[node])
			out[kept++] = (struct stack_part){node, part, weights[node]};
		weights[node] = 0;
	}
	return kept;
}

uint32_t stack_parts_fold(struct stack_part *parts, uint32_t count, const uint32_t *parents,
			  uint32_t nodes, uint32_t keep)
{
	if (count <= keep)
		return count;
	uint64_t *weights = mem_zalloc(nodes, sizeof(*weights));
	uint64_t cut = first_cut(parts, count, keep);
	qsort(parts, count, sizeof(*parts), compare_parts);
	/* What stays weighs at least the cut, or is the root's; so this ends. */
	while (count > keep && cut < UINT64_MAX / 2) {
		uint32_t kept = 0;
		for (uint32_t begin = 0, end; begin < count; begin = end) {
			for (end = begin; end < count && parts[end].part == parts[begin].part; end++)
				;
			kept += fold_part(&parts[kept], &parts[begin], end - begin, parents, weights,
					  cut);
		}
		count = kept;
		cut *= 2;
	}
	free(weights);
	qsort(parts, count, sizeof(*parts), compare_nodes);
	return count;
}
