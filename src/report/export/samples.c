/* samples.c - see samples.h. */
#include "report/export/samples.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/json_out.h"
#include "base/mem.h"
#include "report/export/frames.h"

#define MAX_FRAMES 1000u /* of a stack; each is written again for every sample */

/* The tree with its nodes' time as whole samples. */
struct counted {
	struct export_tree tree;
	uint64_t *counts; /* owned; of each node */
	double period_s;
	uint32_t *path;   /* owned; for export_tree_path */
	uint32_t room;
};

static void counted_init(struct counted *counted, const struct profile *profile, double rate_hz)
{
	double period_us = 1e6 / rate_hz, left_us = 0;

	*counted = (struct counted){.path = NULL};
	export_tree_init(&counted->tree, profile, EXPORT_TIME);
	double least_us = (double)counted->tree.below[0] / EXPORT_SAMPLES_MAX;
	if (period_us < least_us)
		period_us = least_us;
	counted->period_s = period_us * 1e-6;
	counted->counts = mem_zalloc(counted->tree.count, sizeof(*counted->counts));
	for (uint32_t i = 1; i < counted->tree.count; i++) {
		left_us += (double)counted->tree.values[i];
		counted->counts[i] = (uint64_t)(left_us / period_us + 0.5);
		left_us -= (double)counted->counts[i] * period_us;
	}
}

static void counted_fini(struct counted *counted)
{
	free(counted->counts);
	free(counted->path);
	export_tree_fini(&counted->tree);
}

/* The frame that all of the node's callers begin with. */
static uint32_t outermost(const struct export_tree *tree, uint32_t node)
{
	while (tree->nodes[node].parent)
		node = tree->nodes[node].parent;
	return node;
}

static uint32_t path_to(struct counted *counted, uint32_t node)
{
	uint32_t depth = export_tree_path(&counted->tree, node, &counted->path, &counted->room);

	return depth < MAX_FRAMES ? depth : MAX_FRAMES;
}

/* ---- speedscope ---- */

static void put_frames(struct json_out *out, const struct export_tree *tree,
		       const struct export_frames *frames)
{
	json_begin_object(out, "shared");
	json_begin_array(out, "frames");
	for (uint32_t i = 0; i < frames->count; i++) {
		const struct stack_node *node = &tree->nodes[frames->nodes[i]];
		const char *path = export_file(tree->profile, node);

		json_put_newline(out);
		json_begin_object(out, NULL);
		json_put_text(out, "name", export_function(node));
		json_put_text(out, "file", path ? export_short_path(tree->profile, path) : NULL);
		json_put_unsigned(out, "line", node->line);
		json_put_null(out, "col");
		json_end_object(out);
	}
	json_end_array(out);
	json_end_object(out);
}

/* The samples of all nodes, or of those below root; returns how many. */
static uint64_t put_samples(struct json_out *out, struct counted *counted,
			    const struct export_frames *frames, uint32_t root)
{
	uint64_t total = 0;

	json_begin_array(out, "samples");
	for (uint32_t i = 1; i < counted->tree.count; i++) {
		if (!counted->counts[i] || (root && outermost(&counted->tree, i) != root))
			continue;
		uint32_t depth = path_to(counted, i);
		for (uint64_t n = 0; n < counted->counts[i]; n++) {
			json_put_newline(out);
			json_begin_array(out, NULL);
			for (uint32_t j = root ? 1 : 0; j < depth; j++)
				json_put_unsigned(out, NULL, frames->of_node[counted->path[j]]);
			json_end_array(out);
		}
		total += counted->counts[i];
	}
	json_end_array(out);
	return total;
}

static void put_profile(struct json_out *out, struct counted *counted,
			const struct export_frames *frames, uint32_t root, const char *name)
{
	json_put_newline(out);
	json_begin_object(out, NULL);
	json_put_text(out, "type", "sampled");
	json_put_text(out, "name", name);
	json_put_text(out, "unit", "seconds");
	json_put_unsigned(out, "startValue", 0);
	uint64_t total = put_samples(out, counted, frames, root);
	json_begin_array(out, "weights");
	for (uint64_t i = 0; i < total; i++)
		json_put_number(out, NULL, counted->period_s, 9);
	json_end_array(out);
	json_put_number(out, "endValue", (double)total * counted->period_s, 9);
	json_end_object(out);
}

void export_samples_speedscope(FILE *out, const struct profile *profile,
			       const struct export_samples *how)
{
	struct export_frames frames;
	struct counted counted;
	struct json_out json;

	counted_init(&counted, profile, how->rate_hz);
	export_frames_init(&frames, &counted.tree, EXPORT_BY_LINE);
	json_out_init(&json, out);
	json_begin_object(&json, NULL);
	json_put_text(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_put_text(&json, "exporter", "heatline " HEATLINE_VERSION);
	json_put_text(&json, "name", profile->program ? profile->program : "");
	json_put_unsigned(&json, "activeProfileIndex", 0);
	put_frames(&json, &counted.tree, &frames);
	json_begin_array(&json, "profiles");
	for (uint32_t i = 1; how->by_thread && i < counted.tree.count; i++) {
		if (!counted.tree.nodes[i].parent && counted.tree.below[i])
			put_profile(&json, &counted, &frames, i, export_function(&counted.tree.nodes[i]));
	}
	if (!how->by_thread)
		put_profile(&json, &counted, &frames, 0, "all threads");
	json_end_array(&json);
	json_end_object(&json);
	fputc('\n', out);
	export_frames_fini(&frames);
	counted_fini(&counted);
}

/* ---- raw ---- */

void export_samples_raw(FILE *out, const struct profile *profile, const struct export_samples *how)
{
	struct counted counted;
	struct buf label;

	counted_init(&counted, profile, how->rate_hz);
	buf_init(&label, EXPORT_LABEL_BYTES);
	for (uint32_t i = 1; i < counted.tree.count; i++) {
		if (!counted.counts[i])
			continue;
		uint32_t depth = path_to(&counted, i);
		for (uint32_t j = 0; j < depth; j++) {
			export_label(&label, profile, &counted.tree.nodes[counted.path[j]], ';');
			fprintf(out, "%s%s", j ? ";" : "", label.data);
		}
		fprintf(out, " %" PRIu64 "\n", counted.counts[i]);
	}
	buf_fini(&label);
	counted_fini(&counted);
}
