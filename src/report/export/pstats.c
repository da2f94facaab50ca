/* pstats.c - the statistics that Python's own pstats module loads: a marshalled
 * dictionary {(file, line, function): (calls, calls, self, cumulative, callers)}.
 *
 * A sampler knows no calls: samples stand for them.  Cumulative time counts a
 * stack once for a function that recursion put on it several times, so a node
 * adds to its function only where it is the outermost of it; and to a pair of
 * caller and function where it is the outermost of that pair. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "report/export/formats.h"
#include "report/export/frames.h"

struct sums {
	uint64_t samples;    /* with it on the stack */
	uint64_t self, below; /* microseconds */
};

/* A function called by another. */
struct call {
	uint32_t caller, next; /* next: index in calls of the function's next caller + 1 */
	struct sums sums;
};

struct table {
	const struct export_tree *tree;
	struct export_frames functions;
	uint64_t *samples;  /* owned; of each node with all below it */
	struct sums *sums;  /* owned; of each function */
	uint32_t *callers;  /* owned; of each function: index in calls of its first + 1 */
	VEC(struct call) calls;
	struct map pairs;   /* function << 32 | caller to index in calls */
	/* Where the walk stands: how often each function and pair is on the stack. */
	uint32_t *depth_of; /* owned */
	VEC(uint32_t) depth_of_call;
};

static uint32_t call_of(struct table *table, uint32_t function, uint32_t caller)
{
	bool is_new;
	uint64_t *at = map_put(&table->pairs, (uint64_t)function << 32 | caller, &is_new);
	if (is_new) {
		*at = table->calls.count;
		vec_push(&table->calls, (struct call){.caller = caller,
						      .next = table->callers[function]});
		vec_push(&table->depth_of_call, 0);
		table->callers[function] = table->calls.count;
	}
	return (uint32_t)*at;
}

static void add(struct sums *sums, const struct table *table, uint32_t node, bool is_outermost)
{
	sums->self = export_add(sums->self, table->tree->values[node]);
	if (!is_outermost)
		return;
	sums->below = export_add(sums->below, table->tree->below[node]);
	sums->samples = export_add(sums->samples, table->samples[node]);
}

static void enter(void *context, uint32_t node, uint32_t depth, uint64_t at)
{
	struct table *table = context;
	uint32_t function = table->functions.of_node[node];
	uint32_t parent = table->tree->nodes[node].parent;
	(void)at;
	add(&table->sums[function], table, node, table->depth_of[function]++ == 0);
	if (depth == 0)
		return;
	uint32_t call = call_of(table, function, table->functions.of_node[parent]);
	add(&table->calls.items[call].sums, table, node,
	    table->depth_of_call.items[call]++ == 0);
}

static void leave(void *context, uint32_t node, uint64_t at)
{
	struct table *table = context;
	uint32_t function = table->functions.of_node[node];
	uint32_t parent = table->tree->nodes[node].parent;
	(void)at;
	table->depth_of[function]--;
	if (parent)
		table->depth_of_call.items[call_of(table, function,
						   table->functions.of_node[parent])]--;
}

static void table_init(struct table *table, const struct export_tree *tree)
{
	*table = (struct table){.tree = tree};
	export_frames_init(&table->functions, tree, EXPORT_BY_FUNCTION);
	uint32_t count = table->functions.count;
	table->sums = mem_zalloc(count, sizeof(*table->sums));
	table->callers = mem_zalloc(count, sizeof(*table->callers));
	table->depth_of = mem_zalloc(count, sizeof(*table->depth_of));
	table->samples = mem_zalloc(tree->count, sizeof(*table->samples));
	for (uint32_t i = tree->count; i-- > 1;) {
		uint64_t *sum = &table->samples[tree->nodes[i].parent];
		table->samples[i] = export_add(table->samples[i], tree->nodes[i].self.samples);
		*sum = export_add(*sum, table->samples[i]);
	}
	struct export_visitor visitor = {enter, leave, table};
	export_tree_walk(tree, &visitor);
}

static void table_fini(struct table *table)
{
	export_frames_fini(&table->functions);
	free(table->samples);
	free(table->sums);
	free(table->callers);
	free(table->depth_of);
	vec_free(&table->calls);
	vec_free(&table->depth_of_call);
	map_fini(&table->pairs);
}

/* ---- Python's marshal, as every version reads it ---- */

static void put_word(FILE *out, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		fputc((int)(value >> (8 * i) & 0xff), out);
}

static void put_tuple(FILE *out, uint32_t size)
{
	fputc('(', out);
	put_word(out, size, 4);
}

static void put_integer(FILE *out, uint64_t value)
{
	if (value <= INT32_MAX) {
		fputc('i', out);
		put_word(out, value, 4);
		return;
	}
	uint32_t digits = 0; /* of 15 bits */
	for (uint64_t rest = value; rest; rest >>= 15)
		digits++;
	fputc('l', out);
	put_word(out, digits, 4);
	for (uint64_t rest = value; rest; rest >>= 15)
		put_word(out, rest & 0x7fff, 2);
}

static void put_float(FILE *out, double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof(bits));
	fputc('g', out);
	put_word(out, bits, 8);
}

static void put_text(FILE *out, const char *text)
{
	struct buf clean;
	buf_init(&clean, 1u << 20);
	export_clean(&clean, text, strlen(text), 0);
	fputc('u', out);
	put_word(out, clean.size, 4);
	fwrite(clean.data, 1, clean.size, out);
	buf_fini(&clean);
}

static void put_key(FILE *out, const struct table *table, uint32_t function)
{
	const struct stack_node *node = &table->tree->nodes[table->functions.nodes[function]];
	const char *path = export_file(table->tree->profile, node);
	put_tuple(out, 3);
	put_text(out, path ? path : "~"); /* pstats's own name for what has no file */
	put_integer(out, path ? node->first_line : 0);
	put_text(out, export_function(node));
}

static void put_sums(FILE *out, const struct sums *sums)
{
	put_integer(out, sums->samples);
	put_integer(out, sums->samples);
	put_float(out, (double)sums->self / 1e6);
	put_float(out, (double)sums->below / 1e6);
}

static void put_function(FILE *out, const struct table *table, uint32_t function)
{
	put_key(out, table, function);
	put_tuple(out, 5);
	put_sums(out, &table->sums[function]);
	fputc('{', out);
	for (uint32_t at = table->callers[function]; at; at = table->calls.items[at - 1].next) {
		const struct call *call = &table->calls.items[at - 1];
		put_key(out, table, call->caller);
		put_tuple(out, 4);
		put_sums(out, &call->sums);
	}
	fputc('0', out);
}

void export_pstats(FILE *out, const struct profile *profile, enum export_metric metric)
{
	struct export_tree tree;
	struct table table;
	export_tree_init(&tree, profile, metric);
	table_init(&table, &tree);
	fputc('{', out);
	for (uint32_t i = 0; i < table.functions.count; i++) {
		if (table.sums[i].below)
			put_function(out, &table, i);
	}
	fputc('0', out);
	table_fini(&table);
	export_tree_fini(&tree);
}
