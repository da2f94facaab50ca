/* read_parts.h - what the parts of the reader share; inner header.
 *
 * The first thing found wrong is kept; from then on every getter returns
 * nothing, so that callers may go on to the end of what they were doing and
 * look at has_failed there. */
#ifndef HEATLINE_PROFILE_READ_PARTS_H
#define HEATLINE_PROFILE_READ_PARTS_H

#include <jansson.h>

#include "base/err.h"
#include "profile/model.h"

#define READ_MAX_LINE 100000000u /* line numbers beyond are nonsense */

struct profile_reader {
	struct profile *profile;
	const char *name; /* of the file, for messages */
	struct err *err;  /* may be NULL */
	bool is_scalene;  /* Scalene wrote it, not Heatline */
	bool has_failed;
};

/* Keeps the sentence "'name' cannot be read as a profile: <what>". */
void reader_fail(struct profile_reader *reader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Members of an object.  Missing or null: 0, false or NULL.  Of another
 * type, not finite or out of range: a failure.  Text is interned. */
double reader_number(struct profile_reader *reader, const json_t *object, const char *key);

/* Bytes that the file has as MB, without what that rounds off. */
double reader_mb(struct profile_reader *reader, const json_t *object, const char *key);
uint64_t reader_unsigned(struct profile_reader *reader, const json_t *object, const char *key,
			 uint64_t maximum);
int32_t reader_pid(struct profile_reader *reader, const json_t *object, const char *key);
bool reader_bool(struct profile_reader *reader, const json_t *object, const char *key);
const char *reader_text(struct profile_reader *reader, const json_t *object, const char *key);
json_t *reader_array(struct profile_reader *reader, const json_t *object, const char *key);
json_t *reader_object(struct profile_reader *reader, const json_t *object, const char *key);

/* An item of an array; missing counts as 0. */
double reader_item_number(struct profile_reader *reader, const json_t *array, size_t index,
			  const char *what);
int64_t reader_item_integer(struct profile_reader *reader, const json_t *array, size_t index,
			    int64_t minimum, int64_t maximum, const char *what);

/* The keys that write_seconds writes. */
void reader_seconds(struct profile_reader *reader, const json_t *object, struct metrics *metrics);

/* "waits_for", after the seconds. */
void reader_waits_for(struct profile_reader *reader, const json_t *object,
		      struct metrics *metrics);

/* An array of texts; *count items, of which the caller frees the array. */
const char **reader_texts(struct profile_reader *reader, const json_t *object, const char *key,
			  uint32_t *count);

void read_files(struct profile_reader *reader, const json_t *files);
void read_stack_tree(struct profile_reader *reader, const json_t *stacks);

/* After the tree, the threads: which threads the nodes are of; the timeline. */
void read_thread_stacks(struct profile_reader *reader, const json_t *stacks);
void read_timeline(struct profile_reader *reader, const json_t *heatline);

/* "advice" of the "heatline" object. */
void read_advice(struct profile_reader *reader, const json_t *heatline);

void read_scalene_stacks(struct profile_reader *reader, const json_t *stacks);
void read_scalene_memory_stacks(struct profile_reader *reader, const json_t *stacks);

/* The memory figures of a line or function. */
void read_own_memory(struct profile_reader *reader, const json_t *record, struct metrics *self,
		     struct memory *memory);
void read_scalene_memory(struct profile_reader *reader, const json_t *record, struct metrics *self,
			 struct memory *memory);

/* GPU work: of a line or function; of the whole program, where heatline is NULL
 * for Scalene's profiles. */
void read_gpu_figures(struct profile_reader *reader, const json_t *record, struct metrics *self,
		      struct gpu_figures *figures);
void read_scalene_gpu(struct profile_reader *reader, const json_t *record, struct metrics *self,
		      struct gpu_figures *figures);
void read_gpu(struct profile_reader *reader, const json_t *root, const json_t *heatline);

/* Waiting of tasks: of a line or function, which then owns names; of the whole
 * program, where heatline is NULL for Scalene's profiles. */
void read_async_figures(struct profile_reader *reader, const json_t *record,
			struct async_figures *figures);
void read_async(struct profile_reader *reader, const json_t *root, const json_t *heatline);

/* A line's memory over time; the leaks of a file whose lines are sorted. */
void read_line_points(struct profile_reader *reader, const json_t *record,
		      struct profile_line *line);
void read_leaks(struct profile_reader *reader, const json_t *record, struct profile_file *file);

/* The memory of the whole program; heatline is NULL for Scalene's profiles. */
void read_memory(struct profile_reader *reader, const json_t *root, const json_t *heatline);

#endif
