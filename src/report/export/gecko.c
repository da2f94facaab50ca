/* gecko.c - the processed profile format of the Firefox Profiler (version 55, which
 * its later versions read).
 *
 * Its stack table is our tree; its tables are written column by column.  Samples are
 * weighed.  Time is laid out as the profile's timeline has it, in its bins; other
 * metrics, and profiles without a timeline, one sample a node, side by side: their
 * weights are true, their order is not that of the run. */
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "report/export/formats.h"
#include "report/export/frames.h"

#define PROCESSED_VERSION 55
#define GECKO_VERSION 29

enum category { CATEGORY_OTHER, CATEGORY_PROGRAM, CATEGORY_LIBRARY, CATEGORY_NATIVE };

struct sample {
	uint32_t node;
	double time_ms;
	uint64_t value;
};

struct writer {
	struct json_out out;
	const struct export_tree *tree;
	struct export_frames frames, functions;
	struct map_bytes strings;
	VEC(const char *) string_list; /* borrowed, in the order of their numbers */
	VEC(struct sample) samples;
	char pid[16];
	bool is_time;
};

/* The value of row i of a column. */
typedef void put_cell(struct writer *writer, uint32_t i);

static void column(struct writer *writer, const char *name, uint32_t count, put_cell *put)
{
	json_begin_array(&writer->out, name);
	for (uint32_t i = 0; i < count; i++)
		put(writer, i);
	json_end_array(&writer->out);
}

static uint32_t string_number(struct writer *writer, const char *text)
{
	bool is_new;
	uint32_t *at = map_bytes_put(&writer->strings, text, strlen(text), &is_new);
	if (is_new) {
		*at = writer->string_list.count;
		vec_push(&writer->string_list, text);
	}
	return *at;
}

static const struct stack_node *frame_node(const struct writer *writer, uint32_t frame)
{
	return &writer->tree->nodes[writer->frames.nodes[frame]];
}

static const struct stack_node *function_node(const struct writer *writer, uint32_t function)
{
	return &writer->tree->nodes[writer->functions.nodes[function]];
}

static void put_zero(struct writer *writer, uint32_t i)
{
	(void)i;
	json_put_unsigned(&writer->out, NULL, 0);
}

static void put_none(struct writer *writer, uint32_t i)
{
	(void)i;
	json_put_null(&writer->out, NULL);
}

static void put_minus_one(struct writer *writer, uint32_t i)
{
	(void)i;
	json_put_integer(&writer->out, NULL, -1);
}

static void put_false(struct writer *writer, uint32_t i)
{
	(void)i;
	json_put_bool(&writer->out, NULL, false);
}

/* ---- stacks: node i + 1, as the root is none ---- */

static void put_stack_frame(struct writer *writer, uint32_t i)
{
	json_put_unsigned(&writer->out, NULL, writer->frames.of_node[i + 1]);
}

static void put_stack_prefix(struct writer *writer, uint32_t i)
{
	uint32_t parent = writer->tree->nodes[i + 1].parent;
	if (parent)
		json_put_unsigned(&writer->out, NULL, parent - 1);
	else
		json_put_null(&writer->out, NULL);
}

static void write_stacks(struct writer *writer)
{
	uint32_t count = writer->tree->count - 1;
	json_put_newline(&writer->out);
	json_begin_object(&writer->out, "stackTable");
	column(writer, "frame", count, put_stack_frame);
	column(writer, "prefix", count, put_stack_prefix);
	json_put_unsigned(&writer->out, "length", count);
	json_end_object(&writer->out);
}

/* ---- frames ---- */

static void put_frame_category(struct writer *writer, uint32_t i)
{
	const struct stack_node *node = frame_node(writer, i);
	const struct profile *profile = writer->tree->profile;
	enum category category = CATEGORY_NATIVE;
	if (node->file < profile->file_count)
		category = profile->files[node->file].in_scope ? CATEGORY_PROGRAM :
								 CATEGORY_LIBRARY;
	json_put_unsigned(&writer->out, NULL, category);
}

static void put_frame_function(struct writer *writer, uint32_t i)
{
	json_put_unsigned(&writer->out, NULL, writer->functions.of_node[writer->frames.nodes[i]]);
}

static void put_line(struct writer *writer, uint32_t line)
{
	if (line)
		json_put_unsigned(&writer->out, NULL, line);
	else
		json_put_null(&writer->out, NULL);
}

static void put_frame_line(struct writer *writer, uint32_t i)
{
	put_line(writer, frame_node(writer, i)->line);
}

static void write_frames(struct writer *writer)
{
	uint32_t count = writer->frames.count;
	json_put_newline(&writer->out);
	json_begin_object(&writer->out, "frameTable");
	column(writer, "address", count, put_minus_one);
	column(writer, "inlineDepth", count, put_zero);
	column(writer, "category", count, put_frame_category);
	column(writer, "subcategory", count, put_zero);
	column(writer, "func", count, put_frame_function);
	column(writer, "nativeSymbol", count, put_none);
	column(writer, "innerWindowID", count, put_zero);
	column(writer, "line", count, put_frame_line);
	column(writer, "column", count, put_none);
	json_put_unsigned(&writer->out, "length", count);
	json_end_object(&writer->out);
}

/* ---- functions ---- */

static void put_function_name(struct writer *writer, uint32_t i)
{
	const char *name = export_function(function_node(writer, i));
	json_put_unsigned(&writer->out, NULL, string_number(writer, name));
}

static void put_function_file(struct writer *writer, uint32_t i)
{
	const char *path = export_file(writer->tree->profile, function_node(writer, i));
	if (path)
		json_put_unsigned(&writer->out, NULL, string_number(writer, path));
	else
		json_put_null(&writer->out, NULL);
}

static void put_function_line(struct writer *writer, uint32_t i)
{
	put_line(writer, function_node(writer, i)->first_line);
}

static void write_functions(struct writer *writer)
{
	uint32_t count = writer->functions.count;
	json_put_newline(&writer->out);
	json_begin_object(&writer->out, "funcTable");
	column(writer, "name", count, put_function_name);
	column(writer, "isJS", count, put_false);
	column(writer, "relevantForJS", count, put_false);
	column(writer, "resource", count, put_minus_one);
	column(writer, "fileName", count, put_function_file);
	column(writer, "lineNumber", count, put_function_line);
	column(writer, "columnNumber", count, put_none);
	json_put_unsigned(&writer->out, "length", count);
	json_end_object(&writer->out);
}

/* ---- samples ---- */

/* The nodes that have any of the metric, side by side. */
static void lay_side_by_side(struct writer *writer)
{
	uint64_t at = 0;
	for (uint32_t i = 1; i < writer->tree->count; i++) {
		uint64_t value = writer->tree->values[i];
		if (value)
			vec_push(&writer->samples, (struct sample){i, (double)at / 1e3, value});
		at = export_add(at, value);
	}
}

/* The root's time is the last node's, which the tree was given for it. */
static uint32_t tree_node(const struct writer *writer, uint32_t node)
{
	return node ? node : writer->tree->count - 1;
}

static int compare_bins(const void *a, const void *b)
{
	const struct stack_part *left = a, *right = b;
	if (left->part != right->part)
		return left->part < right->part ? -1 : 1;
	return (left->node > right->node) - (left->node < right->node);
}

/* Bin by bin, those of a bin evenly over it. */
static void lay_over_time(struct writer *writer)
{
	const struct profile_timeline *timeline = &writer->tree->profile->timeline;
	uint32_t count = timeline->stack_count;
	struct stack_part *parts = mem_alloc(count * sizeof(*parts));
	memcpy(parts, timeline->stacks, count * sizeof(*parts));
	qsort(parts, count, sizeof(*parts), compare_bins);
	for (uint32_t i = 0, first = 0, end = 0; i < count; i++) {
		if (i == end) {
			first = i;
			while (end < count && parts[end].part == parts[i].part)
				end++;
		}
		double share = (double)(i - first) / (end - first);
		vec_push(&writer->samples,
			 (struct sample){tree_node(writer, parts[i].node),
					 (parts[i].part + share) * timeline->bin_s * 1e3,
					 parts[i].us});
	}
	free(parts);
}

enum sample_column { SAMPLE_STACK, SAMPLE_TIME, SAMPLE_WEIGHT };

static void sample_column(struct writer *writer, const char *name, enum sample_column which)
{
	struct json_out *out = &writer->out;
	json_begin_array(out, name);
	for (uint32_t i = 0; i < writer->samples.count; i++) {
		const struct sample *sample = &writer->samples.items[i];
		if (which == SAMPLE_STACK)
			json_put_unsigned(out, NULL, sample->node - 1);
		else if (which == SAMPLE_TIME)
			json_put_number(out, NULL, sample->time_ms, 3);
		else if (writer->is_time)
			json_put_number(out, NULL, (double)sample->value / 1e3, 3);
		else
			json_put_unsigned(out, NULL, sample->value);
	}
	json_end_array(out);
}

static void write_samples(struct writer *writer, enum export_metric metric)
{
	const struct profile_timeline *timeline = &writer->tree->profile->timeline;
	if (metric == EXPORT_TIME && timeline->stack_count && !writer->tree->is_flat)
		lay_over_time(writer);
	else
		lay_side_by_side(writer);
	json_put_newline(&writer->out);
	json_begin_object(&writer->out, "samples");
	sample_column(writer, "stack", SAMPLE_STACK);
	sample_column(writer, "time", SAMPLE_TIME);
	sample_column(writer, "weight", SAMPLE_WEIGHT);
	json_put_text(&writer->out, "weightType", writer->is_time ? "tracing-ms" : "bytes");
	json_put_unsigned(&writer->out, "length", writer->samples.count);
	json_end_object(&writer->out);
}

/* ---- memory over time ---- */

static void put_memory_time(struct writer *writer, uint32_t i)
{
	json_put_number(&writer->out, NULL, writer->tree->profile->footprint[i].time_s * 1e3, 3);
}

/* Counters count what was added. */
static void put_memory_change(struct writer *writer, uint32_t i)
{
	const struct memory_point *points = writer->tree->profile->footprint;
	double before = i ? points[i - 1].live_bytes : 0;
	json_put_number(&writer->out, NULL, points[i].live_bytes - before, 0);
}

static void write_counters(struct writer *writer)
{
	struct json_out *out = &writer->out;
	uint32_t count = writer->tree->profile->footprint_count;
	json_begin_array(out, "counters");
	if (count) {
		json_begin_object(out, NULL);
		json_put_text(out, "name", "malloc");
		json_put_text(out, "category", "Memory");
		json_put_text(out, "description", "live memory");
		json_put_text(out, "pid", writer->pid);
		json_put_unsigned(out, "mainThreadIndex", 0);
		json_begin_object(out, "samples");
		column(writer, "time", count, put_memory_time);
		column(writer, "count", count, put_memory_change);
		json_put_unsigned(out, "length", count);
		json_end_object(out);
		json_end_object(out);
	}
	json_end_array(out);
}

/* ---- the rest ---- */

/* A table of these columns without a row. */
static void write_empty(struct writer *writer, const char *name, const char *const *columns)
{
	json_begin_object(&writer->out, name);
	for (; *columns; columns++)
		column(writer, *columns, 0, put_none);
	json_put_unsigned(&writer->out, "length", 0);
	json_end_object(&writer->out);
}

static void write_empty_tables(struct writer *writer)
{
	static const char *const resources[] = {"lib", "name", "host", "type", NULL};
	static const char *const symbols[] = {"libIndex", "address", "name", "functionSize", NULL};
	static const char *const markers[] = {"data", "name", "startTime", "endTime", "phase",
					      "category", NULL};
	json_put_newline(&writer->out);
	write_empty(writer, "resourceTable", resources);
	write_empty(writer, "nativeSymbols", symbols);
	write_empty(writer, "markers", markers);
}

static void write_strings(struct writer *writer)
{
	json_put_newline(&writer->out);
	json_begin_array(&writer->out, "stringArray");
	for (uint32_t i = 0; i < writer->string_list.count; i++)
		json_put_text(&writer->out, NULL, writer->string_list.items[i]);
	json_end_array(&writer->out);
}

static void write_thread(struct writer *writer, enum export_metric metric)
{
	struct json_out *out = &writer->out;
	const struct profile *profile = writer->tree->profile;
	json_put_newline(out);
	json_begin_object(out, NULL);
	json_put_text(out, "name", export_metric_name(metric));
	json_put_text(out, "processType", "default");
	json_put_text(out, "processName", profile->program ? profile->program : "");
	json_put_bool(out, "isMainThread", true);
	json_put_text(out, "pid", writer->pid);
	json_put_text(out, "tid", writer->pid);
	json_put_unsigned(out, "processStartupTime", 0);
	json_put_null(out, "processShutdownTime");
	json_put_unsigned(out, "registerTime", 0);
	json_put_null(out, "unregisterTime");
	column(writer, "pausedRanges", 0, put_none);
	write_samples(writer, metric);
	write_stacks(writer);
	write_frames(writer);
	write_functions(writer);
	write_empty_tables(writer);
	write_strings(writer); /* last: the tables above fill it */
	json_end_object(out);
}

static void write_categories(struct json_out *out)
{
	static const char *const categories[][2] = {
		[CATEGORY_OTHER] = {"Other", "grey"},
		[CATEGORY_PROGRAM] = {"Program", "orange"},
		[CATEGORY_LIBRARY] = {"Library", "blue"},
		[CATEGORY_NATIVE] = {"Native", "green"},
	};
	json_begin_array(out, "categories");
	for (size_t i = 0; i < sizeof(categories) / sizeof(categories[0]); i++) {
		json_begin_object(out, NULL);
		json_put_text(out, "name", categories[i][0]);
		json_put_text(out, "color", categories[i][1]);
		json_begin_array(out, "subcategories");
		json_put_text(out, NULL, "Other");
		json_end_array(out);
		json_end_object(out);
	}
	json_end_array(out);
}

static void write_meta(struct writer *writer)
{
	struct json_out *out = &writer->out;
	const struct profile *profile = writer->tree->profile;
	json_begin_object(out, "meta");
	json_put_number(out, "interval", 1, 0);
	json_put_number(out, "startTime", profile->start_time_epoch_s * 1e3, 3);
	json_put_unsigned(out, "processType", 0);
	json_put_text(out, "product", profile->program ? profile->program : "Python");
	json_put_text(out, "importedFrom", "heatline " HEATLINE_VERSION);
	json_put_unsigned(out, "stackwalk", 1);
	json_put_unsigned(out, "version", GECKO_VERSION);
	json_put_unsigned(out, "preprocessedProfileVersion", PROCESSED_VERSION);
	json_put_bool(out, "symbolicated", true);
	column(writer, "markerSchema", 0, put_none);
	write_categories(out);
	json_end_object(out);
}

void export_gecko(FILE *out, const struct profile *profile, enum export_metric metric)
{
	struct export_tree tree;
	struct writer writer = {.tree = &tree};
	writer.is_time = export_is_time(metric);
	snprintf(writer.pid, sizeof(writer.pid), "%d",
		 profile->process_count ? profile->processes[0].pid : 1);
	export_tree_init(&tree, profile, metric);
	export_frames_init(&writer.frames, &tree, EXPORT_BY_LINE);
	export_frames_init(&writer.functions, &tree, EXPORT_BY_FUNCTION);
	json_out_init(&writer.out, out);
	json_begin_object(&writer.out, NULL);
	write_meta(&writer);
	column(&writer, "libs", 0, put_none);
	column(&writer, "pages", 0, put_none);
	json_begin_array(&writer.out, "threads");
	write_thread(&writer, metric);
	json_end_array(&writer.out);
	write_counters(&writer);
	json_end_object(&writer.out);
	fputc('\n', out);
	map_bytes_fini(&writer.strings);
	vec_free(&writer.string_list);
	vec_free(&writer.samples);
	export_frames_fini(&writer.frames);
	export_frames_fini(&writer.functions);
	export_tree_fini(&tree);
}
