/* speedscope.c - the file format of speedscope.app.
 *
 * Each metric that was measured is one profile in the file.  They are "evented":
 * the merged stacks side by side, heaviest first, as opening and closing frames.
 * That takes two events a node; listing each stack frame by frame would grow
 * with the depth of the recursion. */
#include "base/json_out.h"
#include "report/export/formats.h"
#include "report/export/frames.h"

struct writer {
	struct json_out *out;
	const struct export_frames *frames;
};

static void put_event(struct writer *writer, const char *type, uint32_t node, uint64_t at)
{
	struct json_out *out = writer->out;
	json_begin_object(out, NULL);
	json_put_text(out, "type", type);
	json_put_unsigned(out, "frame", writer->frames->of_node[node]);
	json_put_unsigned(out, "at", at);
	json_end_object(out);
}

static void enter(void *context, uint32_t node, uint32_t depth, uint64_t at)
{
	(void)depth;
	put_event(context, "O", node, at);
}

static void leave(void *context, uint32_t node, uint64_t at)
{
	put_event(context, "C", node, at);
}

static void write_frames(struct json_out *out, const struct export_tree *tree,
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
		if (path)
			json_put_text(out, "file", path);
		if (path && node->line)
			json_put_unsigned(out, "line", node->line);
		json_end_object(out);
	}
	json_end_array(out);
	json_end_object(out);
}

static void write_profile(struct json_out *out, const struct export_tree *tree,
			  const struct export_frames *frames, enum export_metric metric)
{
	struct writer writer = {.out = out, .frames = frames};
	struct export_visitor visitor = {enter, leave, &writer};
	bool is_time = export_is_time(metric);
	json_put_newline(out);
	json_begin_object(out, NULL);
	json_put_text(out, "type", "evented");
	json_put_text(out, "name", export_metric_name(metric));
	json_put_text(out, "unit", is_time ? "microseconds" : "bytes");
	json_put_unsigned(out, "startValue", 0);
	json_put_unsigned(out, "endValue", tree->below[0]);
	json_begin_array(out, "events");
	export_tree_walk(tree, &visitor);
	json_end_array(out);
	json_end_object(out);
}

/* The metrics that there are any figures of, the asked one first. */
static void write_profiles(struct json_out *out, const struct profile *profile,
			   const struct export_frames *frames, enum export_metric asked)
{
	json_begin_array(out, "profiles");
	for (int turn = 0; turn < EXPORT_METRIC_COUNT; turn++) {
		enum export_metric metric = (asked + (unsigned)turn) % EXPORT_METRIC_COUNT;
		struct export_tree tree;
		export_tree_init(&tree, profile, metric);
		if (metric == asked || tree.below[0])
			write_profile(out, &tree, frames, metric);
		export_tree_fini(&tree);
	}
	json_end_array(out);
}

void export_speedscope(FILE *out, const struct profile *profile, enum export_metric metric)
{
	struct export_tree tree;
	struct export_frames frames;
	struct json_out json;
	export_tree_init(&tree, profile, metric);
	export_frames_init(&frames, &tree, EXPORT_BY_LINE);
	json_out_init(&json, out);
	json_begin_object(&json, NULL);
	json_put_text(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_put_text(&json, "exporter", "heatline " HEATLINE_VERSION);
	json_put_text(&json, "name", profile->program ? profile->program : "");
	json_put_unsigned(&json, "activeProfileIndex", 0);
	write_frames(&json, &tree, &frames);
	write_profiles(&json, profile, &frames, metric);
	json_end_object(&json);
	fputc('\n', out);
	export_frames_fini(&frames);
	export_tree_fini(&tree);
}
