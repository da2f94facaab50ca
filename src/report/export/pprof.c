/* pprof.c - the format of Google's pprof: a gzipped protocol buffer.
 *
 * The message is profile.proto's Profile.  Its fields may come in any order, so
 * samples are written as they are met, and the tables that they filled (strings
 * last) after them.  Every metric is a sample type; the asked one is the default. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/vec.h"
#include "report/export/formats.h"
#include "report/export/frames.h"
#include "report/export/gzip_out.h"

/* Field numbers of profile.proto. */
enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION,
       PROFILE_FUNCTION, PROFILE_STRING, PROFILE_TIME_NS = 9, PROFILE_DURATION_NS,
       PROFILE_COMMENT = 13, PROFILE_DEFAULT_TYPE };
enum { TYPE_NAME = 1, TYPE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_HAS_FUNCTIONS = 7, MAPPING_HAS_FILES,
       MAPPING_HAS_LINES };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_NUMBER };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE,
       FUNCTION_START_LINE };

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

#define MAX_MESSAGE_BYTES (1u << 16) /* of one sample: its whole stack */
#define MAX_FRAMES 10000u

struct sample_type {
	const char *name, *unit;
	enum export_metric metric; /* it is the default type when this is asked for */
	uint64_t (*value)(const struct metrics *self);
};

static uint64_t value_samples(const struct metrics *self)
{
	return self->samples;
}

static uint64_t nanoseconds(double seconds)
{
	return seconds > 0 ? (uint64_t)llrint(fmin(seconds * 1e6, 2e15)) * 1000 : 0;
}

static uint64_t value_time(const struct metrics *self)
{
	return nanoseconds(self->python_s) + nanoseconds(self->native_s) +
	       nanoseconds(self->system_s) + nanoseconds(self->wait_s);
}

static uint64_t value_cpu(const struct metrics *self)
{
	return nanoseconds(self->cpu_s);
}

static uint64_t value_python(const struct metrics *self)
{
	return nanoseconds(self->python_s);
}

static uint64_t value_native(const struct metrics *self)
{
	return nanoseconds(self->native_s);
}

static uint64_t value_system(const struct metrics *self)
{
	return nanoseconds(self->system_s);
}

static uint64_t value_wait(const struct metrics *self)
{
	return nanoseconds(self->wait_s);
}

static uint64_t value_gil(const struct metrics *self)
{
	return nanoseconds(self->gil_s);
}

static uint64_t value_gc(const struct metrics *self)
{
	return nanoseconds(self->gc_s);
}

static uint64_t value_allocated(const struct metrics *self)
{
	return export_value(self, EXPORT_MEMORY);
}

static uint64_t value_kept(const struct metrics *self)
{
	return export_value(self, EXPORT_KEPT);
}

static uint64_t value_peak(const struct metrics *self)
{
	return export_value(self, EXPORT_PEAK);
}

static uint64_t value_copied(const struct metrics *self)
{
	return export_value(self, EXPORT_COPIED);
}

/* pprof's own names where it has them: its tools know what they mean. */
static const struct sample_type sample_types[] = {
	{"samples", "count", EXPORT_METRIC_COUNT, value_samples},
	{"time", "nanoseconds", EXPORT_TIME, value_time},
	{"cpu", "nanoseconds", EXPORT_CPU, value_cpu},
	{"python", "nanoseconds", EXPORT_METRIC_COUNT, value_python},
	{"native", "nanoseconds", EXPORT_METRIC_COUNT, value_native},
	{"system", "nanoseconds", EXPORT_METRIC_COUNT, value_system},
	{"waiting", "nanoseconds", EXPORT_METRIC_COUNT, value_wait},
	{"gil", "nanoseconds", EXPORT_METRIC_COUNT, value_gil},
	{"gc", "nanoseconds", EXPORT_METRIC_COUNT, value_gc},
	{"alloc_space", "bytes", EXPORT_MEMORY, value_allocated},
	{"inuse_space", "bytes", EXPORT_KEPT, value_kept},
	{"peak", "bytes", EXPORT_PEAK, value_peak},
	{"copied", "bytes", EXPORT_COPIED, value_copied},
};
#define TYPE_COUNT (sizeof(sample_types) / sizeof(sample_types[0]))
#define TIME_TYPE_COUNT 9u

struct writer {
	struct gzip_out *gzip;
	const struct export_tree *tree;
	struct map_bytes strings;
	VEC(const char *) string_list; /* borrowed, in the order of their numbers */
	struct buf message, part;
	size_t type_count;
};

/* ---- protocol buffers ---- */

static void put_varint(struct buf *buf, uint64_t value)
{
	while (value >= 0x80) {
		buf_char(buf, (char)(value | 0x80));
		value >>= 7;
	}
	buf_char(buf, (char)value);
}

static void put_number(struct buf *buf, unsigned field, uint64_t value)
{
	if (value == 0)
		return; /* the default, which is not written */
	put_varint(buf, field << 3 | WIRE_VARINT);
	put_varint(buf, value);
}

static void put_bytes(struct buf *buf, unsigned field, const char *bytes, size_t size)
{
	put_varint(buf, field << 3 | WIRE_BYTES);
	put_varint(buf, size);
	buf_append(buf, bytes, size);
}

/* A field of the outermost message. */
static void write_field(struct writer *writer, unsigned field, const char *bytes, size_t size)
{
	struct buf head;
	buf_init(&head, 32);
	put_varint(&head, field << 3 | WIRE_BYTES);
	put_varint(&head, size);
	gzip_out_put(writer->gzip, head.data, head.size);
	gzip_out_put(writer->gzip, bytes, size);
	buf_fini(&head);
}

static void write_message(struct writer *writer, unsigned field)
{
	if (!buf_is_cut(&writer->message))
		write_field(writer, field, writer->message.data, writer->message.size);
	buf_clear(&writer->message);
}

static uint64_t string_number(struct writer *writer, const char *text)
{
	bool is_new;
	uint32_t *at = map_bytes_put(&writer->strings, text, strlen(text), &is_new);
	if (is_new) {
		*at = writer->string_list.count;
		vec_push(&writer->string_list, text);
	}
	return *at;
}

/* ---- the profile ---- */

static void write_types(struct writer *writer)
{
	for (size_t i = 0; i < writer->type_count; i++) {
		const struct sample_type *type = &sample_types[i];
		put_number(&writer->message, TYPE_NAME, string_number(writer, type->name));
		put_number(&writer->message, TYPE_UNIT, string_number(writer, type->unit));
		write_message(writer, PROFILE_SAMPLE_TYPE);
	}
}

/* The whole stack, innermost frame first; locations are numbered from 1.  One that
 * is too deep for a message loses its outermost frames. */
static void write_sample(struct writer *writer, const struct export_frames *frames, uint32_t node)
{
	struct buf *part = &writer->part;
	uint64_t any = 0;
	uint32_t at = node;
	for (uint32_t i = 0; at && i < MAX_FRAMES; i++, at = writer->tree->nodes[at].parent)
		put_varint(part, (uint64_t)frames->of_node[at] + 1);
	put_bytes(&writer->message, SAMPLE_LOCATIONS, part->data, part->size);
	buf_clear(part);
	for (size_t i = 0; i < writer->type_count; i++) {
		uint64_t value = sample_types[i].value(&writer->tree->nodes[node].self);
		any |= value;
		put_varint(part, value);
	}
	put_bytes(&writer->message, SAMPLE_VALUES, part->data, part->size);
	buf_clear(part);
	if (any)
		write_message(writer, PROFILE_SAMPLE);
	buf_clear(&writer->message);
}

/* Says that everything has its name: pprof need not look for the program's symbols. */
static void write_mapping(struct writer *writer)
{
	const char *program = writer->tree->profile->program;
	put_number(&writer->message, MAPPING_ID, 1);
	put_number(&writer->message, MAPPING_FILE, string_number(writer, program ? program : ""));
	put_number(&writer->message, MAPPING_HAS_FUNCTIONS, 1);
	put_number(&writer->message, MAPPING_HAS_FILES, 1);
	put_number(&writer->message, MAPPING_HAS_LINES, 1);
	write_message(writer, PROFILE_MAPPING);
}

static void write_location(struct writer *writer, uint32_t id, uint32_t function, uint32_t line)
{
	put_number(&writer->part, LINE_FUNCTION, (uint64_t)function + 1);
	put_number(&writer->part, LINE_NUMBER, line);
	put_number(&writer->message, LOCATION_ID, (uint64_t)id + 1);
	put_number(&writer->message, LOCATION_MAPPING, 1);
	put_bytes(&writer->message, LOCATION_LINE, writer->part.data, writer->part.size);
	buf_clear(&writer->part);
	write_message(writer, PROFILE_LOCATION);
}

static void write_function(struct writer *writer, uint32_t id, const struct stack_node *node)
{
	const char *path = export_file(writer->tree->profile, node);
	uint64_t name = string_number(writer, export_function(node));
	put_number(&writer->message, FUNCTION_ID, (uint64_t)id + 1);
	put_number(&writer->message, FUNCTION_NAME, name);
	put_number(&writer->message, FUNCTION_SYSTEM_NAME, name);
	put_number(&writer->message, FUNCTION_FILE, string_number(writer, path ? path : ""));
	put_number(&writer->message, FUNCTION_START_LINE, node->first_line);
	write_message(writer, PROFILE_FUNCTION);
}

static void write_tables(struct writer *writer, const struct export_frames *frames)
{
	const struct export_tree *tree = writer->tree;
	struct export_frames functions;
	export_frames_init(&functions, tree, EXPORT_BY_FUNCTION);
	for (uint32_t i = 0; i < frames->count; i++) {
		uint32_t node = frames->nodes[i];
		write_location(writer, i, functions.of_node[node], tree->nodes[node].line);
	}
	for (uint32_t i = 0; i < functions.count; i++)
		write_function(writer, i, &tree->nodes[functions.nodes[i]]);
	export_frames_fini(&functions);
}

/* Strings are UTF-8 by contract; a name that is not is made so, and one that is too
 * long is cut: each must be there, or the numbers of those after it would shift. */
static void write_strings(struct writer *writer)
{
	for (uint32_t i = 0; i < writer->string_list.count; i++) {
		const char *text = writer->string_list.items[i];
		export_clean(&writer->message, text, strlen(text), 0);
		write_field(writer, PROFILE_STRING, writer->message.data, writer->message.size);
		buf_clear(&writer->message);
	}
}

static void write_facts(struct writer *writer, enum export_metric metric)
{
	const struct profile *profile = writer->tree->profile;
	struct buf *message = &writer->message;
	put_number(message, PROFILE_TIME_NS,
		   (uint64_t)llrint(fmin(profile->start_time_epoch_s, 9e9) * 1e9));
	put_number(message, PROFILE_DURATION_NS, nanoseconds(profile->elapsed_s));
	put_number(message, PROFILE_COMMENT, string_number(writer, "heatline " HEATLINE_VERSION));
	for (size_t i = 0; i < writer->type_count; i++) {
		if (sample_types[i].metric == metric)
			put_number(message, PROFILE_DEFAULT_TYPE,
				   string_number(writer, sample_types[i].name));
	}
	gzip_out_put(writer->gzip, message->data, message->size);
	buf_clear(message);
}

void export_pprof(FILE *out, const struct profile *profile, enum export_metric metric)
{
	struct export_tree tree;
	struct export_frames frames;
	struct writer writer = {.gzip = gzip_out_new(out), .tree = &tree};
	export_tree_init(&tree, profile, EXPORT_TIME);
	export_frames_init(&frames, &tree, EXPORT_BY_LINE);
	buf_init(&writer.message, MAX_MESSAGE_BYTES);
	buf_init(&writer.part, MAX_MESSAGE_BYTES);
	map_bytes_init(&writer.strings);
	writer.type_count = profile->has_memory ? TYPE_COUNT : TIME_TYPE_COUNT;
	string_number(&writer, ""); /* number 0 must be the empty one */
	write_types(&writer);
	for (uint32_t i = 1; i < tree.count; i++)
		write_sample(&writer, &frames, i);
	write_mapping(&writer);
	write_tables(&writer, &frames);
	write_facts(&writer, metric);
	write_strings(&writer);
	map_bytes_fini(&writer.strings);
	vec_free(&writer.string_list);
	buf_fini(&writer.message);
	buf_fini(&writer.part);
	export_frames_fini(&frames);
	export_tree_fini(&tree);
	gzip_out_end(writer.gzip);
}
