/* split.c - see split.h. */
#include "collect/split.h"

#include "collect/classify.h"

/* What all samples say counts for a line as so much of a sample of its own. */
#define PRIOR_SAMPLES 0.25

void split_init(struct split *split)
{
	*split = (struct split){.counts = VEC_EMPTY};
	map_init(&split->ops);
	map_init(&split->lines);
	vec_push(&split->counts, ((struct split_counts){.samples = {0}}));
}

void split_fini(struct split *split)
{
	vec_free(&split->counts);
	map_fini(&split->ops);
	map_fini(&split->lines);
}

/* ---- counting ---- */

static uint64_t key_of(uint32_t code, uint32_t place)
{
	return (uint64_t)code << 32 | place;
}

static uint64_t line_key(struct codes *codes, struct tree_frame frame)
{
	return key_of(frame.code, codes_line(&codes->items[frame.code], frame.offset));
}

/* In 3.11 and 3.12 a look finds the inline cache of an instruction. */
static uint64_t op_key(const struct codes *codes, struct tree_frame frame)
{
	struct code *code = &codes->items[frame.code];
	return key_of(frame.code, frame.offset < code->bytecode_size ? codes_op_start(code, frame.offset)
								     : frame.offset);
}

static void count(struct split *split, struct map *map, uint64_t key, enum split_kind kind)
{
	bool is_new;
	uint64_t *index = map_put(map, key, &is_new);
	if (is_new) {
		*index = split->counts.count;
		vec_push(&split->counts, ((struct split_counts){.samples = {0}}));
	}
	split->counts.items[*index].samples[kind]++;
}

void split_add(struct split *split, struct codes *codes, struct tree_frame frame, enum split_kind kind)
{
	split->counts.items[0].samples[kind]++;
	count(split, &split->ops, op_key(codes, frame), kind);
	count(split, &split->lines, line_key(codes, frame), kind);
}

static uint64_t sum(const struct split_counts *counts)
{
	return (uint64_t)counts->samples[SPLIT_INTERPRETER] + counts->samples[SPLIT_NATIVE] +
	       counts->samples[SPLIT_SYSTEM];
}

uint64_t split_samples(const struct split *split)
{
	return sum(&split->counts.items[0]);
}

/* ---- shares ---- */

/* Empty counts where nothing is known. */
static struct split_counts find(const struct split *split, const struct map *map, uint64_t key)
{
	const uint64_t *index = map_get(map, key);
	return index == NULL ? (struct split_counts){.samples = {0}} : split->counts.items[*index];
}

static double share_of_line(const struct split *split, uint64_t key, bool is_complete)
{
	const struct split_counts *all = &split->counts.items[0];
	struct split_counts line = find(split, &split->lines, key);
	uint64_t own = sum(&line), whole = sum(all);
	if (whole == 0 || (own == 0 && !is_complete))
		return 0;
	double usual = (double)all->samples[SPLIT_SYSTEM] / (double)whole;
	return (line.samples[SPLIT_SYSTEM] + PRIOR_SAMPLES * usual) / ((double)own + PRIOR_SAMPLES);
}

double split_system_share(const struct split *split, struct codes *codes, struct tree_frame frame)
{
	return share_of_line(split, line_key(codes, frame), false);
}

/* ---- splitting ---- */

/* A line's time so far, and how much of each part of it is system time. */
struct line {
	uint64_t c_ns, python_ns;
	double c_share, python_share;
};

/* Moves what the program counter has shown to be native, as with a sample of a run: where
 * it mostly is, the whole instruction is.  One sample shows little. */
static void split_user_time(const struct split *split, const struct codes *codes, struct tree_frame frame,
			    struct tree_weights *weights)
{
	struct split_counts op = find(split, &split->ops, op_key(codes, frame));
	uint32_t native = op.samples[SPLIT_NATIVE], interpreter = op.samples[SPLIT_INTERPRETER];
	if (native == 0)
		return;
	double share = (double)native / ((double)native + interpreter + 1);
	bool is_native = native > 1 && native >= interpreter / 2;
	uint64_t python_ns = (uint64_t)(share * (double)weights->python_ns);
	uint64_t open_ns = is_native ? weights->open_ns : (uint64_t)(share * (double)weights->open_ns);
	weights->python_ns -= python_ns;
	weights->open_ns -= open_ns;
	weights->native_ns += python_ns + open_ns;
}

/* Open time is settled here, so that it is known what is work in C. */
static void settle_open_time(struct codes *codes, struct tree_frame frame, struct tree_weights *weights)
{
	if (weights->open_ns == 0)
		return;
	if (classify_is_native(&codes->items[frame.code], frame.offset))
		weights->native_ns += weights->open_ns;
	else
		weights->python_ns += weights->open_ns;
	weights->open_ns = 0;
}

static void find_line_shares(const struct split *split, const struct map *index, struct line *lines,
			     bool is_complete)
{
	for (uint32_t i = 0; index->slots != NULL && i <= index->mask; i++) {
		if (index->slots[i].key == 0)
			continue;
		struct line *line = &lines[index->slots[i].value];
		double system_ns = share_of_line(split, index->slots[i].key, is_complete) *
				   (double)(line->c_ns + line->python_ns);
		double from_c_ns = system_ns < (double)line->c_ns ? system_ns : (double)line->c_ns;
		line->c_share = line->c_ns == 0 ? 0 : from_c_ns / (double)line->c_ns;
		line->python_share = line->python_ns == 0 ? 0
							  : (system_ns - from_c_ns) / (double)line->python_ns;
	}
}

static void move_system_time(const struct line *line, struct tree_weights *weights)
{
	uint64_t c_ns = (uint64_t)(line->c_share * (double)weights->native_ns);
	uint64_t python_ns = (uint64_t)(line->python_share * (double)weights->python_ns);
	c_ns = c_ns < weights->native_ns ? c_ns : weights->native_ns;
	python_ns = python_ns < weights->python_ns ? python_ns : weights->python_ns;
	weights->native_ns -= c_ns;
	weights->python_ns -= python_ns;
	weights->system_ns += c_ns + python_ns;
}

void split_apply(const struct split *split, struct codes *codes, struct tree *tree, bool is_complete)
{
	VEC(struct line) lines = VEC_EMPTY;
	struct map index;
	if (split_samples(split) == 0)
		return;
	map_init(&index);
	for (uint32_t node = 1; node < tree->count; node++) {
		if (tree->nodes[node].weights == 0)
			continue;
		struct tree_frame frame = tree_frame(tree, node);
		struct tree_weights *weights = &tree->weights.items[tree->nodes[node].weights];
		split_user_time(split, codes, frame, weights);
		settle_open_time(codes, frame, weights);
		bool is_new;
		uint64_t *at = map_put(&index, line_key(codes, frame), &is_new);
		if (is_new) {
			*at = lines.count;
			vec_push(&lines, ((struct line){.c_ns = 0}));
		}
		lines.items[*at].c_ns += weights->native_ns;
		lines.items[*at].python_ns += weights->python_ns;
	}
	find_line_shares(split, &index, lines.items, is_complete);
	for (uint32_t node = 1; node < tree->count; node++) {
		if (tree->nodes[node].weights != 0)
			move_system_time(&lines.items[*map_get(&index, line_key(codes, tree_frame(tree, node)))],
					 &tree->weights.items[tree->nodes[node].weights]);
	}
	map_fini(&index);
	vec_free(&lines);
}
